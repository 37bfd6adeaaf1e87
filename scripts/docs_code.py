"""docs_code.py extract FOLDER PAGE...: writes every ```cpp block with an `int main` of the pages to FOLDER as a program.
docs_code.py run PROGRAM EXPECTED: runs a program and compares its output with a file.
docs_code.py links PAGE...: reports every link to a file or a heading that does not exist.
docs_code.py headers PAGE...: reports every name in a section "Headers" that its header does not declare.
docs_code.py width COLUMNS PAGE...: reports every longer line of code.

The name of a program is that of its page and its number, for example tutorial_1, or comes from a comment before it: <!-- program: name -->.
With <!-- program: name, after: other -->, it runs after another program, whose files it reads. A ```text block directly after a program,
or after a line "prints:", is its expected output; three dots in it match anything. A #line directive in each file makes compiler messages
point into the page. Blocks without main are not compiled.
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(
    r"(?:^<!-- program: (?P<name>\w+)(?:, after: (?P<after>\w+))? -->\n)?"
    r"^```cpp\n(?P<code>.*?)^```\n"
    r"(?:\n*(?:prints:?\n+)?```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


def programs(page, root):
    """name, source, expected output or None, name of the program before it or None"""
    text = page.read_text(encoding="utf-8")
    stem = re.sub(r"\W", "_", page.relative_to(root).with_suffix("").as_posix()).removeprefix("docs_")
    number = 0
    for match in BLOCK.finditer(text):
        if not re.search(r"\bint main\b", match["code"]):
            continue
        number += 1
        line = text.count("\n", 0, match.start("code")) + 1
        source = f'#line {line} "{page.as_posix()}"\n{match["code"]}'
        yield match["name"] or f"{stem}_{number}", source, match["output"], match["after"]


def write(file, text):
    if not file.exists() or file.read_text(encoding="utf-8") != text:  # unchanged programs are not rebuilt
        file.write_text(text, encoding="utf-8")


def extract(folder, *pages):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(__file__).resolve().parent.parent
    kept = set()
    for page in (pathlib.Path(name).resolve() for name in pages):
        found = list(programs(page, root))
        if page == root / "README.md" and not found:
            return f"{page}: no ```cpp block has an `int main`; the example of the README must be a whole program, so that the tests compile it"
        for name, source, output, after in found:
            if f"{name}.cpp" in kept:
                return f"{page}: two programs have the name {name}; rename one in a comment before it: <!-- program: other -->"
            for suffix, text in ((".cpp", source), (".expected", output), (".after", after)):
                if text is not None:
                    write(folder / f"{name}{suffix}", text)
                    kept.add(f"{name}{suffix}")
    for old in folder.iterdir():
        if old.suffix in (".cpp", ".expected", ".after") and old.name not in kept:
            old.unlink()
    return 0


def run(program, expected):
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True)
    sys.stdout.write(done.stdout)
    if done.returncode:
        return done.returncode
    wanted = pathlib.Path(expected).read_text(encoding="utf-8")
    pattern = r"\s*\n".join(
        ".*".join(re.escape(part) for part in line.rstrip().split("...")) for line in wanted.rstrip().split("\n")
    )
    if not re.fullmatch(pattern, done.stdout.rstrip()):
        return f"\nthe page shows different output:\n\n{wanted}"
    return 0


def anchors(page):
    """The anchors of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(*pages):
    wrong = []
    for page in map(pathlib.Path, pages):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
            to = page.parent / path if path else page
            if not to.exists():
                wrong.append(f"{page}: {path} does not exist")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                wrong.append(f"{page}: {path or page.name} has no heading #{anchor}")
    return "\n".join(wrong) or 0


def declares(header, name):
    """Whether a header declares a type, a constant or a function of that name."""
    code = re.sub(r"//.*", "", header)
    word = rf"(?:struct|class|concept|using|constexpr \w+) (?:\w+::)*{name}\b|^[^\s#/}}][^;=]*?[\s&*]{name}\("
    return re.search(word, code, re.MULTILINE) is not None


def headers(*pages):
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong = []
    for page in map(pathlib.Path, pages):
        section = re.search(r"^## Headers\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for path, names in re.findall(r"^\| `(\S+)` \| (.*) \|$", section[1] if section else "", re.MULTILINE):
            header = root / path if path.startswith("tools/") else root / "include/attn" / path
            if not header.exists():
                wrong.append(f"{page}: {path} does not exist")
                continue
            text = header.read_text(encoding="utf-8")
            wrong += [f"{page}: {path} does not declare {name}" for name in re.findall(r"`(\w+)`", names) if not declares(text, name)]
    return "\n".join(wrong) or 0


def width(columns, *pages):
    wrong = []
    for page in pages:
        fenced = False
        for number, line in enumerate(pathlib.Path(page).read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.startswith("```")
            if (fenced or line.startswith("    ")) and len(line) > int(columns):
                wrong.append(f"{page}:{number}: {len(line)} columns of code; at most {columns} fit without scrolling")
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    commands = {"extract": extract, "run": run, "links": links, "headers": headers, "width": width}
    known = len(sys.argv) > 2 and sys.argv[1] in commands
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]) if known else __doc__)
