#!/usr/bin/env bash
# gpu_parallel.sh BUILD_FOLDER: tests training on several processes, on a machine with one GPU. First build
#
#   cmake --preset cuda -DATTN_NCCL=ON && cmake --build build/cuda --target wmt14_train kernel_trace
#
# Checks that NCCL with one rank gives the same bits as training without ranks, and that two and four ranks sharing the GPU through
# MPI learn the same as one rank with accumulation. Times a step of the base model with sums during and after the backward pass, and
# traces the kernels that overlap with them. About two minutes on an H200. Needs a GPU, mpirun and python3; installs nothing.
set -euo pipefail

program=${1:-}/examples/wmt14_train
trace=${1:-}/benchmarks/libkernel_trace.so
[[ $# == 1 && -x $program && -f $trace ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for tool in mpirun python3; do
  command -v "$tool" >/dev/null || { echo "gpu_parallel.sh needs $tool" >&2; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=2 OMPI_MCA_btl_vader_single_copy_mechanism=none  # containers may not read each other's memory
failures=0

# says OK WHAT: prints the result of a check
says() {
  if (($1)); then echo "ok      $2"; else echo "FAILED  $2"; failures=$((failures + 1)); fi
}

# train NAME RANKS OPTIONS...: trains in the folder NAME
train() {
  local name=$1 ranks=$2 start=() status=0
  shift 2
  mkdir -p "$folder/$name"
  if ((ranks > 0)); then start=(mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$ranks"); fi
  timeout 60 "${start[@]}" "$program" --device cuda --output "$folder/$name" "$@" >"$folder/$name.txt" 2>&1 || status=$?
  if ((status)) && [[ $name != refused ]]; then
    echo "FAILED  $name ended with $status:"
    grep "wmt14_train:" "$folder/$name.txt" || tail -n 5 "$folder/$name.txt"
    failures=$((failures + 1))
  fi
}

# of NAME WHAT: prints its validation losses, its communicator, the median tokens/s, or the median share of communication in per cent
of() {
  python3 - "$folder/$1/log.jsonl" "$2" <<'PYTHON'
import json, statistics, sys
try:
    events = [json.loads(line) for line in open(sys.argv[1])]
except OSError:
    events = []
found = {kind: [e for e in events if e["event"] == kind] for kind in ("start", "step", "validation")}
steps = found["step"][3:] or found["step"]  # the first steps allocate memory
if sys.argv[2] == "losses":
    print(*(e["loss"] for e in found["validation"]))
elif sys.argv[2] == "communicator":
    print(found["start"][0].get("communicator", "") if found["start"] else "none")
elif sys.argv[2] == "tokens":
    print(round(statistics.median(e["tokens_per_second"] for e in steps)) if steps else 0)
else:
    print(round(100 * statistics.median(e.get("communicating", 0) for e in steps), 2) if steps else 0)
PYTHON
}

# near A B: whether two lists of losses have the same length and agree within 0.1 %
near() {
  python3 -c '
import sys
a, b = ([float(x) for x in words.split()] for words in sys.argv[1:])
print(int(len(a) == len(b) > 0 and all(abs(x - y) < 1e-3 * y for x, y in zip(a, b))))' "$1" "$2"
}

tiny=(--generated-pairs 2000 --epochs 2 --validate-every 0 --warmup 100 --rate 3e-4 --batch 32 --batch-unit sentences --vocabulary 400 --limit 20 --precision float)

# ---- One rank: NCCL changes no bits ----

train alone 0 "${tiny[@]}"
train nccl 1 "${tiny[@]}" --sums nccl
says "$([[ $(of nccl communicator) == NCCL ]] && echo 1 || echo 0)" "NCCL sums with one rank ($(of nccl communicator))"
for file in model.safetensors training.safetensors; do
  says "$(cmp -s "$folder/alone/$file" "$folder/nccl/$file" && echo 1 || echo 0)" "NCCL with one rank gives the bits of a training without ranks: $file"
done

# ---- Several ranks on one GPU ----

for ranks in 2 4; do
  train "accumulates$ranks" 0 "${tiny[@]}" --accumulate "$ranks"
  train "mpi$ranks" "$ranks" "${tiny[@]}"
  a=$(of "accumulates$ranks" losses) b=$(of "mpi$ranks" losses)
  says "$(near "$a" "$b")" "$ranks ranks by $(of "mpi$ranks" communicator) learn what one learns that accumulates: losses $b, and $a"
done
train sharded 2 "${tiny[@]}" --shard-optimiser
says "$(near "$(of accumulates2 losses)" "$(of sharded losses)")" "so do 2 ranks with a part of the optimiser's state each: $(of sharded losses)"
train refused 2 "${tiny[@]}" --sums nccl
says "$(grep -q 'has the GPU of rank 0: NCCL needs one GPU per rank' "$folder/refused.txt" && echo 1 || echo 0)" "NCCL rejects two ranks on one GPU with a message"

# ---- A step of the base model ----

base=(--size base --batch 24576 --batch-unit tokens --epochs 3 --validate-every 0 --limit 20)
train base_alone 0 "${base[@]}"
train base_nccl 1 "${base[@]}" --sums nccl
train base_after 1 "${base[@]}" --sums nccl --sums-after
train base_host 2 "${base[@]}" --sums host
for name in base_alone base_nccl base_after base_host; do
  echo "        $name: $(of $name tokens) tokens/s, $(of $name share) % of the time in communication"
done
says "$(python3 -c "print(int($(of base_nccl tokens) > 0.95 * $(of base_alone tokens)))")" "with NCCL and overlap, one rank is at most 5 % slower than alone"
says "$(python3 -c "print(int($(of base_nccl tokens) > 0.97 * $(of base_after tokens)))")" "sums in the backward pass are not slower than sums after it"

# ---- Kernels that overlap with gradient sums through the host ----

# watch NAME OPTIONS...: traces a training on two ranks
watch() {
  local name=$1
  shift
  CUDA_INJECTION64_PATH=$(realpath "$trace") ATTN_TRACE=$folder/$name.tsv train "$name" 2 --size base --batch 24576 --batch-unit tokens \
    --epochs 1 --validate-every 0 --limit 20 --sums host "$@"
}
# overlap NAME: the share of the sums' copy time that overlaps with kernels of the same process, in per cent
overlap() {
  python3 "$(dirname "$0")/../benchmarks/overlap.py" "$folder/$1.tsv" | sed -n 's/.* ms, \([0-9.]*\) % of them while.*/\1/p' | head -n 1
}
watch trace_during
watch trace_after --sums-after
during=$(overlap trace_during || true) after=$(overlap trace_after || true)
says "$(python3 -c "print(int(${during:-0} > ${after:-100} + 5))")" "kernels run in ${during:-0} % of the time in which gradients are added up in the backward pass, in ${after:-100} % where sums come after it"

echo "$failures failed, $SECONDS s"
((failures == 0))
