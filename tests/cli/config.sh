# A config.json as downloaded, and its share string, give the same report.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/config.json" <<'JSON'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
 "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4, "max_position_embeddings": 2048,
 "vocab_size": 32000, "hidden_act": "silu", "tie_word_embeddings": false, "torch_dtype": "bfloat16"}
JSON

"$VRAM_LEDGER" estimate --config "$folder/config.json" --gpus 2 --format json >"$folder/from_config"
grep -q '"parameters":1100048384,' "$folder/from_config"  # TinyLlama 1.1B as published
link=$("$VRAM_LEDGER" link --config "$folder/config.json" --gpus 2)
"$VRAM_LEDGER" estimate "$link" --format json >"$folder/from_link"
cmp "$folder/from_config" "$folder/from_link"

# Standard input, and a share string on top
"$VRAM_LEDGER" estimate --config - gpus=2 --format json <"$folder/config.json" >"$folder/from_input"
cmp "$folder/from_config" "$folder/from_input"

# Refused: what is missing or unknown is named, on standard error alone
refuse() {
  printf '%s' "$1" >"$folder/refused.json"
  status=0
  "$VRAM_LEDGER" estimate --config "$folder/refused.json" >"$folder/out" 2>"$folder/err" || status=$?
  [ "$status" -eq 2 ]
  [ ! -s "$folder/out" ]
  grep -q "$2" "$folder/err"
}
refuse '{"model_type": "llama", "hidden_size": 2048}' num_hidden_layers
refuse '{"model_type": "no_such_architecture", "hidden_size": 8}' no_such_architecture
refuse 'no json' refused.json
refuse '' refused.json
