# What the command line answers, and with which exit status.
set -u
faults=0

# expect STATUS ARGUMENTS...: also checks that a refusal is explained on standard error, and prints nothing.
expect() {
  wanted=$1
  shift
  "$VRAM_LEDGER" "$@" >"$out" 2>"$err" </dev/null
  status=$?
  if [ "$status" -ne "$wanted" ]; then
    echo "FAIL: status $status instead of $wanted: vram-ledger $*"
    faults=$((faults + 1))
  fi
  if [ "$wanted" -eq 2 ] && ! grep -q '^vram-ledger: ' "$err"; then
    echo "FAIL: no reason on standard error: vram-ledger $*"
    faults=$((faults + 1))
  fi
}
printed() { [ -s "$out" ] || { echo "FAIL: nothing printed: $*"; faults=$((faults + 1)); }; }
silent() { [ ! -s "$out" ] || { echo "FAIL: printed: $(head -c 200 "$out")"; faults=$((faults + 1)); }; }
said() { grep -qF -- "$1" "$err" || { echo "FAIL: '$1' not in: $(cat "$err")"; faults=$((faults + 1)); }; }
holds() { grep -qF -- "$1" "$out" || { echo "FAIL: '$1' not in: $(head -c 300 "$out")"; faults=$((faults + 1)); }; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out err=$folder/err

# Answered
expect 0 estimate
printed
expect 0 estimate 'model=llama-2-7b&framework=ddp'
holds 'Does not fit'
for format in text json markdown csv; do
  expect 0 estimate 'v=1&model=llama-2-7b' --format "$format"
  printed "$format"
done
expect 0 estimate 'https://example.org/?a=b#v=1&model=llama-2-7b' --format json
holds '"id":"llama-2-7b"'
expect 0 estimate '#model=llama-2-7b' --gpus 4 --grad-dtype=bf16 --format json
holds '"share":"v=1&model=llama-2-7b&gpus=4&grad_dtype=bf16"'
expect 0 estimate 'model=llama-2-7b&gpus=2' --gpus 8 --format json
holds '"gpus":8'
holds '"messages":[]'

expect 0 estimate 'model=llama-2-7b&gpus=4&pp=4' --timeline --format json
holds '"timeline":[{"t":0,"stage":0,"event":"forward","micro_batch":0,"layer":0,"allocated_bytes":'
expect 0 estimate 'model=llama-2-7b' --timeline
holds 'Allocated along a training step'
expect 0 estimate 'model=llama-2-7b&gpus=3&tp=2' --timeline --format json
expect 2 estimate --timeline --format csv

# Faults of a share string are messages: an answer all the same
expect 0 estimate 'model=llama-2-7b&tp=abc&zzz=1' --format json
said "tp: 'abc'"
said 'zzz'
holds '"key":"tp"'

# No answer
for unset in 'model=' 'gpu=' 'model=llama-2-7b&model='; do
  expect 2 estimate "$unset"
  said "''"
done
expect 2 diagnose 'model=nope' --format json
holds '"messages":[{"key":"model","given":"nope"'
expect 2 estimate --vs model=nope
said "vs: model: 'nope'"
if [ -c /dev/full ]; then
  "$VRAM_LEDGER" estimate >/dev/full 2>"$err"
  [ $? -eq 2 ] && grep -q 'standard output' "$err" || { echo 'FAIL: a lost report'; faults=$((faults + 1)); }
fi
expect 2
silent
expect 2 frobnicate
silent
expect 2 estimat
said 'estimate'
expect 2 estimate --modle llama-2-7b
said 'did you mean model'
silent
expect 2 estimate --gpus
expect 2 estimate --format xml
expect 2 estimate one two
expect 2 estimate model=no-such-model
silent
expect 2 estimate gpu=no-such-gpu --format json
holds '{"messages":[{"key":"gpu"'
expect 2 estimate --config "$folder/missing.json"
expect 2 batch "$folder/missing.txt"
expect 2 batch
expect 2 link model=no-such-model
expect 2 models --gpus 2

# --check: the verdict of the view
exceeds='model=llama-2-7b&framework=ddp'
fits='model=llama-2-7b&framework=fsdp&gpus=4&recompute=full'
expect 0 estimate "$exceeds"
expect 1 estimate "$exceeds" --check
printed
expect 0 estimate "$fits" --check
expect 0 estimate "$fits" --check=tight
expect 1 estimate 'model=llama-2-7b&gpus=7&tp=2' --check
expect 0 estimate "$exceeds&view=serve" --check
expect 1 estimate 'layers=0&view=serve' --check  # without weights nothing is promised
expect 1 estimate 'model=llama-2-7b&view=serve&concurrency=1000000' --check
expect 0 estimate 'model=custom&params=1e9' --check
expect 1 estimate 'model=custom&params=1e9' --check=tight
expect 2 estimate "$exceeds" --check=loose

# Link, help, version
expect 0 link 'theme=dark&gpus=4&model=llama-2-7b&gpu=h100-sxm5-80gb'
holds 'v=1&model=llama-2-7b&gpus=4&theme=dark'
expect 0 --help
holds '--grad-dtype'
expect 0 estimate --help
expect 0 --version
holds 'vram-ledger '

# Batch: a report a line, in order, faults by their line
printf 'model=llama-2-7b\r\n\n  model=llama-3.1-8b&tp=x\nmodel=no-such-model' >"$folder/plans.txt"
expect 2 batch "$folder/plans.txt" --format json
[ "$(wc -l <"$out")" -eq 3 ] || { echo "FAIL: batch wrote $(wc -l <"$out") lines"; faults=$((faults + 1)); }
said 'line 3: tp'
said 'line 4: '
printf 'model=llama-2-7b\n' | "$VRAM_LEDGER" batch - --format json | grep -q '"id":"llama-2-7b"' || {
  echo 'FAIL: batch from standard input'
  faults=$((faults + 1))
}

[ "$faults" -eq 0 ]
