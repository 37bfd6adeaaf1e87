# What attn's own programs share: warnings, the processor's instructions, the record of compile costs. Consumers never see it.

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(attn_warnings INTERFACE)
set(attn_warning_flags "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes harmless uses of std::string's operator+ and assignment for overlapping copies; 13 knows better.
  list(APPEND attn_warning_flags $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Its AVX-512 intrinsics begin with variables that are set to themselves, and it warns of them wherever they are inlined.
    list(APPEND attn_warning_flags $<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized$<SEMICOLON>-Wno-maybe-uninitialized>)
  endif()
endif()
target_compile_options(attn_warnings INTERFACE "${attn_warning_flags}")

# attn's own programs are for this machine's processor when asked to be; attn::native is what others take.
add_library(attn_native INTERFACE)
if(ATTN_NATIVE)
  target_link_libraries(attn_native INTERFACE attn::native)
endif()

# What Python3_EXECUTABLE names may be a script that looks for Python; a compiler launcher should not pay for that at every file.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE attn_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(attn_compile_cost ${attn_python} -ISE ${PROJECT_SOURCE_DIR}/scripts/compile_cost.py)
if(ATTN_COMPILE_COST)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${attn_compile_cost} record ${PROJECT_BINARY_DIR}/compile_cost.tsv)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_custom_target(cuda_code)      # programs that take all .cu files between them
add_custom_target(cuda_programs)  # every program that can use a GPU

# attn_program(name sources...): an executable on attn::attn; when a source is a .cu file on attn::cuda too, with ATTN_CUDA defined.
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

# attn_sources(variable folder): the folder's .cpp files and, with ATTN_CUDA, its .cu files.
function(attn_sources variable folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(ATTN_CUDA)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${folder}/*.cu)
  endif()
  set(${variable} ${sources} ${cuda_sources} PARENT_SCOPE)
endfunction()

# The compiled library is held to the same warnings; not by linking attn_warnings, which would have to be installed with it.
foreach(target IN LISTS attn_compiled_targets)
  target_compile_options(${target} PRIVATE "${attn_warning_flags}")
endforeach()
# Tests that run on the ops wait for them: they are optimised where a preset has the rest compiled quickly, too.
target_compile_options(attn_ops PRIVATE $<$<CONFIG:Release>:-O3>)
