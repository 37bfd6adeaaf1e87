#!/usr/bin/env python3
"""Writes include/attn/text/unicode_tables.hpp: the ranges of letters, numbers and white space.

Hugging Face's tokenizers use Unicode 16.0 since 0.21.4, and the tables must agree with them for every code point. This script therefore
requires that version: run it with Python 3.14, or with any Python after `pip install unicodedata2==16.0.0`. tests/python/byte_bpe.py
compares the tables with tokenizers for all code points.
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
    """The property White_Space. It differs from the category, because it includes control characters."""
    return category(code)[0] == "Z" or 0x9 <= code <= 0xD or code == 0x85


def table(name, pairs):
    """Gaps and lengths in turn: they are shorter than the pairs."""
    cells, end = [], 0
    for first, last in pairs:
        cells += [f"{first - end},", f"{last - first},"]
        end = last
    lines, line = [], "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 124:
            lines.append(line)
            line = "   "
        line += " " + cell
    return "\n".join([f"inline constexpr auto {name} = unpack({{", *lines, line.removesuffix(","), "});\n"])


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
#include <array>
#include <cstddef>

namespace attn::unicode {{

/// Code points first to last, both included.
struct CodeRange {{
  char32_t first, last;
}};

/// Ranges from gaps and lengths in turn: a range begins `gap` after the end of the one before, and ends `length` later.
template <std::size_t N>
constexpr auto unpack(const int (&packed)[N]) {{
  std::array<CodeRange, N / 2> ranges{{}};
  int at = 0;
  for (std::size_t i = 0; i < N / 2; ++i) {{
    const int first = at + packed[2 * i];
    at = first + packed[2 * i + 1];
    ranges[i] = {{static_cast<char32_t>(first), static_cast<char32_t>(at)}};
  }}
  return ranges;
}}

{table("letters", ranges(lambda code: category(code)[0] == "L"))}
{table("numbers", ranges(lambda code: category(code)[0] == "N"))}
{table("spaces", ranges(is_space))}
}}  // namespace attn::unicode
""")


if __name__ == "__main__":
    main()
