"""Ranks that meet in a folder, without MPI: file_ranks.py RANKS_PROGRAM FAILING_PROGRAM"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "programs"))
from checks import check, finish, program  # noqa: E402

failing = sys.argv[2]


def begin(count, folder, *command, **more):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ATTN_HANDSHAKE": str(folder), "ATTN_RANKS": str(count), **more}
    return [subprocess.Popen(command, env={**environment, "ATTN_RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for rank in range(count)]


def end(processes):
    said = [process.communicate(timeout=120)[0] for process in processes]
    return [process.returncode for process in processes], said


def start(*arguments, **more):
    return end(begin(*arguments, **more))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for turn in ("first", "second"):  # the second finds what the first has left
        status, said = start(3, folder / "same", program, "-tce=*longer than MPI*")
        check(status == [0, 0, 0], f"{turn} start: three ranks pass the tests of MPI ranks: {said}")
    left = sorted(file.name for file in (folder / "same").iterdir())
    check(len(left) <= 3 * 4, f"at most four files per rank remain: {left}")
    for how, words in {"hangs": "rank 2 on", "dies": "rank 2 on", "throws": "cannot read /nowhere/text.en", "differs": "has version 0.1.0"}.items():
        if how == "hangs":  # the one that hangs in pause() is ended too, by its watch
            words = "has not answered for 2 s. All ranks end"
        status, said = start(3, folder / "same", failing, how)
        check(all(code != 0 for code in status) and words in said[0] and "nobody noticed" not in "".join(said),
              f"all ranks end if one {how}: {status} {said}")
    for how, number in {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}.items():
        began = time.monotonic()
        processes = begin(3, folder / "same", failing, how)
        status, said = end(processes[:2])
        named = "rank 2 on " in said[1] and "sent no heartbeat for 1 s" in said[1] and "start all ranks again" in said[1]
        check(status == [1, 1] and named and "rank 0 ends: rank 1 on " in said[0] and time.monotonic() - began < 20,
              f"the remaining ranks end if one is {how} even if none waits for it: {status} {said}")
        if how == "stopped":
            check(processes[2].poll() is None, "the rank is still stopped")
            processes[2].send_signal(signal.SIGCONT)
        status, said = end(processes[2:])
        check(status == [-number if how == "killed" else 1], f"the {how} rank ends too: {status} {said}")
    quick = {"ATTN_HEARTBEAT_TIMEOUT": "3"}
    for command in [failing, "stuck"], [program, "--no-skip", "-tc=a rank sleeps in a step"]:
        began = time.monotonic()
        status, said = start(3, folder / "same", *command, **quick)
        named = "rank 2 on " in said[1] and "has made no progress for " in said[1] and "start all ranks again" in said[1]
        check(status == [1, 1, 1] and named and all("ends: rank 1 on " in said[other] for other in (0, 2)) and time.monotonic() - began < 25,
              f"all ranks end if one hangs in a step although its heartbeat continues: {command} {status} {said}")
    status, said = start(3, folder / "same", program, "--no-skip", "-tc=a rank pauses between two steps", **quick)
    check(status == [0, 0, 0] and "1 passed" in said[0], f"a long pause between two steps ends no rank: {status} {said}")
    status, said = start(3, folder / "same", failing, "leaves")
    check(status == [0, 0, 0], f"a rank that has finished is not reported as missing: {status} {said}")
    status, said = start(1, folder / "none", failing, "nothing")
    check(status == [0], f"a single rank runs alone: {said}")
finish()
