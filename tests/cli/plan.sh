# The layout search on the command line: every row's share string is a plan with the row's figures.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

answer() { "$VRAM_LEDGER" plan "$@" >"$folder/out"; }
holds() { grep -qF -- "$1" "$folder/out" || { echo "FAIL: '$1' not in: $(head -c 300 "$folder/out")"; exit 1; }; }

# Training: the contract's members, and --top
answer 'model=llama-3.1-8b&gpus=8&tokens=1e9&global_batch=64' --format json --top 2
holds '{"question":"fit","tried":'
holds '"layouts":[{"share":"v=1&gpus=8&'
for member in device_bytes verdict mfu days usd fell_out limits switches; do holds "\"$member\":"; done
[ "$(grep -o '"share":' "$folder/out" | wc -l)" -eq 2 ]

# A row's share string gives its figures again
answer 'model=llama-3.1-8b&gpus=8&tokens=1e9&global_batch=64' --format csv --top 1
row=$(tail -n 1 "$folder/out")
bytes=$(echo "$row" | cut -d, -f3)
share=$(echo "$row" | cut -d, -f10)
"$VRAM_LEDGER" estimate "$share" --format json | grep -q "\"device_bytes\":$bytes,"

# Serving
answer 'model=llama-3.1-70b&question=replicas&qps=20&tpot=0.05' --format json
holds '"deployments":[{"share":"v=1&model=llama-3.1-70b&'

# For people
answer 'model=llama-3.1-70b' --question fewest-gpus
holds 'Fewest GPUs: 24 × '
holds 'What each switch is worth'
answer 'model=llama-3.1-405b&gpus=8'
holds 'No layout fits: the nearest lacks '
answer 'model=llama-3.1-8b&gpus=8' --format markdown
holds '| layout |'

# No answer
status=0
"$VRAM_LEDGER" plan 'model=no-such-model' >"$folder/out" 2>"$folder/err" || status=$?
[ "$status" -eq 2 ] && [ ! -s "$folder/out" ] && grep -q '^vram-ledger: ' "$folder/err"
status=0
"$VRAM_LEDGER" plan 'model=llama-3.1-8b' --top none >"$folder/out" 2>"$folder/err" || status=$?
[ "$status" -eq 2 ] && grep -q 'top' "$folder/err"
