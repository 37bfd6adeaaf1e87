"""layers.py ROOT: fails where a header under include/attn includes one of a higher layer, where the library includes a tool or an example, or where
a tool includes an example.
A layer may include itself and the layers above its line in this list; those on one line do not include each other."""
import pathlib
import re
import sys

LAYERS = ["core", "ops", "cpu cuda", "tape", "nn", "attention", "models", "optim", "text", "data", "metrics", "checkpoint", "align",
          "decode", "pictures", "parallel", "train", "run", "umbrella"]
PROGRAMS = ("common/", "papers/", "tools/", "examples/")
RANK = {name: rank for rank, line in enumerate(LAYERS) for name in line.split()}


def layer(path):
    """attn/tape/linear.hpp -> tape; the headers directly under attn/ include whole layers."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 else "umbrella"


def upward(header, text):
    """The includes of `header` that break the order."""
    for found in re.findall(r'^\s*#\s*include [<"]([^">]+)[">]', text, re.MULTILINE):
        if found.startswith(PROGRAMS):
            yield found
        if not found.startswith("attn/") or found == "attn/version.hpp":
            continue
        own, other = layer(header), layer(found)
        if RANK[other] > RANK[own] or (RANK[other] == RANK[own] and other != own):
            if not (own == "run" and other == "umbrella"):  # run/ picks a backend by its umbrella, attn/cpu.hpp
                yield found


assert list(upward("attn/core/a.hpp", '#include "attn/text/utf8.hpp"'))
assert list(upward("attn/cpu/a.hpp", '#include "attn/cuda/a.cuh"'))
assert list(upward("attn/run/a.hpp", '#include "common/help.hpp"'))
assert not list(upward("attn/run/a.hpp", '#include "attn/core/error.hpp"\n#include "attn/version.hpp"'))

def of_examples(text):
    return [found for found in re.findall(r'^\s*#\s*include [<"]([^">]+)[">]', text, re.MULTILINE) if found.startswith(("papers/", "examples/", "../"))]


assert of_examples('#include "papers/europarl_corpus.hpp"') and not of_examples('#include "common/help.hpp"')
assert list(upward("attn/run/a.hpp", '#include "papers/europarl_corpus.hpp"'))

root = pathlib.Path(sys.argv[1]) / "include"
headers = [file for file in sorted(root.rglob("*")) if file.suffix in (".hpp", ".cuh")]
assert len(headers) > 100
wrong = [f"{file.relative_to(root)} includes {found}" for file in headers
         for found in upward(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))]
tools = pathlib.Path(sys.argv[1]) / "tools"
programs = [file for file in sorted(tools.rglob("*")) if file.suffix in (".hpp", ".cpp", ".cu")]
assert len(programs) > 20
wrong += [f"tools/{file.relative_to(tools)} includes {found}" for file in programs for found in of_examples(file.read_text(encoding="utf-8"))]
sys.exit("\n".join(wrong + ["Move the header that is included down, or the one that includes it up."]) if wrong else 0)
