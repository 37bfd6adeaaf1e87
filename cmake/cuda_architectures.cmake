# Sets CMAKE_CUDA_ARCHITECTURES if it is not defined: to the GPUs of this machine, or, without a GPU, to one entry for each
# supported generation that nvcc knows. Include this before enable_language(CUDA).
#
#   compute capability   architecture
#   8.0                  80    A100
#   8.6, 8.9             86, 89   RTX 3090, RTX 4090, L40
#   9.0                  90a   H100, H200: the suffix enables wgmma
#   10.0, 12.0           100, 120   B200, RTX 5090
#
# The first entry also embeds PTX, which the driver compiles for GPUs between the listed ones. So does the last, for later
# GPUs.

if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
  return()
endif()

set(attn_architectures)
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  OUTPUT_VARIABLE attn_capabilities RESULT_VARIABLE attn_status ERROR_QUIET)
if(attn_status EQUAL 0)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" attn_capabilities "${attn_capabilities}")
  foreach(capability IN LISTS attn_capabilities)
    if(capability VERSION_GREATER_EQUAL 8.0)
      string(REPLACE "." "" architecture ${capability})
      string(REGEX REPLACE "^90$" "90a" architecture ${architecture})
      list(APPEND attn_architectures ${architecture})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES attn_architectures)
endif()

if(NOT attn_architectures)
  set(attn_architectures 80 86-real 89-real 90a-real 100-real 120)
  find_program(attn_nvcc NAMES ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} nvcc
    HINTS $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin /usr/local/cuda/bin NO_CACHE)
  if(attn_nvcc)
    execute_process(COMMAND ${attn_nvcc} --list-gpu-arch OUTPUT_VARIABLE attn_known ERROR_QUIET)
    foreach(architecture 86 89 90 100 120)
      if(NOT attn_known MATCHES "compute_${architecture}\n")
        list(FILTER attn_architectures EXCLUDE REGEX "^${architecture}a?(-real)?$")
      endif()
    endforeach()
  endif()
endif()

set(CMAKE_CUDA_ARCHITECTURES ${attn_architectures} CACHE STRING "GPU architectures to compile for: see cmake/cuda_architectures.cmake")
list(JOIN attn_architectures ", " attn_architectures)
message(STATUS "GPU architectures: ${attn_architectures} (set CMAKE_CUDA_ARCHITECTURES to change them)")
