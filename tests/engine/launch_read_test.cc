#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/advice/launch.h"
#include "engine/advice/launch_flags.h"
#include "tests/engine/plan_samples.h"

using namespace vram;

namespace {

LaunchReading read(const std::string& text, const std::string& share = "") {
  return read_launch(text, read_plan(share).plan);
}

bool holds(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

TEST_CASE("vllm serve: model, parallel sizes, formats, limits") {
  const LaunchReading reading = read(
      "vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4 -pp=2 \\\n"
      "  --kv-cache-dtype fp8_e5m2 --quantization=fp8 --max_model_len 32k --max-num-seqs 128 \\\n"
      "  --gpu-memory-utilization 0.95 --enforce-eager --port 8000 --enable-prefix-caching\n");
  const Plan& plan = reading.plan;
  CHECK(reading.programs == std::vector<std::string>{"vLLM"});
  CHECK(plan.model == "llama-3.1-70b");
  CHECK(plan.engine == Engine::vllm);
  CHECK(plan.serve_tp == 4);
  CHECK(plan.serve_pp == 2);
  CHECK(plan.serve_gpus == 8);
  CHECK(plan.kv == "fp8");
  CHECK(plan.weights == "fp8");
  CHECK(plan.max_len == 32000);
  CHECK(plan.max_seqs == 128);
  CHECK(plan.utilization == 0.95);
  CHECK_FALSE(plan.graphs);
  CHECK(reading.unsaid == std::vector<std::string>{"--port 8000", "--enable-prefix-caching"});
}

TEST_CASE("vllm's own defaults stand where a flag is absent, by the card") {
  CHECK(read("vllm serve Qwen/Qwen3-8B").plan.utilization == 0.92);
  CHECK(read("vllm serve Qwen/Qwen3-8B").plan.max_seqs == 1024);  // 80 GB of H100
  CHECK(read("vllm serve Qwen/Qwen3-8B", "gpu=rtx-4090-24gb").plan.max_seqs == 256);
  CHECK(read("vllm serve Qwen/Qwen3-8B", "gpu=rtx-4090-24gb").plan.batch_tokens == 2048);
}

TEST_CASE("vllm's lengths: k is 1000, K is 1024; auto is the model's") {
  CHECK(read("vllm serve Qwen/Qwen3-8B --max-model-len 32K").plan.max_len == 32768);
  CHECK(read("vllm serve Qwen/Qwen3-8B --max-model-len auto", "max_len=1").plan.max_len == 40960);
}

TEST_CASE("The older entry point, and expert parallelism over all ranks") {
  const Plan plan = read(
                        "python3 -m vllm.entrypoints.openai.api_server --model deepseek-ai/DeepSeek-V3 -tp 4 -dp 2 "
                        "--enable-expert-parallel --speculative-config '{\"num_speculative_tokens\": 3}'")
                        .plan;
  CHECK(plan.model == "deepseek-v3");
  CHECK(plan.serve_dp == 2);
  CHECK(plan.serve_ep == 8);
  CHECK(plan.draft_tokens == 3);
}

TEST_CASE("SGLang: attention data parallelism lies inside tp, without it dp is copies") {
  const Plan inside = read(
                          "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 "
                          "--enable-dp-attention --mem-fraction-static 0.85")
                          .plan;
  CHECK(inside.serve_tp == 1);
  CHECK(inside.serve_dp == 8);
  CHECK(inside.serve_gpus == 8);
  CHECK(inside.utilization == 0.85);
  const Plan copies = read("python -m sglang.launch_server --model Qwen/Qwen3-8B --tp-size 2 --dp-size 4").plan;
  CHECK(copies.serve_tp == 2);
  CHECK(copies.replicas == 4);
  const Plan two = read("python -m sglang.launch_server --model Qwen/Qwen3-8B --tp-size 4 --dp-size 2").plan;
  CHECK(two.serve_tp == 4);
  CHECK(two.replicas == 2);
}

TEST_CASE("TensorRT-LLM with its options in a here-document") {
  const Plan plan = read(
                        "cat > extra.yml <<EOF\nkv_cache_config:\n  dtype: fp8\nenable_attention_dp: true\nEOF\n"
                        "trtllm-serve nvidia/Llama-3.3-70B-Instruct-FP8 --tp_size 4 --extra_llm_api_options extra.yml")
                        .plan;
  CHECK(plan.model == "llama-3.3-70b");
  CHECK(plan.kv == "fp8");
  CHECK(plan.serve_dp == 4);
  CHECK(plan.max_seqs == 2048);
}

TEST_CASE("llama.cpp: the file's name says the format, the cache is cut into slots") {
  const Plan plan = read(
                        "./build/bin/llama-server -m models/Llama-3.1-8B-Instruct-Q4_K_M.gguf -c 32768 -np 4 -ngl 20 "
                        "-ctk q8_0 -ctv q8_0 -fa on -ub 1024")
                        .plan;
  CHECK(plan.model == "llama-3.1-8b");
  CHECK(plan.engine == Engine::llamacpp);
  CHECK(plan.weights == "q4_k_m");
  CHECK(plan.concurrency == 4);
  CHECK(plan.prompt + plan.output == 8192);
  CHECK(plan.gpu_layers == 20);
  CHECK(plan.kv == "q8_0");
  CHECK(plan.kv_values == "q8_0");
  CHECK(read("llama-server -hf ggml-org/gemma-3-4b-it-GGUF:Q8_0 -ctk q8_0").plan.kv_values == "fp16");
  CHECK(plan.ubatch == 1024);
  CHECK(read("llama-server -hf ggml-org/gemma-3-4b-it-GGUF:Q8_0 -ngl 999").plan.gpu_layers == 34);
}

TEST_CASE("llama.cpp: experts in host memory, by a count, all of them, or by names of tensors") {
  const auto layers = [](const std::string& flags) {
    return read("llama-server -hf ggml-org/gpt-oss-120b-GGUF -ngl 99 " + flags).plan.n_cpu_moe;
  };
  CHECK(layers("") == 0);
  CHECK(layers("--n-cpu-moe 31") == 31);
  CHECK(layers("-ncmoe 99") == 36);  // no more than there are
  CHECK(layers("--cpu-moe -c 4096") == 36);
  CHECK(layers("-ot exps=CPU") == 36);
  CHECK(layers("-ot \".ffn_.*_exps.=CPU\"") == 36);
  CHECK(layers("-ot 'blk\\.([0-9]|1[0-9])\\.ffn_.*_exps\\.=CPU'") == 20);
  CHECK(layers("-ot 'blk\\.(?:[0-9]|1[0-1])\\.ffn_(gate|up|down)_exps\\.weight=CPU'") == 12);
  CHECK(layers("-ot 'blk\\.([0-9]|[1-2][0-9])\\.=CUDA0,exps=CPU'") == 6);  // the first that matches counts
  CHECK(layers("-ot 'blk\\.[0-5]\\.=CUDA0' -ot exps=CPU") == 30);
  CHECK(layers("-ot '.ffn_(up|down)_exps.=CPU'") == 24);  // two of three tensors
  CHECK(layers("-ot exps=CUDA1") == 0);
  CHECK(layers("-ot 'blk\\.(1{2})\\.exps=CPU'") == 0);  // no pattern that is read
  CHECK(layers("-ot '(a*|)*exps=CPU'") == 36);          // rounds of nothing
  CHECK(layers("-ot '(.|.)*(.|.)*z=CPU'") == 0);        // as many ways as there are
}

TEST_CASE("llama.cpp: experts of other layers than the first are counted, and said") {
  const auto notes = [](const std::string& flags) {
    size_t found = 0;
    for (const auto& message : read("llama-server -m gpt-oss-120b-mxfp4.gguf " + flags).messages)
      found += message.key == "n_cpu_moe" ? 1 : 0;
    return found;
  };
  CHECK(notes("-ot 'blk\\.([0-9])\\.ffn_.*_exps\\.=CPU'") == 0);
  CHECK(notes("-ot 'blk\\.(1[0-9])\\.ffn_.*_exps\\.=CPU'") == 1);
  CHECK(notes("-ot 'blk\\.([0-9])\\.=CPU'") == 1);  // attention, too
}

TEST_CASE("Ollama is told by its environment") {
  const Plan plan =
      read("OLLAMA_NUM_PARALLEL=4 OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_KV_CACHE_TYPE=q8_0 ollama serve").plan;
  CHECK(plan.engine == Engine::llamacpp);
  CHECK(plan.concurrency == 4);
  CHECK(plan.prompt + plan.output == 8192);
  CHECK(plan.kv == "q8_0");
  CHECK(read("ollama run llama3.1:8b-instruct-q8_0").plan.model == "llama-3.1-8b");
  CHECK(read("ollama run llama3.1:8b-instruct-q8_0").plan.weights == "q8_0");
}

TEST_CASE("Megatron-LM as its own examples start it, arrays and all") {
  const std::string script = R"(#!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=4
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE   # GPUs
    --nnodes $NUM_NODES
)
GPT_MODEL_ARGS=(
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
    --group-query-attention --num-query-groups 8 --seq-length 8192 --max-position-embeddings 8192
    --swiglu --normalization RMSNorm --position-embedding-type rope --disable-bias-linear
    --untie-embeddings-and-output-weights --vocab-size 128256 --attention-dropout 0.0 --hidden-dropout 0.0
)
TRAINING_ARGS=( --micro-batch-size 2 --global-batch-size 128 --train-iters 1000 --bf16 )
PARALLEL_ARGS=( --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --sequence-parallel
  --use-distributed-optimizer --recompute-activations --cross-entropy-loss-fusion )
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} ${TRAINING_ARGS[@]} \
    "${PARALLEL_ARGS[@]}" --lr 1e-4
)";
  const LaunchReading reading = read(script);
  const Plan& plan = reading.plan;
  CHECK(reading.programs == std::vector<std::string>{"Megatron-LM"});
  CHECK(plan.framework == Framework::megatron);
  CHECK(plan.gpus == 32);
  CHECK(plan.node == 8);
  CHECK(plan.model == "custom");
  CHECK(plan.subject->nominal_parameters == 8030261248);  // Llama 3 8B
  CHECK(plan.tp == 2);
  CHECK(plan.pp == 4);
  CHECK(plan.sp);
  CHECK(plan.zero == 1);
  CHECK(plan.micro_batch == 2);
  CHECK(plan.global_batch == 128);
  CHECK(plan.tokens == 1000.0 * 128 * 8192);
  CHECK(plan.recompute == Recompute::selective);
  CHECK(plan.loss == Loss::compiled);
  CHECK_FALSE(plan.dropout);
  CHECK(plan.vocab_pad == 128);
  CHECK(reading.unsaid == std::vector<std::string>{"--lr 1e-4"});
}

