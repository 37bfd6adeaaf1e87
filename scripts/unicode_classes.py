#!/usr/bin/env python3
"""Writes include/attn/text/unicode_tables.hpp: the ranges of letters, numbers and white space.

Hugging Face's tokenizers, from 0.21.4 on, know Unicode 16.0, and the tables must agree with them code point by code point, so this
script insists on that version: run it with Python 3.14, or with any Python after `pip install unicodedata2==16.0.0`.
tests/python/byte_bpe.py compares the outcome with tokenizers over all code points.
"""
import argparse
import pathlib

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

VERSION = "16.0.0"


def ranges(belongs):
    """The code points that belong, as [first, last] pairs in order."""
    found = []
    for code in filter(belongs, range(0x110000)):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def category(code):
    return unicodedata.category(chr(code))


def is_space(code):
    """The property White_Space, which categories alone do not give: the control characters are spaces too."""
    return category(code)[0] == "Z" or 0x9 <= code <= 0xD or code == 0x85


def table(name, pairs):
    cells = [f"{{0x{first:X}, 0x{last:X}}}," for first, last in pairs]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 124:
            lines.append(line)
            line = "   "
        line += " " + cell
    return "\n".join([f"inline constexpr CodeRange {name}[] = {{", *lines, line, "};\n"])


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=here / "include/attn/text/unicode_tables.hpp")
    output = parser.parse_args().output
    if unicodedata.unidata_version != VERSION:
        raise SystemExit(f"this Python knows Unicode {unicodedata.unidata_version}, not {VERSION}: pip install unicodedata2=={VERSION}")

    output.write_text(f"""#pragma once
// Unicode {VERSION}. Written by scripts/unicode_classes.py; do not edit.
// clang-format off

namespace attn::unicode {{

/// Code points first to last, both included.
struct CodeRange {{
  char32_t first, last;
}};

{table("letters", ranges(lambda code: category(code)[0] == "L"))}
{table("numbers", ranges(lambda code: category(code)[0] == "N"))}
{table("spaces", ranges(is_space))}
}}  // namespace attn::unicode
""")


if __name__ == "__main__":
    main()
