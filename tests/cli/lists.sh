# The presets as tables and as JSON.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for command in models gpus; do
  for format in text json markdown csv; do
    "$VRAM_LEDGER" $command --format $format >"$folder/$command.$format"
    [ -s "$folder/$command.$format" ]
  done
  [ "$(wc -l <"$folder/$command.json")" -eq 1 ]
done

grep -q '{"id":"llama-2-7b","name":"Llama 2 7B","parameters":6738415616,"active_parameters":6738415616,"kv_bytes_per_token":524288' \
  "$folder/models.json"
grep -q '{"id":"h100-sxm5-80gb","name":"[^"]*","vendor":"NVIDIA","memory_bytes":85520809984' "$folder/gpus.json"

# A row for every file of presets/, and one for the heading
[ "$(wc -l <"$folder/models.csv")" -eq $(($(ls presets/models/*.json | wc -l) + 1)) ]
[ "$(wc -l <"$folder/gpus.csv")" -eq $(($(ls presets/hardware/*.json | wc -l) + 1)) ]
