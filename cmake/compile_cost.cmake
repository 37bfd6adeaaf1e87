# Finds Python for the scripts of the build. With ATTN_COMPILE_COST, records the cost of each compilation. Include before any target.

# Python3_EXECUTABLE may be a script that searches for Python. A compiler launcher should not repeat this search for every file.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE attn_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(attn_compile_cost ${attn_python} -ISE ${PROJECT_SOURCE_DIR}/scripts/compile_cost.py)
if(ATTN_COMPILE_COST)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${attn_compile_cost} record ${PROJECT_BINARY_DIR}/compile_cost.tsv)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
