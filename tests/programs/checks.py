"""What the tests of the example programs share: running the program that the command line names, and counting checks that fail."""
import os
import re
import subprocess
import sys
from pathlib import Path

program = sys.argv[1]
failures, skipped = [], []


def check(condition, what):
    print("ok  " if condition else "FAIL", what, flush=True)
    if not condition:
        failures.append(what)


def skip(why):
    """What cannot be checked here: a test that passes otherwise ends with 77, which ctest counts as skipped."""
    print(f"skipped: {why}", flush=True)
    skipped.append(why)


def last_of_each(*arguments):
    """Arguments in which an option replaces an earlier one of the same name: programs refuse an option that is given twice."""
    groups = []
    for word in map(str, arguments):
        if word.startswith("--") or not groups:
            groups.append([])
        groups[-1].append(word)
    last = {group[0]: i for i, group in enumerate(groups)}
    return [word for i, group in enumerate(groups) if last[group[0]] == i for word in group]


def run(*arguments):
    return subprocess.run([program, *last_of_each(*arguments)], capture_output=True, text=True)


def refused(what, *arguments, says):
    result = run(*arguments)
    output = result.stdout + result.stderr
    check(result.returncode != 0 and says in output, f"{what}: prints '{says}'")
    if says not in output:
        print(output)


def check_full(what, *arguments, text=""):
    """Where standard output is full the program does not end well, and says what it could not write."""
    if not os.path.exists("/dev/full"):
        return skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        result = subprocess.run([program, *last_of_each(*arguments)], input=text, stdout=full, stderr=subprocess.PIPE, text=True)
    said = f"cannot write {what} to standard output. Is the disk full?"
    check(result.returncode == 1 and result.stderr.count(said) == 1, f"on a full disk: status {result.returncode} and '{said}'")
    if said not in result.stderr:
        print(result.stderr)


def check_status(status, *arguments):
    """The program ends so, and the page of its command line says that one may."""
    page = (Path(__file__).resolve().parents[2] / "docs/reference/run.md").read_text()
    meaning = re.search(rf"^\| {status} \| (.*) \|$", page, re.M)
    ended = run(*arguments).returncode
    check(meaning and ended == status, f"{' '.join(map(str, arguments))} exits with {ended}: {meaning and meaning.group(1)}")


def check_help():
    """--help and every topic that it lists, if any, fit a screen, and together they have every option that there is."""
    overview = run("--help").stdout
    topics = [line.split()[0] for line in overview.partition("\nTopics")[2].splitlines()[1:]]
    pages = {topic: run("--help", topic).stdout for topic in topics}
    for name, page in {"--help": overview, **pages}.items():
        lines = page.splitlines()
        check(0 < len(lines) <= 24 and max(map(len, lines)) <= 100, f"{name} fits a screen: {len(lines)} lines of up to {max(map(len, lines))}")
    options = [re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M) for text in (run("--help", "all").stdout, "".join(pages.values()))]
    check(not topics or options[0] and sorted(options[0]) == sorted(options[1]),
          f"the topics list all {len(options[0])} options exactly once")
    check_full("the help", "--help")
    check_full("the version", "--version")
    refused("an unknown topic", "--help", "nonsense", says="unknown help topic 'nonsense'")
    return overview


def finish():
    sys.exit(f"{len(failures)} checks failed" if failures else 77 if skipped else 0)
