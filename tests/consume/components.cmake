# What find_package says of components, in a package of attn's headers alone.

set(configure ${CMAKE_COMMAND} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler})
set(prefix ${folder}/prefix)
execute_process(COMMAND ${configure} -S ${attn} -B ${folder}/attn -D ATTN_COMPILED=OFF
  -D ATTN_BUILD_TESTS=OFF -D ATTN_BUILD_EXAMPLES=OFF -D ATTN_BUILD_BENCHMARKS=OFF OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder}/attn --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# check(what status words...): a project that asks for these components is configured, or refused in these words.
function(check what status)
  file(WRITE ${folder}/consumer/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(attn REQUIRED ${what})
if(attn_compiled_FOUND)
  message(FATAL_ERROR \"attn_compiled_FOUND is set\")
endif()
")
  execute_process(COMMAND ${configure} -S ${folder}/consumer -B ${folder}/consumer/build -D CMAKE_PREFIX_PATH=${prefix}
    RESULT_VARIABLE result OUTPUT_VARIABLE message ERROR_VARIABLE message)
  string(REGEX REPLACE "[ \n]+" " " said "${message}")  # CMake breaks lines as it likes
  if(status STREQUAL found AND NOT result EQUAL 0 OR status STREQUAL refused AND result EQUAL 0)
    message(FATAL_ERROR "find_package(attn REQUIRED ${what}) is not ${status}:\n${message}")
  endif()
  foreach(words IN LISTS ARGN)
    string(FIND "${said}" "${words}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "find_package(attn REQUIRED ${what}) does not say: ${words}\nIt says:\n${message}")
    endif()
  endforeach()
endfunction()

check("" found)
check("OPTIONAL_COMPONENTS compiled compiled_cuda foo" found)
check("COMPONENTS foo" refused "attn has no component 'foo'; it has cuda, mpi, nccl, ops, compiled, ops_cuda, compiled_cuda")
check("COMPONENTS compiled" refused "attn::compiled is not in" "build and install attn with -DATTN_COMPILED=ON")
check("COMPONENTS compiled_cuda" refused "attn::compiled_cuda is not in" "-DATTN_COMPILED=ON -DATTN_CUDA=ON")
