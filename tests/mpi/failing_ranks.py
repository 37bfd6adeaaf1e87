"""failing_ranks.py HOW PROGRAM MPIRUN...: the last of three ranks fails, and the others must end, and say why.

Checks the exit status, what is said, that it takes no longer than the watch of 2 s and some seconds, and that no rank is left."""
import os
import re
import signal
import subprocess
import sys
import time

how, program, mpirun = sys.argv[1], sys.argv[2], sys.argv[3:]
SILENT = r"rank 2 on [^:]* has not answered for 2 s\. All ranks end"
RUNS = {  # options of mpirun, exit status, words
    "hangs": [([], 1, SILENT)],
    # mpirun ends the others, or leaves them alone: then they have to notice. Open MPI 4.1 ends with 0 after such a recovery.
    "dies": [([], 128 + signal.SIGKILL, ""), (["--enable-recovery"], None, SILENT)],
    "throws": [([], 1, r"rank 2 on [^:]*: cannot read /nowhere/text\.en")],
    "differs": [([], 1, r"rank 2 on [^:]* has version 0\.1\.0, rank 0 on ")],
}


def failures(options, status, words):
    began = time.monotonic()
    done = subprocess.run([*mpirun, *options, "-n", "3", program, how], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    took = time.monotonic() - began
    print(done.stdout)
    if status is not None and done.returncode != status:
        yield f"the exit status is {done.returncode}, not {status}"
    if not re.search(words, done.stdout):
        yield f"nobody says '{words}'"
    if "nobody noticed" in done.stdout:
        yield "a rank went on without the one that failed"
    if took > 30:
        yield f"it took {took:.0f} s"
    processes = [int(number) for number in re.findall(r"^process (\d+)$", done.stdout, re.M)]
    if len(processes) != 3:
        yield f"{len(processes)} of 3 ranks started"
    deadline = time.monotonic() + 5
    while left := [process for process in processes if os.path.exists(f"/proc/{process}")]:
        if time.monotonic() > deadline:
            yield f"processes {left} are left"
            break
        time.sleep(0.1)


wrong = [failure for run in RUNS[how] for failure in failures(*run)]
sys.exit("\n".join(wrong) if wrong else 0)
