#!/usr/bin/env bash
# large_corpus.sh [MB] [STEPS] [FOLDER]: trains a small model for STEPS steps (300) on MB megabytes of shards (5000) and
# prints the memory use. Makes shards from a twentieth of their size in text, and copies them, in FOLDER
# (build/large_corpus), which must not exist and is removed at the end. Both programs run on one core, with private memory
# limited to a fifth of the shards' size. PROGRAMS: folder of the programs (build/cpu).
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=${1:-5000} steps=${2:-300} folder=${3:-build/large_corpus} programs=${PROGRAMS:-build/cpu}
[[ $megabytes =~ ^[0-9]+$ && $steps =~ ^[0-9]+$ ]] || { echo "large_corpus.sh: megabytes and steps are whole numbers" >&2; exit 2; }
[[ -x $programs/tools/tokenize && -x $programs/examples/wmt14_train ]] || { echo "large_corpus.sh: no tokenize and wmt14_train in $programs" >&2; exit 2; }
[[ ! -e $folder ]] || { echo "large_corpus.sh: $folder already exists" >&2; exit 2; }
mkdir -p "$folder"
trap 'rm -rf "$folder"' EXIT

# Sentences of 5 to 45 words from 20,000 words. A number in each makes all pairs distinct. Words translate one by one.
python3 - "$((megabytes / 20))" "$folder" <<'PYTHON'
import random, sys
random.seed(1)
syllables = [a + b for a in "bdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en", "ost")]
words = ["".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(20000)]
lines = [random.choices(range(20000), k=random.randint(5, 45)) for _ in range(100000)]
source = [" ".join(words[word] for word in line) for line in lines]
target = [" ".join(words[-word] for word in line) for line in lines]
left = int(sys.argv[1]) * 1000000
with open(sys.argv[2] + "/a.en", "w") as en, open(sys.argv[2] + "/a.de", "w") as de:
    number = 0
    while left > 0:
        for file, side in ((en, source), (de, target)):
            text = "".join(f"{number} {line}\n" for line in side)
            left -= file.write(text)
        number += 1
with open(sys.argv[2] + "/v.en", "w") as en, open(sys.argv[2] + "/v.de", "w") as de:
    en.write("".join(f"{line}\n" for line in source[:200]))
    de.write("".join(f"{line}\n" for line in target[:200]))
PYTHON

# watch NAME UNTIL COMMAND...: runs a command under the limit until it ends or logs step UNTIL, and prints its peak memory.
watch() {
  local name=$1 until=$2 own=0 files=0 anon file ended=0
  shift 2
  local start=$SECONDS
  (ulimit -d $((megabytes * 1000000 / 5 / 1024)) && exec "$@") >"$folder/$name.txt" 2>&1 &
  local process=$!
  while [[ -e /proc/$process/status ]] && kill -0 $process 2>/dev/null; do
    anon=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' /proc/$process/status 2>/dev/null || true)
    file=$(sed -n 's/^RssFile:[^0-9]*\([0-9]*\).*/\1/p' /proc/$process/status 2>/dev/null || true)
    ((${anon:-0} <= own)) || own=$anon
    ((${file:-0} <= files)) || files=$file
    if ((until > 0 && ended == 0)) && (($(last_step) >= until)); then kill -TERM $process && ended=1; fi
    sleep 0.2
  done
  local status=0
  wait $process || status=$?
  ((status == (until > 0 ? 143 : 0))) || { tail -20 "$folder/$name.txt" >&2; echo "large_corpus.sh: $name ended with $status" >&2; exit 1; }
  echo "$name: $((SECONDS - start)) s, at most $((own * 1024 / 1000000)) MB of its own under a limit of $((megabytes / 5)); up to $((files * 1024 / 1000000)) MB of mapped files"
}
last_step() { sed -n 's/.*"event":"step".*"step":\([0-9]*\).*/\1/p' "$folder/run/log.jsonl" 2>/dev/null | tail -1 | grep . || echo 0; }

echo "text: $(($(stat -c %s "$folder/a.en") + $(stat -c %s "$folder/a.de"))) bytes, $(wc -l <"$folder/a.en") pairs"
watch tokenize 0 "$programs/tools/tokenize" "$folder/shards" --source "$folder/a.en" --target "$folder/a.de" --vocabulary 4000 --threads 1
python3 - "$megabytes" "$folder/shards" <<'PYTHON'
import json, os, shutil, sys
least, folder = int(sys.argv[1]) * 1000000, sys.argv[2]
with open(folder + "/corpus.json") as file:
    card = json.load(file)
made, size, count = card["shards"], sum(os.path.getsize(f"{folder}/{name}") for name in card["shards"]), 1
copied = size
while copied < least:
    for name in made:
        shutil.copy(f"{folder}/{name}", f"{folder}/{count}-{name}")
        card["shards"] = card["shards"] + [f"{count}-{name}"]
    copied += size
    count += 1
card["pairs"] *= count
with open(folder + "/corpus.json", "w") as file:
    json.dump(card, file)
print(f"shards: {copied} bytes, {card['pairs']} pairs")
PYTHON
watch wmt14_train "$steps" "$programs/examples/wmt14_train" --shards "$folder/shards" --valid-source "$folder/v.en" --valid-target "$folder/v.de" \
  --size small --batch 4096 --batch-unit tokens --epochs 1 --validate-every 100 --device cpu --threads 1 --output "$folder/run"
echo "training: $(last_step) steps; $(grep -o '"event":"validation".*' "$folder/run/log.jsonl" | sed 's/.*"loss":\([0-9.]*\).*/validation loss \1/' | tail -1)"
