"""designated_lists.py ROOT: fails where code for nvcc assigns a list that names members and has no type: x = {.b = 1}.
In a template, nvcc 13.0 drops the names and fills the members in their order; x = Type{.b = 1} is compiled as it is written."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
untyped = re.compile(r"(?:^|[;)}])[ \t]*[A-Za-z_](?:[\w.>-]|\[[^\]\n]*\])*\s*=\s*\{\s*\.[a-z]", re.MULTILINE)
assert untyped.search("\n  a.b[i] = {\n      .c = 1};") and not untyped.search("\n  const A a = {.c = 1};\n  a = A{.c = {.d = 1}};")
sources = [file for place in ("include", "src", "tests/cuda", "benchmarks") for file in sorted((root / place).rglob("*"))
           if file.suffix in (".hpp", ".cuh", ".cu")]
assert sources
wrong = [f"{file.relative_to(root)}:{text.count(chr(10), 0, found.end()) + 1}: name the type of the list that is assigned"
         for file in sources for text in [file.read_text()] for found in untyped.finditer(text)]
print("\n".join(wrong) or f"{len(sources)} files")
sys.exit(1 if wrong else 0)
