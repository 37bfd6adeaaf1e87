"""Ranks that meet in a folder, without MPI: file_ranks.py RANKS_PROGRAM FAILING_PROGRAM"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from checks import check, finish, program  # noqa: E402

failing = sys.argv[2]


def start(count, folder, *command):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ATTN_HANDSHAKE": str(folder), "ATTN_RANKS": str(count)}
    processes = [subprocess.Popen(command, env={**environment, "ATTN_RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for rank in range(count)]
    said = [process.communicate(timeout=120)[0] for process in processes]
    return [process.returncode for process in processes], said


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for turn in ("first", "second"):  # the second finds what the first has left
        status, said = start(3, folder / "same", program, "-tce=*longer than MPI*")
        check(status == [0, 0, 0], f"{turn} start: three ranks pass what ranks of MPI pass: {said}")
    left = sorted(file.name for file in (folder / "same").iterdir())
    check(len(left) <= 3 * 3, f"few files are left: {left}")
    for how, words in {"hangs": "rank 2 on", "dies": "rank 2 on", "throws": "cannot read /nowhere/text.en", "differs": "has version 0.1.0"}.items():
        if how == "hangs":  # the one that hangs in pause() is ended too, by its watch
            words = "has not answered for 2 s: all ranks end"
        status, said = start(3, folder / "same", failing, how)
        check(all(code != 0 for code in status) and words in said[0] and "nobody noticed" not in "".join(said), f"a rank that {how} ends all: {status} {said}")
    status, said = start(1, folder / "none", failing, "nothing")
    check(status == [0], f"one rank alone: {said}")
finish()
