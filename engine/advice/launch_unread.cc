#include "engine/advice/launch_unread.h"

#include <algorithm>
#include <string_view>

#include "engine/text.h"

namespace vram {
namespace {

/// A word that begins so, without its folders, and the one behind it, where that tells.
struct Server {
  std::string_view word, next;
  const char* name;
};

constexpr Server kServers[] = {
    {"text-generation-launcher", "", "TGI"},
    {"text-generation-inference", "", "TGI"},  // the image
    {"lmdeploy", "serve", "LMDeploy"},
    {"lmdeploy:", "", "LMDeploy"},
    {"mlx_lm.server", "", "mlx-lm"},
    {"mlx_lm", "server", "mlx-lm"},
    {"mlx_vlm.server", "", "mlx-vlm"},
    {"ktransformers.", "", "KTransformers"},
    {"ktransformers", "", "KTransformers"},
    {"koboldcpp", "", "KoboldCpp"},
    {"tabbyapi", "", "TabbyAPI"},
    {"mlc_llm", "serve", "MLC-LLM"},
    {"tritonserver", "", "Triton"},
    {"localai", "", "LocalAI"},
    {"local-ai", "", "LocalAI"},
    {"lightllm.server", "", "LightLLM"},
    {"xinference", "", "Xinference"},
};

/// Of commands that fetch a program, and start none.
bool only_names(std::string_view first) {
  constexpr std::string_view kFetchers[] = {"git", "pip", "pip3", "uv", "cd", "conda", "apt", "brew", "echo"};
  return std::find(std::begin(kFetchers), std::end(kFetchers), first) != std::end(kFetchers);
}

}  // namespace

std::string unread_server(const std::vector<std::string>& words) {
  if (words.empty() || only_names(words[0])) return "";
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = lower_case(std::string_view(words[i]).substr(words[i].find_last_of('/') + 1));
    for (const Server& server : kServers) {
      const bool next = server.next.empty() || (i + 1 < words.size() && words[i + 1] == server.next);
      if (next && word.starts_with(server.word) && !words[i].starts_with('-')) return server.name;
    }
  }
  return "";
}

}  // namespace vram
