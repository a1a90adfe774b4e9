# The picture in the readme is what the program draws today: docs/bill.svg is made by the command below.
set -eu
"$VRAM_LEDGER" estimate 'model=llama-3.1-70b&gpus=64&tp=8&pp=4&seq=8192' --format svg | cmp - "$VRAM_SOURCE_DIR/docs/bill.svg"
