# A plan as a launch script, and back.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$VRAM_LEDGER" estimate 'model=llama-3.1-70b&gpus=64&tp=8&pp=4&serve_gpus=8&kv=fp8' --format launch >"$folder/launch.sh"
grep -q -- '--tensor-model-parallel-size 8' "$folder/launch.sh"
grep -q 'vllm serve meta-llama/Llama-3.1-70B' "$folder/launch.sh"
sh -n "$folder/launch.sh"
[ "$("$VRAM_LEDGER" link --launch "$folder/launch.sh")" = 'v=1&model=llama-3.1-70b&gpus=64&tp=8&pp=4&kv=fp8&serve_gpus=8' ]

# Keys beside it count more; what no key says is said; what is no launch command has no answer.
printf 'vllm serve Qwen/Qwen3-8B -tp 2 --port 80\n' >"$folder/vllm.txt"
"$VRAM_LEDGER" link 'concurrency=8' --launch "$folder/vllm.txt" --serve-tp 4 2>"$folder/said" | grep -q 'serve_tp=4\|serve_gpus=4'
grep -q 'no key says --port 80' "$folder/said"
"$VRAM_LEDGER" link --launch - <"$folder/vllm.txt" 2>/dev/null | grep -q 'model=qwen3-8b'
echo hello >"$folder/hello.txt"
! "$VRAM_LEDGER" link --launch "$folder/hello.txt" 2>/dev/null

# A server's command is about serving: its bill comes first, and --check is about its verdict.
echo 'vllm serve meta-llama/Llama-3.1-8B' >"$folder/server.sh"
"$VRAM_LEDGER" estimate --launch "$folder/server.sh" --check >/dev/null
! "$VRAM_LEDGER" estimate --check >/dev/null
! "$VRAM_LEDGER" link --launch "$folder/missing" 2>/dev/null