TEST_CASE("Megatron-LM's silence: learned positions, biases, dropout, no sharding, fp32") {
  const Plan plan = read(
                        "torchrun --nproc_per_node 1 pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
                        "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 51200")
                        .plan;
  CHECK(plan.precision == Precision::fp32);
  CHECK(plan.zero == 0);
  CHECK(plan.dropout);
  CHECK(plan.learned_positions);
  CHECK(plan.qkv_bias);
  CHECK(plan.tied);
  CHECK(plan.ffn == 8192);
  CHECK(plan.kv_heads == 16);
  CHECK(plan.subject->architecture.norm == "layernorm");
}

TEST_CASE("A mixture of experts in Megatron-LM's flags") {
  const Plan flags =
      read(
          "python pretrain_gpt.py --num-layers 61 --hidden-size 7168 --num-attention-heads 128 --ffn-hidden-size 18432 "
          "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-layer-freq '([0]*3+[1]*58)' "
          "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --expert-model-parallel-size 64 --bf16")
          .plan;
  CHECK(flags.experts == 256);
  CHECK(flags.experts_per_token == 8);
  CHECK(flags.expert_ffn == 2048);
  CHECK(flags.dense_layers == 3);
  CHECK(flags.kv_lora_rank == 512);
  CHECK(flags.nope_head_dim == 128);
  CHECK(flags.ep == 64);
}

