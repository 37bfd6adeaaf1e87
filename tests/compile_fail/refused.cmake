# Compiles `file` with ATTN_REFUSED, which must fail and say what the file's first line promises, then without, which must pass.

file(STRINGS ${file} expected LIMIT_COUNT 1)
if(NOT expected MATCHES "^// refused: (.+)$")
  message(FATAL_ERROR "${file}: the first line must be `// refused: REGEX`, the message that the compiler has to print")
endif()
set(expected "${CMAKE_MATCH_1}")

set(ENV{LC_ALL} C)  # plain quotes in messages
set(compile ${compiler} @${flags} -fsyntax-only ${file})
set(with)  # what a line `// with: FLAG` adds where it must fail
file(STRINGS ${file} line REGEX "^// with: ")
if(line)
  string(REPLACE "// with: " "" with ${line})
endif()

execute_process(COMMAND ${compile} -DATTN_REFUSED ${with} RESULT_VARIABLE result OUTPUT_VARIABLE message ERROR_VARIABLE message)
if(result EQUAL 0)
  message(FATAL_ERROR "${file} compiles with ATTN_REFUSED; the compiler should have refused it with: ${expected}")
elseif(NOT message MATCHES "${expected}")
  message(FATAL_ERROR "${file} is refused, but not with: ${expected}\nThe compiler said:\n${message}")
endif()

execute_process(COMMAND ${compile} RESULT_VARIABLE result OUTPUT_VARIABLE message ERROR_VARIABLE message)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${file} without ATTN_REFUSED, the twin, does not compile:\n${message}")
endif()
