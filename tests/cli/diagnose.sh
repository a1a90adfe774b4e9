# A log beside a plan: what is printed, and with which exit status.
set -u
faults=0
fail() {
  echo "FAIL: $1"
  faults=$((faults + 1))
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out
cat >"$folder/log" <<'END'
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which
1.00 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 66.00 GiB
is allocated by PyTorch, and 11.00 GiB is reserved by PyTorch but unallocated.
END
plan='model=llama-3.1-8b&gpus=8&framework=fsdp&micro_batch=2&seq=8192'

run() {
  "$VRAM_LEDGER" diagnose "$@" >"$out" 2>"$folder/err"
}
holds() { grep -qF -- "$1" "$out" || fail "'$1' not in: $(head -c 400 "$out")"; }

run "$plan" --log "$folder/log" || fail 'text'
holds 'Fragmentation'
holds 'BESIDE THE BILL'
holds 'allocator=expandable'

run "$plan" --log "$folder/log" --format json || fail 'json'
holds '"what":"tried_bytes","bytes":3221225472,"printed":"3.00 GiB"'
holds '"measured":{"allocated_bytes":70866960384,"reserved_bytes":82678120448,'
holds '"symptom":"fragmentation"'

run "$plan" --log "$folder/log" --format markdown || fail 'markdown'
holds '## What was read'

run "$plan" --log - --format json <"$folder/log" || fail 'standard input'
holds '"tried_bytes"'

run "$plan&measured_allocated=30" || fail 'measured keys alone'
holds 'shifts the estimate'

head -c 100000 /dev/zero | run "$plan" --log - || fail 'zeros'
holds 'No figure of memory was found'

run "$plan" --log "$folder/none" && fail 'a file that is not there'
grep -q '^vram-ledger: cannot read' "$folder/err" || fail 'no reason given'

exit "$faults"
