#!/usr/bin/env bash
# gpu_soak.sh BUILD_FOLDER [LINES]: translates LINES lines (100,000) on a GPU, greedily and with a beam of 4, and checks that the memory of
# the program, on the GPU and on the host, does not grow after the first third. First build
#
#   cmake --preset cuda && cmake --build build/cuda --target wmt14_train translate
#
# Needs a GPU, nvidia-smi and python3; installs nothing. ATTN_DEVICE=cpu does the same on the CPU.
set -euo pipefail

examples=${1:-}/examples tools=${1:-}/tools lines=${2:-100000} device=${ATTN_DEVICE:-cuda}
[[ $# -ge 1 && -x $examples/wmt14_train && -x $tools/translate ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$examples/wmt14_train" --device "$device" --generated-pairs 4000 --epochs 1 --output "$folder/run" >"$folder/train.txt" 2>&1 ||
  { tail -n 5 "$folder/train.txt" >&2; exit 1; }
python3 - "$lines" >"$folder/lines" <<'PYTHON'
import random, sys
random.seed(1)
letters = "abcdefghijklmnopqrstuvwxyz"
for i in range(int(sys.argv[1])):
    words = 120 if i < 64 else random.randint(0, 30)  # the longest come first
    print(" ".join("".join(random.choices(letters, k=random.randint(1, 9))) for _ in range(words)))
PYTHON

python3 - "$device" "$tools/translate" "$folder" "$lines" <<'PYTHON'
import subprocess, sys, time
device, program, folder, lines = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def held(pid):
    """MiB on the host and on the GPU."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        host = int(file.read().split()[1]) * 4096 / 2**20
    if device == "cpu":
        return host, 0
    used = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True)
    return host, float(used.stdout.split()[0])


failed = 0
for search in ([], ["--beam", "4"]):
    started = time.time()
    out = f"{folder}/out"
    with open(out, "w", encoding="utf-8") as file:
        process = subprocess.Popen([program, f"{folder}/run", f"{folder}/lines", "--device", device, "--limit", "30", *search], stdout=file, stderr=subprocess.DEVNULL)
    samples = []
    while process.poll() is None:
        time.sleep(0.2)
        try:
            with open(out, "rb") as file:
                done = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
            samples.append((done, *held(process.pid)))
        except (OSError, ValueError, IndexError):
            break
    status = process.wait()
    with open(out, "rb") as file:
        written = file.read().count(b"\n")
    early = [s for s in samples if 0 < s[0] <= lines / 3]
    late = [s for s in samples if s[0] > lines / 3]
    name = " ".join(search) or "greedy"
    if status != 0 or written != lines or not early or not late:
        print(f"FAILED  {name}: status {status}, {written} of {lines} lines, {len(early)} and {len(late)} samples")
        failed += 1
        continue
    for what, at in (("host", 1), ("GPU", 2))[: 1 if device == "cpu" else 2]:
        before, after = max(s[at] for s in early), max(s[at] for s in late)
        good = after <= 1.01 * before + 1
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'}  {name}, {lines} lines in {time.time() - started:.0f} s, {what}: {before:.0f} MiB in the first third, {after:.0f} after it")
sys.exit(failed > 0)
PYTHON
