#!/usr/bin/env python3
"""mutate.py [--count 100] [--seed 1] [--rooms core,text]: counts the small changes of the library that its tests notice.

Draws random changes of include/attn and tools/common (operators, bounds, constants, conditions, dropped statements), equally many per
folder. Builds and runs the tests of the folder with one change at a time: first the test file named after the changed header, then all of
them. Prints each change, and at the end the changes that survived. Draws again if a change does not compile, or is in code for another
processor or library that the preprocessor drops. Tests that fail without a change are an error. The sources are not modified; all files
are in the folder --work.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTED_BY = {"cpu": ["ops", "cpu"], "ops": ["ops", "tape"]}  # other folders: the tests of the same name
LEFT_OUT = {"cuda": "needs a GPU"}
ELSEWHERE = re.compile(r"#include <(mpi|nccl|cuda)")  # headers that the tests of their folder cannot use
SWAPS = {"operator": [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" + ", " - "),
                      (" - ", " + "), (" * ", " + "), (" / ", " * "), (" && ", " || "), (" || ", " && "), (" += ", " -= "), (" % ", " / ")],
         "bound": [("std::min", "std::max"), ("std::max", "std::min"), (".begin()", ".end()"), ("lower_bound", "upper_bound")],
         "constant": [("true", "false"), ("false", "true")]}
STATEMENT = re.compile(r"^\s+(?!return|using|const |auto |template|static|throw|case|break|continue|delete|else)"
                       r"[\w.:\[\]>*()-]+(\(.*\)|(\+\+|--)| [-+*/|&]?= .*);( *//.*)?$")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
CONDITION = re.compile(r"\b(?:if|while) \(([^()]*(?:\([^()]*\)[^()]*)*)\)")


def places(line):
    """All changes of a line of code: the kind and the changed line."""
    code = re.sub(r'"(?:\\.|[^"\\])*"', lambda text: "\0" * len(text[0]), line.partition("//")[0])
    if re.match(r"\s*(#|static_assert|using|template|require\(|friend|namespace)|^\s*$", code):
        return
    def replaced(begin, end, by):
        return line[:begin] + by + line[end:]
    for kind, swaps in SWAPS.items():
        for old, new in swaps:
            for found in re.finditer(rf"\b{old}\b" if old.isalpha() else re.escape(old), code):
                yield kind, replaced(*found.span(), new)
    for found in NUMBER.finditer(code):
        yield "constant", replaced(*found.span(), str(int(found[0]) + 1))
    for found in CONDITION.finditer(code):
        if "\0" not in found[1] and ";" not in found[1] and "constexpr" not in code:
            yield "condition", replaced(*found.span(1), f"!({found[1]})")
    if STATEMENT.match(code):
        yield "dropped", re.match(r"\s*", line)[0] + ";\n"


def home(room):
    return Path("tools/common" if room == "tools" else f"include/attn/{room}")


def draw(room, chance):
    """A header, the number of one of its lines, the kind of change and the changed line. All kinds are equally likely, and so are all lines."""
    while True:
        header = chance.choice(sorted((ROOT / home(room)).rglob("*.hpp")))
        by_kind = {}
        text = header.read_text()
        for number, line in enumerate([] if ELSEWHERE.search(text) else text.splitlines(keepends=True)):
            for kind, changed in places(line):
                by_kind.setdefault(kind, []).append((number, kind, changed))
        if by_kind:
            return header, *chance.choice(by_kind[chance.choice(sorted(by_kind))])


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


class Tests:
    """The tests of each folder, and the library that they use: that of `tree`, with include/ and tools/."""

    def __init__(self, work, compiler):
        self.work, self.compiler, self.preprocessed = work, compiler, {}

    def flags(self, tree):
        data = os.environ.get("ATTN_DATA", ROOT.parent / "shared/data")
        return ["-std=c++20", "-O1", "-w", "-pthread", "-march=native", "-I", tree / "include", "-I", tree / "tools", "-I", ROOT / "tests", "-I",
                ROOT / "examples", "-isystem", "/usr/include/eigen3", f'-DATTN_TEST_FILES="{ROOT}/tests/files"', f'-DATTN_TEST_DATA="{data}"']

    def compiled(self, tree, name):
        """What the preprocessor leaves of a header; None if it includes files that are missing."""
        done = subprocess.run([self.compiler, *self.flags(tree), "-E", "-P", "-x", "c++", tree / name], capture_output=True)
        return done.stdout.replace(bytes(tree), b"") if done.returncode == 0 else None

    def drops(self, tree, name):
        """Whether the change of this header makes no difference to the compiler."""
        if name not in self.preprocessed:
            self.preprocessed[name] = self.compiled(ROOT, name)
        before = self.preprocessed[name]
        return before is None or self.compiled(tree, name) == before

    def build(self, sources, tree, name):
        """The test program of these sources, or None if they do not compile."""
        common = []
        for source in ("main.cpp", "support/reference.cpp"):
            common.append(self.work / Path(source).with_suffix(".o").name)
            if not common[-1].exists():
                subprocess.run([self.compiler, *self.flags(ROOT), "-c", ROOT / "tests" / source, "-o", common[-1]], check=True)
        alone = [source for source in sources if "\n#define" in source.read_text()]
        together = self.work / f"{name}.cpp"
        rest = [source for source in sources if source not in alone]
        if rest:
            subprocess.run([sys.executable, ROOT / "scripts/together.py", together, *rest], check=True)
        program = self.work / name
        done = subprocess.run([self.compiler, *self.flags(tree), *alone, *([together] if rest else []), *common, "-o", program], capture_output=True)
        return program if done.returncode == 0 else None

    def notice(self, program):
        try:
            return subprocess.run([program, "--test-suite-exclude=slow"], capture_output=True, timeout=300, cwd=self.work,
                                  preexec_fn=limit).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def outcome(self, room, name, tree):
        """Result of the tests for the library in this tree. Runs the test file of the changed header first, if it exists."""
        rooms = TESTED_BY.get(room, [room])
        own = [file for test in rooms for file in [ROOT / "tests" / test / f"{name}.cpp"] if file.exists()]
        everything = [sorted((ROOT / "tests" / test).glob("*.cpp")) for test in rooms]
        for number, sources in enumerate([own, *everything]):
            if sources:
                program = self.build(sources, tree, f"test_{room}_{number}")
                if program is None:
                    return "does not compile"
                if self.notice(program):
                    return "killed"
        return "SURVIVED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="changes that compile (default 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", help="folders of include/attn, or tools; comma-separated (default: all but " + ", ".join(LEFT_OUT) + ")")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests without a change first")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutate", help="folder for all files (default build/mutate)")
    arguments = parser.parse_args()
    known = sorted([folder.name for folder in (ROOT / "include/attn").iterdir() if folder.is_dir()] + ["tools"])
    rooms = arguments.rooms.split(",") if arguments.rooms else [room for room in known if room not in LEFT_OUT]
    for room in rooms:
        if room not in known or room in LEFT_OUT:
            sys.exit(f"mutate.py cannot change the folder '{room}': {LEFT_OUT.get(room, 'use ' + ', '.join(known))}")
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    tests, tree = Tests(work, arguments.compiler), work / "tree"
    chance, sound, tried, survivors, counts = random.Random(arguments.seed), set(), set(), [], Counter()
    while counts.total() < arguments.count:
        room = rooms[counts.total() % len(rooms)]
        if room not in sound and not arguments.no_baseline:
            result = tests.outcome(room, "", ROOT)
            if result != "SURVIVED":
                sys.exit(f"the tests of {room} fail, or do not compile, without any change: {result}")
            sound.add(room)
        header, number, kind, changed = draw(room, chance)
        name = header.relative_to(ROOT)
        if (name, number, changed) in tried:
            continue
        tried.add((name, number, changed))
        shutil.rmtree(tree, ignore_errors=True)
        for folder in ("include", "tools"):
            shutil.copytree(ROOT / folder, tree / folder)
        lines = header.read_text().splitlines(keepends=True)
        before, lines[number] = lines[number], changed
        (tree / name).write_text("".join(lines))
        if tests.drops(tree, name):
            continue
        result = tests.outcome(room, header.stem, tree)
        words = f"{name}:{number + 1} {kind}\n    - {before.strip()}\n    + {changed.strip()}"
        print(f"{result}: {words}", flush=True)
        if result != "does not compile":
            counts[room, result] += 1
        if result == "SURVIVED":
            survivors.append(words)
    for room in rooms:
        killed, survived = counts[room, "killed"], counts[room, "SURVIVED"]
        if killed + survived:
            print(f"{room}: {killed} of {killed + survived} killed")
    print(f"{counts.total() - len(survivors)} of {counts.total()} killed; survivors:\n" + "\n".join(survivors))


if __name__ == "__main__":
    main()
