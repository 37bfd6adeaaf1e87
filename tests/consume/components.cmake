# What find_package says of components, in a package of attn's headers alone.
cmake_minimum_required(VERSION 3.25)

set(configure ${CMAKE_COMMAND} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler})
set(prefix ${folder}/prefix)
execute_process(COMMAND ${configure} -S ${attn} -B ${folder}/attn -D ATTN_COMPILED=OFF
  -D ATTN_BUILD_TESTS=OFF -D ATTN_BUILD_TOOLS=OFF -D ATTN_BUILD_EXAMPLES=OFF -D ATTN_BUILD_BENCHMARKS=OFF OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${folder}/attn --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# check(what status words...): a project that asks for these components is configured, or refused in these words. `more` are
# further lines of the project, `options` of the command.
function(check what status)
  file(WRITE ${folder}/consumer/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(attn REQUIRED ${what})
if(attn_compiled_FOUND)
  message(FATAL_ERROR \"attn_compiled_FOUND is set\")
endif()
${more}
")
  file(REMOVE_RECURSE ${folder}/consumer/build)
  execute_process(COMMAND ${configure} -S ${folder}/consumer -B ${folder}/consumer/build -D CMAKE_PREFIX_PATH=${prefix} ${options}
    RESULT_VARIABLE result OUTPUT_VARIABLE message ERROR_VARIABLE message)
  string(REGEX REPLACE "[ \n]+" " " said "${message}")  # CMake breaks lines as it likes
  if(status STREQUAL found AND NOT result EQUAL 0 OR status STREQUAL refused AND result EQUAL 0)
    message(FATAL_ERROR "find_package(attn REQUIRED ${what}) is not ${status}:\n${message}")
  endif()
  if("${said}" MATCHES "CMake Warning" AND NOT "CMake Warning" IN_LIST ARGN)
    message(FATAL_ERROR "find_package(attn REQUIRED ${what}) warns:\n${message}")
  endif()
  foreach(words IN LISTS ARGN)
    string(FIND "${said}" "${words}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "find_package(attn REQUIRED ${what}) does not say: ${words}\nIt says:\n${message}")
    endif()
  endforeach()
endfunction()

set(options -D CMAKE_BUILD_TYPE=Release)
check("" found)
check("OPTIONAL_COMPONENTS compiled compiled_cuda foo" found)
check("COMPONENTS foo" refused "attn has no component 'foo'; it has cuda, mpi, nccl, ops, compiled, ops_cuda, compiled_cuda, tools")
check("COMPONENTS compiled" refused "attn::compiled is not in" "build and install attn with -DATTN_COMPILED=ON")
check("COMPONENTS compiled_cuda" refused "attn::compiled_cuda is not in" "-DATTN_COMPILED=ON -DATTN_CUDA=ON")

set(more "add_executable(program main.cpp)\nfile(TOUCH \${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)\ntarget_link_libraries(program PRIVATE attn::compiled)")
check("" refused "attn::compiled (not installed: build and install attn with -DATTN_COMPILED=ON)")
set(more "if(TARGET attn::compiled)\n  message(FATAL_ERROR \"attn::compiled is a target\")\nendif()")
check("OPTIONAL_COMPONENTS compiled" found)
set(more)
set(options)
check("" found "CMake Warning" "CMAKE_BUILD_TYPE is not set, so programs are compiled without optimisation")

# A library that is not compiled for this processor does not go with attn::native.
foreach(native IN ITEMS ON OFF)
  file(WRITE ${folder}/native/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
add_subdirectory(${attn} attn)
file(TOUCH \${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE attn::compiled attn::native)
")
  file(REMOVE_RECURSE ${folder}/native/build)
  execute_process(COMMAND ${configure} -S ${folder}/native -B ${folder}/native/build -D CMAKE_BUILD_TYPE=Release -D ATTN_NATIVE=${native}
    RESULT_VARIABLE result OUTPUT_VARIABLE message ERROR_VARIABLE message)
  string(FIND "${message}" "ATTN_NATIVE" place)
  if(native AND NOT result EQUAL 0 OR NOT native AND (result EQUAL 0 OR place EQUAL -1))
    message(FATAL_ERROR "attn::compiled with ATTN_NATIVE=${native} and attn::native:\n${message}")
  endif()
endforeach()
