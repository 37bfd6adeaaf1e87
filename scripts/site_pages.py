"""site_pages.py FOLDER: lays out the pages of the site, for mkdocs: README.md as its home, docs/ and the pages beside it as they
are, and every source file that a page links to as a page that shows it."""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
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
            """A link to a source becomes one to the page that shows it."""
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


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
