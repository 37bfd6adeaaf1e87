"""reachable.py ROOT: fails where a header of the library is not included by attn/attn.hpp. Backends, ranks and run folders have umbrella
headers of their own or are chosen by the program."""
import pathlib
import re
import sys

OTHERS = {"cpu", "cuda", "parallel", "run"}  # folders that programs include by other headers
EXCEPTIONS = {"attn.hpp", "cpu.hpp", "cuda.cuh"}


def reachable(root, first):
    """All headers that `first` includes, directly or not."""
    seen, left = set(), [first]
    while left:
        header = left.pop()
        if header in seen or not (root / header).exists():
            continue
        seen.add(header)
        left += re.findall(r'^\s*#\s*include [<"](attn/[^">]+)[">]', (root / header).read_text(encoding="utf-8"), re.MULTILINE)
    return seen


root = pathlib.Path(sys.argv[1]) / "include"
found = reachable(root, "attn/attn.hpp")
assert "attn/tape/tape.hpp" in found and "attn/run/open_translator.hpp" not in found
headers = [file.relative_to(root).as_posix() for file in sorted((root / "attn").rglob("*.hpp"))]
missing = [header for header in headers
           if header not in found and header.split("/")[1] not in OTHERS | EXCEPTIONS]
sys.exit("\n".join(["attn/attn.hpp does not include:"] + missing) if missing else 0)
