# What headers alone would have every program compile again: bodies of ops, and the library's models. src/ holds the files.
#
#   attn::ops            bodies of ops on the CPU, in float and double
#   attn::compiled       those, and the models that open_translator and the registry know
#   attn::ops_cuda, attn::compiled_cuda   the same with a GPU

set(attn_src ${CMAKE_CURRENT_LIST_DIR}/../src)
add_library(attn_ops STATIC ${attn_src}/cpu_ops_float.cpp ${attn_src}/cpu_ops_double.cpp)
add_library(attn::ops ALIAS attn_ops)
target_link_libraries(attn_ops PUBLIC attn)
target_compile_definitions(attn_ops INTERFACE ATTN_OPS_ELSEWHERE)
set_target_properties(attn_ops PROPERTIES EXPORT_NAME ops)

set(attn_cpu_models ${attn_src}/cpu_transformers.cpp ${attn_src}/cpu_linformers.cpp ${attn_src}/cpu_marians.cpp
  ${attn_src}/open_translator.cpp)
add_library(attn_compiled STATIC ${attn_src}/models.cpp ${attn_cpu_models})
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

  add_library(attn_compiled_cuda STATIC ${attn_src}/models.cpp ${attn_cpu_models} ${attn_src}/cuda_transformers.cu
    ${attn_src}/cuda_linformers.cu ${attn_src}/cuda_marians.cu ${attn_src}/cuda_support.cu)
  add_library(attn::compiled_cuda ALIAS attn_compiled_cuda)
  target_link_libraries(attn_compiled_cuda PUBLIC attn_ops attn_ops_cuda)
  target_compile_definitions(attn_compiled_cuda PUBLIC ATTN_COMPILED ATTN_CUDA)
  set_target_properties(attn_compiled_cuda PROPERTIES EXPORT_NAME compiled_cuda)
  list(APPEND attn_compiled_targets attn_ops_cuda attn_compiled_cuda)
endif()

# Where nobody links them nobody waits for them, unless they are to be installed.
if(NOT ATTN_COMPILED)
  set_target_properties(${attn_compiled_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(ATTN_NATIVE)
  foreach(target IN LISTS attn_compiled_targets)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:attn_native_flags>)
  endforeach()
endif()
