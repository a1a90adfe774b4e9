# Two plans side by side, in every format.
set -eu
here='model=llama-2-7b&gpus=8'
there='model=llama-2-7b&gpus=8&recompute=full'

for format in text json markdown csv; do
  "$VRAM_LEDGER" estimate "$here" --vs "$there" --format $format | grep -q 'Activations'
done
# The flag and the key are one thing.
[ "$("$VRAM_LEDGER" estimate "$here" --vs "$there")" = "$("$VRAM_LEDGER" estimate "$here&vs=model%3Dllama-2-7b%26gpus%3D8%26recompute%3Dfull")" ]
"$VRAM_LEDGER" estimate "$here" --vs "$there" --format csv | grep -q '^key,recompute,Recomputation,none,full,$'
"$VRAM_LEDGER" estimate "$here" --vs "$there" | grep -Eq '^recompute +none +full$'
"$VRAM_LEDGER" link "$here" --vs "$there" | grep -q '^v=1&model=llama-2-7b&gpus=8&vs=model%3Dllama-2-7b'
# An unknown second model is said, and the first plan answered.
"$VRAM_LEDGER" estimate "$here" --vs model=no-such 2>&1 >/dev/null | grep -q 'vs: model: '
