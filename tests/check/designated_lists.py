"""designated_lists.py ROOT: fails where a header or a file for nvcc assigns a list that names members and has no type: x = {.b = 1}.
In a template, nvcc 13.0 drops the names and fills the members in their order; x = Type{.b = 1} is compiled as it is written."""
import pathlib
import re
import sys

SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)  # comments and strings
LIST = re.compile(r"(?<![=!<>+*/|&^-])=\s*\{[\s{]*\.[A-Za-z_]")


def assigned(text):
    """Places of lists without a type that are assigned, not initial values of what is declared there or of a member in another list."""
    text = SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in LIST.finditer(text):
        left = text[max(0, found.start() - 400):found.start()].rstrip()
        while left.endswith("]"):  # of an array
            depth, at = 0, len(left)
            while at > 0 and (at == len(left) or depth > 0):
                at -= 1
                depth += {"]": 1, "[": -1}.get(left[at], 0)
            left = left[:at].rstrip()
        left = re.split(r"[;{}(),?]|(?<!:):(?!:)", left)[-1].strip()  # the end of the statement
        left = re.sub(r"^(?:else|do|return)\b\s*", "", left)
        if not left.startswith(".") and not re.search(r"[\w>&*\]]\s+[*&]*\w+$", left):
            yield found.end()


for wrong in ("x = {.b = 1};", "p->q.r = {.b = 1};", "a[f(1)][b[2]] = {\n  .b = 1};", "[&] { x = {.b = 1}; }", "if (a) x = {.b = 1};", "else x = {.b = 1};",
              "case 1: x = {.b = 1};", "a = 1, x = {.b = 1};", "f(x = {.b = 1});", "*x = {.b = 1};", "(*x) = {.b = 1};", "at(i) = {.b = 1};", "n::x = {.b = 1};",
              "x = {{.b = 1}};", "x = {  // why\n  .b = 1};", "x = {.B = 1};"):
    assert list(assigned(wrong)), wrong
for right in ("const A a = {.b = 1};", "std::array<A, 2> a = {{.b = 1}};", "A a[] = {{.b = 1}};", "f(A{.x = {.b = 1}, .y = {.b = 1}});", "x = A{.b = 1};", "// x = {.b = 1}",
              "void f(const A& a = {.b = 1});", "if (a == A{.b = 1}) {}", "A\n    a = {.b = 1};"):
    assert not list(assigned(right)), right

root = pathlib.Path(sys.argv[1])
sources = [file for place in ("include", "src", "tests", "benchmarks", "examples") for file in sorted((root / place).rglob("*"))
           if file.suffix in (".hpp", ".cuh", ".cu")]
assert sources
bad = [f"{file.relative_to(root)}:{text.count(chr(10), 0, end) + 1}: name the type of the list that is assigned"
       for file in sources for text in [file.read_text()] for end in assigned(text)]
print("\n".join(bad) or f"{len(sources)} files")
sys.exit(1 if bad else 0)