TEST_CASE("A DeepSpeed configuration alone") {
  const LaunchReading reading = read(R"({
    "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8,
    "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"},
    "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "overlap_comm": true}
  })",
                                     "gpus=8");
  const Plan& plan = reading.plan;
  CHECK(plan.framework == Framework::deepspeed);
  CHECK(plan.zero == 3);
  CHECK(plan.offload == Offload::optimizer);
  CHECK(plan.precision == Precision::bf16);
  CHECK(plan.grad_dtype == GradDtype::fp32);
  CHECK(plan.micro_batch == 4);
  CHECK(plan.global_batch == 4 * 8 * 8);
  CHECK(plan.gpus == 8);
  CHECK(holds(reading.unsaid, "zero_optimization.overlap_comm: true"));
}

TEST_CASE("transformers under deepspeed, with the JSON in the script") {
  const Plan plan =
      read(
          "cat <<'EOF' > ds.json\n{\"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": \"auto\"},\n"
          "\"train_micro_batch_size_per_gpu\": \"auto\"}\nEOF\n"
          "deepspeed --num_gpus=4 run_clm.py --deepspeed ds.json --model_name_or_path mistralai/Mistral-7B-v0.1 "
          "--per_device_train_batch_size 2 --gradient_accumulation_steps 16 --bf16 --block_size 2048 "
          "--gradient_checkpointing True")
          .plan;
  CHECK(plan.model == "mistral-7b-v0.1");
  CHECK(plan.framework == Framework::deepspeed);
  CHECK(plan.zero == 2);
  CHECK(plan.gpus == 4);
  CHECK(plan.micro_batch == 2);
  CHECK(plan.global_batch == 128);
  CHECK(plan.precision == Precision::bf16);
  CHECK(plan.seq == 2048);
  CHECK(plan.recompute == Recompute::full);
}

