"""errno_order.py ROOT: fails where a call or a constructor reads errno among its arguments: require(f() == 0, std::strerror(errno)),
throw Error(f(), errno). The order in which arguments are evaluated is unspecified, so errno may be read before the call that sets it.
Copy it to a variable first, or use braces, which have an order."""
import pathlib
import re
import sys

SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)  # comments and strings
CALL = re.compile(r"(?:\b(?!(?:if|while|for|switch|return)\b)\w+|>)\s*\(")
INNERMOST = re.compile(r"[({\[][^(){}\[\]]*[)}\]]")


def arguments(text, start):
    """The text between the parenthesis at `start` and the one that closes it, without bodies of lambdas and braced lists."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return re.sub(r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", text[start + 1:at])
    return text[start + 1:]


def several(inside):
    """Whether there is more than one argument: a comma outside of all brackets."""
    while (less := INNERMOST.sub("", inside)) != inside:
        inside = less
    return "," in inside


def unordered(text):
    """Places of calls whose arguments read errno."""
    text = SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in CALL.finditer(text) if "errno" in text else ():
        inside = arguments(text, found.end() - 1)
        if re.search(r"\berrno\b", inside) and several(inside) and re.search(r"\w\s*\(", inside):
            yield found.start()


for wrong in ('require(::access(p, 1) == 0, "cannot: ", std::strerror(errno));', "require(n >= 0,\n  std::strerror(errno));",
              'fail("cannot: ", std::strerror(errno));', "file.check(::flock(h, 1) == 0, errno);",
              "throw Error(name(f), std::strerror(errno));", "throw std::system_error(errno, std::generic_category(), name(f));",
              "Error error(describe(f), errno);", "auto found = std::pair<int, int>(f(), errno);", "std::thread([&] { run(f(), errno); });",
              "const Error error(\n    open(path),\n    std::strerror(errno));"):
    assert list(unordered(wrong)), wrong
for right in ("const int reason = errno; require(ok, std::strerror(reason));", 'file_.check(errno == EWOULDBLOCK, "cannot lock ");',
              "// require(f(), std::strerror(errno))", "while (f() != 0 && errno == EINTR) {}", "if (f(a, b) < 0 && errno == EINTR) continue;",
              "const int reason = errno; throw Error(f(), std::strerror(reason));", "throw Error{f(), std::strerror(errno)};",
              "each(list, [&] { if (f() < 0 && errno == EINTR) return; });", "Failure failure(std::strerror(errno));",
              "return f(a, b) && errno == 0;"):
    assert not list(unordered(right)), right

root = pathlib.Path(sys.argv[1])
sources = [file for place in ("include", "src", "tools", "examples", "tests", "benchmarks") for file in sorted((root / place).rglob("*"))
           if file.suffix in (".hpp", ".cuh", ".cpp", ".cu")]
assert sources
bad = [f"{file.relative_to(root)}:{text.count(chr(10), 0, start) + 1}: copy errno to a variable before this call"
       for file in sources for text in [file.read_text()] for start in unordered(text)]
print("\n".join(bad) or f"{len(sources)} files")
sys.exit(1 if bad else 0)
