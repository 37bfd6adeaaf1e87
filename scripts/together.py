"""together.py OUT FILE...: writes OUT, which compiles the C++ files FILE as one translation unit, each in its own namespace.

OUT includes all their headers first. Because of #pragma once, the #include lines of the files then have no effect. Headers are
therefore read, and templates compiled, once instead of once per file.
"""

import re
import sys
from pathlib import Path


def main(out, *files):
    includes, bodies = {}, []
    for path in map(Path, files):
        for name in re.findall(r"^#include (.+)$", path.read_text(), re.MULTILINE):
            beside = path.parent / name.strip('"')
            includes[f'"{beside}"' if beside.is_file() else name] = None
        bodies.append(f'namespace file_{re.sub("[^a-z0-9]", "_", path.stem)} {{\n#include "{path}"\n}}\n')
    Path(out).write_text("".join(f"#include {name}\n" for name in includes) + "".join(bodies))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