TEST_CASE("the format in a name: Red Hat's, NVIDIA's, and ModelOpt's either") {
  const std::pair<const char*, const char*> rows[] = {
      {"vllm serve neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", "model=llama-3.1-70b&weights=int8"},
      {"vllm serve RedHatAI/Qwen3-14B-quantized.w4a16", "model=qwen3-14b&weights=gptq"},
      {"vllm serve nvidia/Qwen3-14B-FP4 --quantization modelopt", "model=qwen3-14b&weights=nvfp4"},
      {"vllm serve nvidia/Qwen3-14B-FP8 --quantization modelopt", "model=qwen3-14b&weights=fp8"},
  };
  for (const auto& [command, expected] : rows) {
    CAPTURE(command);
    const Plan plan = read(command).plan;
    CHECK("model=" + plan.model + "&weights=" + plan.weights == expected);
  }
}

TEST_CASE("a file of ZeRO that is not in the text is taken as it is called, and said so") {
  const std::pair<const char*, double> rows[] = {
      {"deepspeed train.py --deepspeed configs/ds_z3_config.json --model_name_or_path Qwen/Qwen2.5-7B", 3},
      {"deepspeed train.py --deepspeed zero2_offload.json --model_name_or_path Qwen/Qwen2.5-7B", 2},
      {"accelerate launch --config_file ./deepspeed_zero3.yaml --num_processes=8 sft.py --bf16", 3},
  };
  for (const auto& [command, stage] : rows) {
    CAPTURE(command);
    const LaunchReading launch = read(command);
    CHECK(launch.plan.framework == Framework::deepspeed);
    CHECK(launch.plan.zero == stage);
    REQUIRE(launch.messages.size() == 1);
    CHECK(launch.messages[0].text.find("as it is called") != std::string::npos);
  }
}

TEST_CASE("a batch that is a flag is of a device, and launchers take the GPUs that they see") {
  const Plan plan = read(
                        "CUDA_VISIBLE_DEVICES=3,5 accelerate launch train.py --base_model ./models/Llama-3.2-3B "
                        "--bf16 --train_batch_size 2 --gradient_accumulation_steps 4 --epochs 6")
                        .plan;
  CHECK(plan.model == "llama-3.2-3b");
  CHECK(plan.framework == Framework::ddp);
  CHECK(plan.gpus == 2);
  CHECK(plan.micro_batch == 2);
  CHECK(plan.global_batch == 16);
  CHECK(plan.epochs == 6);
}

TEST_CASE("accelerate: FSDP by flags and by its file") {
  const Plan flags = read(
                         "accelerate launch --use_fsdp --fsdp_version 2 --num_processes 16 --num_machines 2 "
                         "--mixed_precision bf16 train.py --model_name_or_path Qwen/Qwen2.5-7B --max_length 4096")
                         .plan;
  CHECK(flags.framework == Framework::fsdp2);
  CHECK(flags.library == Library::hf);
  CHECK(flags.gpus == 16);
  CHECK(flags.node == 8);
  CHECK(flags.precision == Precision::bf16);
  CHECK(flags.micro_batch == 8);  // transformers' own
  const Plan file = read(
                        "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n"
                        "  fsdp_offload_params: false\nmixed_precision: bf16\nnum_processes: 4\n")
                        .plan;
  CHECK(file.framework == Framework::fsdp);
  CHECK(file.zero == 2);
  CHECK(file.gpus == 4);
}

TEST_CASE("QLoRA in TRL's flags") {
  const Plan plan =
      read(
          "python sft.py --model_name_or_path meta-llama/Llama-2-7b-hf --use_peft --lora_r 64 --load_in_4bit "
          "--lora_target_modules all-linear --per_device_train_batch_size 1 --bf16 --optim paged_adamw_8bit")
          .plan;
  CHECK(plan.model == "llama-2-7b");
  CHECK(plan.method == Method::qlora);
  CHECK(plan.lora_rank == 64);
  CHECK_FALSE(plan.double_quant);
  CHECK(plan.optimizer == Optimizer::adamw8bit);
}

