"""errno_order.py ROOT: fails where a call reads errno among its arguments: require(f() == 0, std::strerror(errno)). The order in
which arguments are evaluated is unspecified, so errno may be read before the call that sets it. Copy it to a variable first."""
import pathlib
import re
import sys

SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)  # comments and strings
CALL = re.compile(r"\b(require|fail|check)\s*\(")


def arguments(text, start):
    """The text between the parenthesis at `start` and the one that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at]
    return text[start + 1:]


def unordered(text):
    """Places of calls whose arguments read errno."""
    text = SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in CALL.finditer(text):
        inside = arguments(text, found.end() - 1)
        if re.search(r"\berrno\b", inside) and ("," in inside and re.search(r"\w\s*\(", inside)):
            yield found.start()


for wrong in ('require(::access(p, 1) == 0, "cannot: ", std::strerror(errno));', "require(n >= 0,\n  std::strerror(errno));",
              'fail("cannot: ", std::strerror(errno));', "file.check(::flock(h, 1) == 0, errno);"):
    assert list(unordered(wrong)), wrong
for right in ("const int reason = errno; require(ok, std::strerror(reason));", 'file_.check(errno == EWOULDBLOCK, "cannot lock ");',
              "// require(f(), std::strerror(errno))", "while (f() != 0 && errno == EINTR) {}"):
    assert not list(unordered(right)), right

root = pathlib.Path(sys.argv[1])
sources = [file for place in ("include", "src", "tools", "examples", "tests", "benchmarks") for file in sorted((root / place).rglob("*"))
           if file.suffix in (".hpp", ".cuh", ".cpp", ".cu")]
assert sources
bad = [f"{file.relative_to(root)}:{text.count(chr(10), 0, start) + 1}: copy errno to a variable before this call"
       for file in sources for text in [file.read_text()] for start in unordered(text)]
print("\n".join(bad) or f"{len(sources)} files")
sys.exit(1 if bad else 0)
