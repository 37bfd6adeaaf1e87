"""site_pages.py FOLDER: writes the pages of the site for mkdocs: all Markdown files of the root and of docs/, and a page for every source
file that they link to. As a hook of mkdocs, it renders the formulas."""

import html
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".cuh": "cpp", ".cu": "cpp", ".py": "python", ".sh": "bash", ".txt": "cmake"}


def main(folder):
    folder = pathlib.Path(folder)
    if folder.exists():
        shutil.rmtree(folder)
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for file in (ROOT / "docs").rglob("*"):
        if file.is_file() and file.suffix != ".md":
            place = folder / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    for page in pages:
        place = folder / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)

        def shown(match):
            """Replaces a link to a source file by a link to its page."""
            source = (page.parent / match[1]).resolve()
            if not source.is_file() or source.is_relative_to(ROOT / "docs") or source.suffix == ".md":
                return match[1]
            path = source.relative_to(ROOT)
            text = source.read_text(encoding="utf-8")
            page_of = folder / f"{path}.md"
            page_of.parent.mkdir(parents=True, exist_ok=True)
            page_of.write_text(f"# {path}\n\n````{LANGUAGES.get(source.suffix, 'text')}\n{text}\n````\n", encoding="utf-8")
            return f"{match[1]}.md"

        place.write_text(LINK.sub(shown, page.read_text(encoding="utf-8")), encoding="utf-8")


def on_page_content(content, **_):
    """Converts $formulas$ to MathML, which browsers draw without a script."""
    from latex2mathml.converter import convert

    def drawn(found):
        drawing = convert(html.unescape(found[2]), display="inline" if found[1] == "span" else "block")
        return re.sub(r"(?<=<mi>log</mi>)(?=<mi>|<msub>)", '<mspace width="0.17em"/>', drawing)

    return FORMULA.sub(drawn, content)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