TEST_CASE("torchtitan by flags and by its file") {
  const Plan flags =
      read(
          "torchrun --nproc_per_node=8 --nnodes 4 -m torchtitan.train --model.name llama3 --model.flavor 70B "
          "--parallelism.tensor_parallel_degree 8 --training.local_batch_size 2 --training.seq_len 8192")
          .plan;
  CHECK(flags.model == "llama-3.1-70b");
  CHECK(flags.framework == Framework::fsdp2);
  CHECK(flags.library == Library::torchtitan);
  CHECK(flags.gpus == 32);
  CHECK(flags.tp == 8);
  CHECK(flags.sp);
  CHECK(flags.micro_batch == 2);
  CHECK(flags.recompute == Recompute::selective);
  const Plan file =
      read(
          "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nlocal_batch_size = 1\nseq_len = 4096\n"
          "compile = true # faster\n[activation_checkpoint]\nmode = \"full\"\n")
          .plan;
  CHECK(file.model == "llama-3.1-8b");
  CHECK(file.compile);
  CHECK(file.recompute == Recompute::full);
  CHECK(file.seq == 4096);
}

TEST_CASE("Environment before the command is read") {
  const Plan plan =
      read("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True torchrun --nproc_per_node 2 train.py --bf16").plan;
  CHECK(plan.allocator == Allocator::expandable);
  CHECK(plan.gpus == 2);
}

TEST_CASE("A container's image starts its server") {
  const Plan plan =
      read(
          "docker run --gpus all -p 8000:8000 --ipc=host vllm/vllm-openai:v0.9.1 --model Qwen/Qwen2.5-7B-Instruct "
          "--tensor-parallel-size 2")
          .plan;
  CHECK(plan.model == "qwen2.5-7b");
  CHECK(plan.serve_tp == 2);
}

TEST_CASE("An image's tag says the release, and what its defaults were") {
  const Plan old = read("docker run vllm/vllm-openai:v0.11.0 --model Qwen/Qwen3-8B").plan;
  CHECK(old.engine_version == "0.11.0");
  CHECK(old.utilization == 0.9);
  CHECK(
      read("docker run vllm/vllm-openai:v0.11.0 --model Qwen/Qwen3-8B --gpu-memory-utilization 0.7").plan.utilization ==
      0.7);
  CHECK(read("docker run vllm/vllm-openai:v0.22.1 --model Qwen/Qwen3-8B").plan.utilization == 0.92);
  CHECK(read("docker run r/vllm/vllm-openai:v0.26.0-cu129 --model Qwen/Qwen3-8B").plan.engine_version == "0.26.0");
  CHECK(read("docker run vllm/vllm-openai:latest --model Qwen/Qwen3-8B").plan.engine_version.empty());
}

TEST_CASE("A server that a cluster's launcher starts is the server") {
  const LaunchReading reading = read("srun -N 2 --gpus-per-node=8 vllm serve Qwen/Qwen3-8B -tp 8 -pp 2");
  CHECK(reading.plan.model == "qwen3-8b");
  CHECK(reading.plan.serve_pp == 2);
  CHECK(reading.unsaid == std::vector<std::string>{"-N 2", "--gpus-per-node=8"});
}

TEST_CASE("A repository's model is known whatever file of it is named") {
  const LaunchReading reading = read("llama-server -hf unsloth/Qwen3-30B-A3B-GGUF:Q4_K_XL -c 40960");
  CHECK(reading.plan.model == "qwen3-30b-a3b");
  CHECK(read("llama-server -hf unsloth/Qwen3-8B-GGUF:Q4_K_M").plan.weights == "q4_k_m");
}

TEST_CASE("A switch before the model is no flag with a value") {
  CHECK(read("vllm serve --enable-prefix-caching --trust-remote-code Qwen/Qwen3-8B").plan.model == "qwen3-8b");
  CHECK(read("vllm serve --no-enable-prefix-caching -tp 2 Qwen/Qwen3-8B").plan.model == "qwen3-8b");
  CHECK(read("trtllm-build --checkpoint_dir c --use_paged_context_fmha enable --max_seq_len 4096").plan.max_len ==
        4096);
  CHECK(read("trtllm-build --use_paged_context_fmha enable").messages.empty());
  CHECK(read("torchrun train.py --bf16 True --use_liger_kernel True --seq_length 4096").plan.seq == 4096);
}

