"""Runs wmt14_train on several processes of this machine: wmt14_train.py PROGRAM MPIRUN... The command before -n is given."""
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "programs"))
from checks import check, finish, last_of_each, program  # noqa: E402

mpirun = sys.argv[2:]
tiny = ["--generated-pairs", "300", "--epochs", "3", "--validate-every", "0", "--warmup", "10", "--batch", "32", "--vocabulary", "400", "--limit", "20",
        "--device", "cpu", "--threads", "1"]


def train(ranks, *options):
    start = [*mpirun, "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*start, program, *last_of_each(*tiny, *options)], capture_output=True, text=True, timeout=300)


def events(folder, kind):
    found = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [event for event in found if event["event"] == kind]


def losses(folder):
    return [event["loss"] for event in events(folder, "validation")]


def ranks_in(folder):
    found = subprocess.run(["pgrep", "-f", f"^{program} .*{folder}"], capture_output=True, text=True).stdout
    return [int(pid) for pid in found.split()]


def runs(pid):
    """A process that ends has no command line any more while any of its threads still holds its files; a zombie holds none."""
    def holds(thread):
        try:
            return (thread / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False
    try:
        return any(map(holds, Path(f"/proc/{pid}/task").iterdir()))
    except OSError:
        return False


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-3 * y for x, y in zip(a, b))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    alone = train(1, "--accumulate", 2, "--output", folder / "alone")
    check(alone.returncode == 0, "one process trains")
    both = train(2, "--output", folder / "both")
    print(both.stdout, both.stderr)
    check(both.returncode == 0, "two processes train")
    check("on 2 ranks" in both.stdout and both.stdout.count("BLEU = ") == 1, "only one rank prints")
    check(near(losses(folder / "both"), losses(folder / "alone")),
          f"losses equal those of one process with accumulation: {losses(folder / 'both')} {losses(folder / 'alone')}")
    check(events(folder / "both", "start")[0]["ranks"] == 2 and "communicating" in events(folder / "both", "step")[1],
          "the log has the number of ranks and the share of communication")
    check([events(folder / name, "start")[0]["communicator"] for name in ("alone", "both")] == ["alone", "MPI"],
          "the log names the communicator")
    refused = train(1, "--sums", "nccl", "--output", folder / "refused")
    check(refused.returncode != 0 and "--sums nccl requires a GPU" in refused.stderr,
          f"--sums nccl is rejected on the CPU: {refused.stderr}")
    check([e["tokens"] for e in events(folder / "both", "step")] == [e["tokens"] for e in events(folder / "alone", "step")],
          "progress counts the tokens of all ranks")
    check(len((folder / "both/translations.txt").read_text().splitlines()) == 500, "the ranks share the test translation")
    again = train(2, "--shard-optimiser", "--output", folder / "sharded")
    check(again.returncode == 0 and near(losses(folder / "sharded"), losses(folder / "alone")), "a sharded optimiser gives the same losses")

    # More ranks than there are batches in the last step, and another number of ranks to go on with.
    first = train(4, "--epochs", 1, "--output", folder / "changed")
    check(first.returncode == 0, "four processes train one epoch")
    second = train(2, "--epochs", 3, "--accumulate", 1, "--resume", "--output", folder / "changed")
    check(second.returncode == 0 and len(losses(folder / "changed")) == 3, f"two processes resume the run of four: {second.stderr}")

    # A rank that is killed ends all; what was saved is whole.
    process = subprocess.Popen([*mpirun, "-n", "2", program, *last_of_each(*tiny, "--epochs", 500, "--output", folder / "killed")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 120
    while not (folder / "killed/training.safetensors").exists() and time.time() < deadline:
        time.sleep(0.2)
    ranks = ranks_in(folder / "killed")
    check(len(ranks) == 2, f"two ranks run: {ranks}")
    subprocess.run(["kill", "-KILL", str(max(ranks, default=0))])
    said = process.communicate(timeout=60)[1]
    check(process.returncode != 0 and "signal 9" in said, f"all ranks end if one is killed: {said}")
    deadline = time.time() + 30
    while any(map(runs, ranks)) and time.time() < deadline:
        time.sleep(0.2)
    check(not any(map(runs, ranks)), "no rank keeps running")
    resumed = train(1, "--epochs", 500, "--patience", 1, "--resume", "--output", folder / "killed")
    check(resumed.returncode == 0, f"the checkpoint of the killed run is complete: {resumed.stderr}")

    # A signal at one rank stops all of them, with a checkpoint.
    process = subprocess.Popen([*mpirun, "-n", "2", program, *last_of_each(*tiny, "--epochs", 500, "--output", folder / "stopped")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not (folder / "stopped/training.safetensors").exists() and time.time() < deadline + 120:
        time.sleep(0.2)
    ranks = ranks_in(folder / "stopped")
    subprocess.run(["kill", f"-{signal.SIGTERM.value}", str(max(ranks, default=0))])
    out, said = process.communicate(timeout=60)
    check(process.returncode == 128 + signal.SIGTERM and "stopped. Continue with" in out,
          f"a signal at one rank stops all ranks with its status: {process.returncode} {out[-300:]} {said[-300:]}")

    # What is wrong is said once, and ends all.
    wrong = train(2, "--train-source", folder / "nowhere.en", "--train-target", folder / "nowhere.de", "--output", folder / "wrong")
    check(wrong.returncode != 0 and "nowhere.en" in wrong.stderr, f"a missing file is an error: {wrong.stderr}")
finish()
