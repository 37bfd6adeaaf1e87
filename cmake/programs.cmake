# Settings of the programs in this repository: warnings, processor, compile costs. Projects that use attn do not get them.

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(attn_warnings INTERFACE)
set(attn_warning_flags "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports harmless uses of std::string's operator+ and assignment as overlapping copies. GCC 13 does not.
  list(APPEND attn_warning_flags $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # GCC 12's AVX-512 intrinsics initialise variables with themselves, which triggers warnings wherever they are inlined.
    list(APPEND attn_warning_flags $<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized$<SEMICOLON>-Wno-maybe-uninitialized>)
  endif()
endif()
target_compile_options(attn_warnings INTERFACE "${attn_warning_flags}")

# With ATTN_NATIVE, the programs of this repository are compiled for this processor. Other projects link attn::native.
add_library(attn_native INTERFACE)
if(ATTN_NATIVE)
  target_link_libraries(attn_native INTERFACE attn::native)
endif()

# The library of compiled models for programs that offer both devices.
set(attn_compiled_library attn::compiled)
if(ATTN_CUDA)
  set(attn_compiled_library attn::compiled_cuda)
endif()

add_custom_target(cuda_code)      # programs that together compile all .cu files
add_custom_target(cuda_programs)  # every program that can use a GPU

# attn_program(name sources...): an executable that links attn::attn. With a .cu file among its sources, it also links attn::cuda and
# defines ATTN_CUDA.
function(attn_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE attn::ops attn_warnings attn_native)
  if("${ARGN}" MATCHES "\\.cu(;|$)")
    target_link_libraries(${name} PRIVATE attn::ops_cuda)
    target_compile_definitions(${name} PRIVATE ATTN_CUDA)
    add_dependencies(cuda_code ${name})
    add_dependencies(cuda_programs ${name})
  endif()
endfunction()

# attn_program_test(label name arguments...): runs tests/programs/name.py as the test labels/name.
function(attn_program_test label name)
  add_test(NAME ${label}s/${name} COMMAND ${attn_python} ${PROJECT_SOURCE_DIR}/tests/programs/${name}.py ${ARGN})
  set_tests_properties(${label}s/${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()

# attn_sources(variable folder): the folder's .cpp files and, with ATTN_CUDA, its .cu files.
function(attn_sources variable folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(ATTN_CUDA)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${folder}/*.cu)
  endif()
  set(${variable} ${sources} ${cuda_sources} PARENT_SCOPE)
endfunction()

# The compiled libraries use the same warnings. They do not link attn_warnings, which would then have to be installed too.
foreach(target IN ITEMS attn_cpu_models ${attn_compiled_targets})
  target_compile_options(${target} PRIVATE "${attn_warning_flags}")
endforeach()
# Ops are optimised even if a preset compiles the rest without optimisation, because tests spend most of their time in them.
target_compile_options(attn_ops PRIVATE $<$<CONFIG:Release>:-O3>)