TEST_CASE("Services of docker compose and of Kubernetes, and a systemd unit, are read as they start") {
  struct Row {
    const char *text, *model;
    double serve_tp, max_len;
  };
  const Row rows[] = {
      {"services:\n  vllm:\n    image: vllm/vllm-openai:latest\n"
       "    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2 --max-model-len 16384\n    ports: "
       "[\"8000:8000\"]\n",
       "qwen3-8b", 2, 16384},
      {"    image: vllm/vllm-openai:v0.11.0\n    command:\n      - --model\n      - Qwen/Qwen3-8B\n"
       "      # as much as fits\n      - --max-model-len\n      - \"16384\"\n      - --tensor-parallel-size=2\n",
       "qwen3-8b", 2, 16384},
      {"      containers:\n      - name: vllm\n        image: rocm/vllm:latest\n        command: [\"/bin/sh\", "
       "\"-c\"]\n"
       "        args: [\n          \"vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --max-model-len 16384\"\n       "
       " ]\n",
       "qwen3-8b", 2, 16384},
      {"        - name: server\n          image: lmsysorg/sglang:latest\n          command:\n            - bash\n"
       "            - -c\n            - |\n              export X=1\n              python3 -m sglang.launch_server \\\n"
       "                --model-path Qwen/Qwen3-8B --tp 2 --context-length 16384\n",
       "qwen3-8b", 2, 16384},
      {"    image: lmsysorg/sglang:latest\n    entrypoint: python3 -m sglang.launch_server\n    command:\n"
       "      --model-path Qwen/Qwen3-8B\n      --tp 2 --context-length 16384\n",
       "qwen3-8b", 2, 16384},
      {"[Service]\nUser=llm\nExecStart=/opt/bin/vllm serve Qwen/Qwen3-8B -tp 2 \\\n  --max-model-len 16384\n",
       "qwen3-8b", 2, 16384},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Plan plan = read(row.text).plan;
    CHECK(plan.model == row.model);
    CHECK(plan.serve_tp == row.serve_tp);
    CHECK(plan.max_len == row.max_len);
  }
}

TEST_CASE("Ollama's environment as docker, compose, systemd and other shells set it") {
  for (const char* text : {
           "docker run -d --gpus=all -e OLLAMA_NUM_PARALLEL=4 --env=OLLAMA_CONTEXT_LENGTH=8192 ollama/ollama",
           "    image: ollama/ollama:latest\n    environment:\n      - OLLAMA_NUM_PARALLEL=4\n"
           "      - OLLAMA_CONTEXT_LENGTH=8192\n",
           "    image: ollama/ollama\n    environment:\n      OLLAMA_NUM_PARALLEL: \"4\"\n"
           "      OLLAMA_CONTEXT_LENGTH: 8192\n",
           "        image: ollama/ollama\n        env:\n        - name: OLLAMA_NUM_PARALLEL\n          value: \"4\"\n"
           "        - name: OLLAMA_CONTEXT_LENGTH\n          value: \"8192\"\n",
           "[Service]\nEnvironment=\"OLLAMA_NUM_PARALLEL=4\"\nEnvironment=\"OLLAMA_CONTEXT_LENGTH=8192\"\n"
           "ExecStart=/usr/local/bin/ollama serve\n",
           "setx OLLAMA_NUM_PARALLEL 4\nset OLLAMA_CONTEXT_LENGTH=8192\nollama serve",
           "$env:OLLAMA_NUM_PARALLEL = \"4\"\n$env:OLLAMA_CONTEXT_LENGTH=\"8192\"\nollama serve",
           "launchctl setenv OLLAMA_NUM_PARALLEL 4\nlaunchctl setenv OLLAMA_CONTEXT_LENGTH 8192\nollama serve",
       }) {
    INFO(text);
    const LaunchReading reading = read(text);
    CHECK(reading.programs == std::vector<std::string>{"Ollama"});
    CHECK(reading.plan.concurrency == 4);
    CHECK(reading.plan.prompt + reading.plan.output == 8192);
  }
}

TEST_CASE("A format of a GGUF file that is not known is said") {
  const LaunchReading reading = read("llama-server -hf unsloth/Qwen3-32B-GGUF:UD-Q4_K_XL -c 4096");
  CHECK(std::any_of(reading.messages.begin(), reading.messages.end(), [](const Message& message) {
    return message.text == "weights: 'q4_k_xl' is no format known here; the checkpoint's own is kept";
  }));
}

TEST_CASE("A checkpoint's name says its format where no flag does") {
  CHECK(read("vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8").plan.weights == "fp8");
  CHECK(read("vllm serve Qwen/Qwen2.5-72B-Instruct-AWQ").plan.weights == "awq");
  CHECK(read("vllm serve nvidia/Llama-3.3-70B-Instruct-FP4").plan.weights == "nvfp4");
  CHECK(read("vllm serve Qwen/Qwen2.5-72B-Instruct-AWQ --quantization fp8").plan.weights == "fp8");
}

