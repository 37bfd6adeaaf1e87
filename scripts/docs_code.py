"""docs_code.py FOLDER PAGE...: writes every ```cpp block with an `int main` of the pages to FOLDER as a program.

A block whose first line is `// file: name.cpp` is called that, others after their page and place: README_1.cpp. Each file says
by a #line directive where it comes from, so that compiler messages point into the page. Blocks without main are not compiled.
"""

import pathlib
import re
import sys


def programs(page):
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if re.search(r"\bint main\b", match[1]):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f'#line {line} "{page.as_posix()}"\n{match[1]}'


def main(folder, *pages):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for page in map(pathlib.Path, pages):
        sources = list(programs(page))
        if page.name == "README.md" and not sources:
            return f"{page}: no ```cpp block has an `int main`; the README's example must be a whole program, so that it is compiled"
        for number, source in enumerate(sources, 1):
            named = re.match(r"#line .*\n// file: (\w+)\.cpp\n", source)
            name = f"{named[1] if named else f'{page.stem}_{number}'}.cpp"
            if name in found:
                return f"{page}: two programs are called {name}; give one another name by a first line `// file: other.cpp`"
            found[name] = source
    for old in folder.glob("*.cpp"):
        if old.name not in found:
            old.unlink()
    for name, source in found.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != source:  # unchanged programs are not built again
            file.write_text(source, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
