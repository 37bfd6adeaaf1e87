"""What the tests of the example programs share: running the program that the command line names, and counting checks that fail."""
import subprocess
import sys

program = sys.argv[1]
failures = []


def check(condition, what):
    print("ok  " if condition else "FAIL", what, flush=True)
    if not condition:
        failures.append(what)


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def refused(what, *arguments, says):
    result = run(*arguments)
    output = result.stdout + result.stderr
    check(result.returncode != 0 and says in output, f"{what}: says '{says}'")
    if says not in output:
        print(output)


def finish():
    sys.exit(f"{len(failures)} checks failed" if failures else 0)