TEST_CASE("GPUs as Slurm, DeepSpeed and torchtitan's script are told them") {
  CHECK(read("srun --nodes 16 --ntasks-per-node 8 python pretrain_gpt.py --bf16").plan.gpus == 128);
  CHECK(read("srun -N 2 torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --bf16").plan.gpus == 16);
  CHECK(read("deepspeed --include localhost:0,1,2,3 train.py --deepspeed --bf16").plan.gpus == 4);
  CHECK(read("deepspeed --include 'worker-0:0,1@worker-1:2' train.py --deepspeed").plan.gpus == 3);
  CHECK(read("NGPU=4 ./run_train.sh --training.seq_len 4096").plan.gpus == 4);
}

TEST_CASE("accelerate's zero3_init_flag says whether ZeRO 3 loads the whole model first") {
  const auto loads_whole = [](const char* stage, const char* flag) {
    const std::string config = std::string("compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\n") +
                               "deepspeed_config:\n  zero3_init_flag: " + flag + "\n  zero_stage: " + stage + "\n";
    return read(config).plan.load_whole;
  };
  CHECK(loads_whole("3", "false"));
  CHECK_FALSE(loads_whole("3", "true"));
  CHECK_FALSE(loads_whole("2", "false"));
}

TEST_CASE("A file that is named but not in the text is said") {
  const LaunchReading reading = read("deepspeed train.py --deepspeed settings.json --bf16");
  CHECK(reading.messages[0].key == "zero");
  CHECK(reading.messages[0].text == "zero: what settings.json says is not in the text; 0 is kept");
}

TEST_CASE("Prose with colons is no configuration") {
  CHECK(read("hello: world").programs.empty());
  CHECK(read("FROM ubuntu:22.04\nRUN ls").programs.empty());
}

TEST_CASE("Flags alone are told apart by their names") {
  CHECK(read("--tensor-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 5").programs[0] == "Megatron-LM");
  CHECK(read("--tensor-parallel-size 8 --gpu-memory-utilization 0.8").programs[0] == "vLLM");
  CHECK(read("--mem-fraction-static 0.8 --tp-size 2").programs[0] == "SGLang");
}

TEST_CASE("What is not understood is said, never silent") {
  CHECK(read("ls -la").programs.empty());
  CHECK(read("").programs.empty());
  const LaunchReading unknown = read("vllm serve someone/their-own-model --tensor-parallel-size banana");
  CHECK(unknown.plan.model == "custom");
  REQUIRE(unknown.messages.size() == 2);
  CHECK(unknown.messages[0].key == "model");
  CHECK(unknown.messages[1].text ==
        "serve_tp: --tensor-parallel-size banana: 'banana' is not a whole number from 1 to 65536");
  const LaunchReading variable = read("torchrun --nproc_per_node $GPUS train.py --bf16", "gpus=4");
  CHECK(variable.plan.gpus == 4);
  CHECK(variable.messages[0].key == "gpus");
}

TEST_CASE("A server whose flags are not read is named, alone and beside one that is") {
  const LaunchReading both = read(
      "services:\n  a:\n    image: ghcr.io/huggingface/text-generation-inference:3.0\n"
      "    command: --model-id Qwen/Qwen3-32B --num-shard 4\n  b:\n    image: vllm/vllm-openai:latest\n"
      "    command: --model Qwen/Qwen3-8B --tensor-parallel-size 2\n");
  CHECK(both.plan.model == "qwen3-8b");
  REQUIRE(both.messages.size() == 1);
  CHECK(both.messages[0].given == "TGI");
  for (const char* text : {"text-generation-launcher --model-id x --num-shard 2", "lmdeploy serve api_server x --tp 2",
                           "python -m mlx_lm.server --model x", "python -m mlx_lm server --model x",
                           "python -m ktransformers.local_chat --model_path x --cpu_infer 33",
                           "python koboldcpp.py --model x.gguf --contextsize 8192"}) {
    INFO(text);
    const LaunchReading alone = read(text);
    CHECK(alone.programs.empty());
    REQUIRE(alone.messages.size() == 1);
    CHECK(alone.messages[0].text.find("are not read") != std::string::npos);
  }
  for (const char* text : {"git clone https://github.com/huggingface/text-generation-inference", "pip install lmdeploy",
                           "vllm serve Qwen/Qwen3-8B --served-model-name lmdeploy"}) {
    INFO(text);
    CHECK(read(text).messages.empty());
  }
}

