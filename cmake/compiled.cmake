# Prebuilt libraries of ops and models, so that programs do not compile them. The sources are in src/.
#
#   attn::ops            ops on the CPU, in float and double
#   attn::compiled       ops, and the models of open_translator and the registry
#   attn::ops_cuda, attn::compiled_cuda   the same with a GPU

set(attn_src ${CMAKE_CURRENT_LIST_DIR}/../src)
add_library(attn_ops STATIC ${attn_src}/cpu_ops_float.cpp ${attn_src}/cpu_ops_double.cpp)
add_library(attn::ops ALIAS attn_ops)
target_link_libraries(attn_ops PUBLIC attn)
target_compile_definitions(attn_ops INTERFACE ATTN_OPS_ELSEWHERE)
set_target_properties(attn_ops PROPERTIES EXPORT_NAME ops)

add_library(attn_cpu_models OBJECT ${attn_src}/cpu_models.cpp ${attn_src}/open_translator.cpp)
target_link_libraries(attn_cpu_models PRIVATE attn)
target_compile_definitions(attn_cpu_models PRIVATE ATTN_COMPILED ATTN_OPS_ELSEWHERE)
add_library(attn_compiled STATIC ${attn_src}/models.cpp $<TARGET_OBJECTS:attn_cpu_models>)
add_library(attn::compiled ALIAS attn_compiled)
target_link_libraries(attn_compiled PUBLIC attn_ops)
target_compile_definitions(attn_compiled PUBLIC ATTN_COMPILED)
set_target_properties(attn_compiled PROPERTIES EXPORT_NAME compiled)

set(attn_compiled_targets attn_ops attn_compiled)
if(ATTN_CUDA)
  add_library(attn_ops_cuda STATIC ${attn_src}/cuda_ops_float.cu ${attn_src}/cuda_ops_bfloat16.cu)
  add_library(attn::ops_cuda ALIAS attn_ops_cuda)
  target_link_libraries(attn_ops_cuda PUBLIC attn_cuda)
  target_compile_definitions(attn_ops_cuda INTERFACE ATTN_OPS_ELSEWHERE)
  set_target_properties(attn_ops_cuda PROPERTIES EXPORT_NAME ops_cuda)

  add_library(attn_compiled_cuda STATIC ${attn_src}/models.cpp $<TARGET_OBJECTS:attn_cpu_models>
    ${attn_src}/cuda_models_float.cpp ${attn_src}/cuda_models_bfloat16.cpp)
  add_library(attn::compiled_cuda ALIAS attn_compiled_cuda)
  target_link_libraries(attn_compiled_cuda PUBLIC attn_ops attn_ops_cuda)
  target_compile_definitions(attn_compiled_cuda PUBLIC ATTN_COMPILED ATTN_CUDA)
  set_target_properties(attn_compiled_cuda PROPERTIES EXPORT_NAME compiled_cuda)
  list(APPEND attn_compiled_targets attn_ops_cuda attn_compiled_cuda)
endif()

# The files of the models call ops, which are compiled elsewhere. More optimisation takes longer and makes no step faster.
set_source_files_properties(${attn_src}/cpu_models.cpp ${attn_src}/cuda_models_float.cpp ${attn_src}/cuda_models_bfloat16.cpp
  PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)

# Only built if a target links them, or for installation.
if(NOT ATTN_COMPILED)
  set_target_properties(attn_cpu_models ${attn_compiled_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# All parts of a program must be compiled for the same processor. Programs get attn::native with an installation that has it. Otherwise
# linking both is an error of CMake that names ATTN_NATIVE.
if(ATTN_NATIVE)
  foreach(target IN ITEMS attn_cpu_models ${attn_compiled_targets})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:attn_native_flags>)
  endforeach()
  target_link_libraries(attn_ops INTERFACE $<INSTALL_INTERFACE:attn::native>)
else()
  set_target_properties(attn_ops PROPERTIES INTERFACE_ATTN_NATIVE OFF COMPATIBLE_INTERFACE_BOOL ATTN_NATIVE)
endif()
