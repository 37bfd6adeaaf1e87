"""named_tests.py README: fails unless every test in the table of README exists, and every row has a test."""
import pathlib
import re
import sys

readme = pathlib.Path(sys.argv[1])
tests = readme.parent
cases, programs = set(), set()
for source in tests.rglob("*.cpp"):
    for literals in re.findall(r'TEST_CASE\w*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', source.read_text()):
        cases.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)))
    programs.add(f"{source.parent.name}/{source.stem}")
programs |= {f"python/{script.stem}" for script in (tests / "python").glob("*.py")}
programs |= set(re.findall(r"NAME (check/\w+)", (tests / "check/CMakeLists.txt").read_text()))

rows = [line for line in readme.read_text().splitlines() if line.startswith("|")][2:]
wrong = [f"no test is named '{name}'" for row in rows for name in re.findall(r"`([^`]+)`", row) if name not in cases | programs]
wrong += [f"no test in the row {row}" for row in rows if "`" not in row]
if not rows:
    wrong.append(f"{readme} has no table")
print("\n".join(wrong) or f"{len(rows)} rows, all with tests")
sys.exit(1 if wrong else 0)