TEST_CASE("Aphrodite is read as vLLM, and said to be") {
  for (const char* text :
       {"aphrodite run Qwen/Qwen3-8B -tp 2 --max-model-len 16384 -gmu .95",
        "python -m aphrodite.endpoints.openai.api_server --model Qwen/Qwen3-8B -tp 2 --max-model-len 16384 -gmu 0.95",
        "docker run --gpus all alpindale/aphrodite-openai:v0.6.5 --model Qwen/Qwen3-8B --tensor-parallel-size 2 "
        "--max-model-len 16384 --gpu-memory-utilization 0.95"}) {
    INFO(text);
    const LaunchReading reading = read(text);
    CHECK(reading.plan.model == "qwen3-8b");
    CHECK(reading.plan.engine == Engine::vllm);
    CHECK(reading.plan.serve_tp == 2);
    CHECK(reading.plan.max_len == 16384);
    CHECK(reading.plan.utilization == 0.95);
    REQUIRE(reading.messages.size() == 1);
    CHECK(reading.messages[0].given == "Aphrodite");
  }
}

TEST_CASE("Keys that the launcher has no flag for stay as they were") {
  const Plan plan = read("vllm serve Qwen/Qwen3-8B", "concurrency=64&prompt=1000&gpus=16&tp=8&gpu=a100-sxm4-80gb").plan;
  CHECK(plan.concurrency == 64);
  CHECK(plan.prompt == 1000);
  CHECK(plan.gpus == 16);
  CHECK(plan.tp == 8);
  CHECK(plan.gpu == "a100-sxm4-80gb");
}

TEST_CASE("A model that no preset names keeps an imported shape") {
  const Plan plan = read("vllm serve ./my-checkpoint", "model=custom&layers=10&hidden=512&heads=8").plan;
  CHECK(plan.model == "custom");
  CHECK(plan.layers == 10);
}

TEST_CASE("Names of models") {
  CHECK(preset_of_model_name("meta-llama/Meta-Llama-3-8B-Instruct") == "llama-3-8b");
  CHECK(preset_of_model_name("meta-llama/Llama-2-70b-chat-hf") == "llama-2-70b");
  CHECK(preset_of_model_name("/data/models/Qwen2.5-72B-Instruct-AWQ/") == "qwen2.5-72b");
  CHECK(preset_of_model_name("~/.cache/huggingface/hub/models--google--gemma-2-9b-it/snapshots/abc") == "gemma-2-9b");
  CHECK(preset_of_model_name("Mixtral-8x7B-v0.1.Q4_K_M.gguf") == "mixtral-8x7b");
  CHECK(preset_of_model_name("openai/gpt-oss-120b") == "gpt-oss-120b");
  CHECK(preset_of_model_name("facebook/opt-1.3b") == "opt-1.3b");
  CHECK(preset_of_model_name("facebook/opt-13b") == "opt-13b");
  CHECK(preset_of_model_name("someone/their-own-model") == "");
  CHECK(preset_of_model_name("") == "");
}

TEST_CASE("Any text gives a calm answer") {
  for (const char* text : {"\"",
                           "'",
                           "$",
                           "${",
                           "$(",
                           "((((",
                           "\\",
                           "A=(",
                           "<<",
                           "<<EOF\nx",
                           "vllm serve",
                           "-",
                           "--",
                           "{\"a\":",
                           "[[[[",
                           "vllm serve '",
                           "torchrun",
                           "A=$A $A",
                           "a: b: c",
                           "\xff\xfe",
                           "vllm serve a < b",
                           "<",
                           "(",
                           ")",
                           "a ) b"}) {
    INFO(text);
    CHECK_NOTHROW(read(text));
  }
  CHECK_NOTHROW(read(std::string(100000, '{')));
  CHECK_NOTHROW(read("A=($A $A $A x)\nA=($A $A $A)\nB=($A $A)\nB=($B $B)\nB=($B $B)\nvllm serve $B $B $B"));
}

TEST_CASE("Cut and shuffled scripts give a calm answer, and their plans can be written") {
  const std::string script =
      write_launch(read_plan("gpus=16&framework=deepspeed&zero=3&engine=sglang&serve_tp=4").plan) +
      "A=(1 \"$B\" ${C:-x})\ntorchrun $A ${A[@]} pretrain_gpt.py --num-layers 4 --moe-layer-freq '([0]*3)'\n";
  samples::Random random(7);
  for (int turn = 0; turn < 150; ++turn) {
    std::string text = script;
    for (uint64_t edits = random.below(6) + 1; edits > 0; --edits) {
      const size_t at = random.below(text.size()), length = random.below(40);
      constexpr std::string_view kMarks = "\"'$(){}\\\n<>=-# ;|&[]:";
      if (random.below(2) == 0) {
        text.erase(at, length);
      } else {
        text.insert(at, 1, kMarks[random.below(kMarks.size())]);
      }
      if (text.empty()) text = "x";
    }
    const Plan plan = read(text).plan;
    if (plan.subject != nullptr && plan.accelerator != nullptr) CHECK_FALSE(write_launch(plan).empty());
  }
}
