#include "cli/commands.h"
#include "cli/key_help.h"
#include "cli/say.h"
#include "engine/report/report.h"

namespace cli {
namespace {

constexpr const char* kUsage =
    R"(How much GPU memory training or serving a language model takes, and why.

  vram-ledger estimate [SHARE] [--KEY VALUE]... [--config FILE]
                       [--launch FILE] [--vs SHARE] [--check[=tight]]
                       [--format text|json|markdown|csv|svg|launch] [--timeline]
  vram-ledger plan     [SHARE] [--KEY VALUE]... [--top N]
                       layouts that fit, best first; --question, --deadline,
                       --budget and --gpus-among say what is asked
  vram-ledger diagnose [SHARE] [--KEY VALUE]... [--log FILE]
                       [--format text|json|markdown]
  vram-ledger models | gpus [--format text|json|markdown|csv]
  vram-ledger link     [SHARE] [--KEY VALUE]...    the canonical share string
  vram-ledger batch    FILE [--format ...]         a share string a line
  vram-ledger keys     [--format text|markdown|csv]

SHARE is a plan: key=value pairs joined by &, or the address of a page that
shows one. Every key is a flag, too, with - for _.

  vram-ledger estimate 'model=llama-3.1-70b&gpus=64&tp=8&pp=4&seq=8192'
  vram-ledger estimate --model llama-2-7b --gpu rtx-4090-24gb --method lora
  vram-ledger estimate --config config.json --serve-gpus 8 --concurrency 64

  --config FILE    the model of a Hugging Face config.json (- = standard input)
  --launch FILE    the plan of a launch command, script or configuration: vLLM,
                   SGLang, TensorRT-LLM, llama.cpp, Ollama, Megatron-LM,
                   DeepSpeed, accelerate, torchtitan, transformers
                   (and --format launch prints a plan as such a script)
  --vs SHARE       the plan beside a second one, and what differs
  --log FILE       an error, nvidia-smi, a summary, a start-up log: what it says,
                   beside the plan's bill (- = standard input)
  --check          exit status 1 where the plan does not fit (of view=serve: does
                   not serve what is asked); with =tight also where it may not
  --timeline       with the memory along a training step, layer by layer
  --help           this, and every key
  --version

Exit status: 0 answered; 1 --check failed; 2 no answer possible.
)";

}  // namespace

int help(const Arguments& arguments) {
  if (arguments.help || arguments.command == "help") {
    print(kUsage + key_help());
    return kAnswered;
  }
  say(std::string("a command is missing\n\n") + kUsage);
  return kNoAnswer;
}

}  // namespace cli
