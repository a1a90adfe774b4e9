# docs/KEYS.md is what the field table says.
set -eu
"$VRAM_LEDGER" keys --format markdown | diff -u docs/KEYS.md - || {
  echo 'Run: vram-ledger keys --format markdown > docs/KEYS.md'
  exit 1
}

# Help fits a terminal
widest=$("$VRAM_LEDGER" --help | LC_ALL=C.UTF-8 awk '{ if (length($0) > widest) widest = length($0) } END { print widest }')
[ "$widest" -le 90 ]
