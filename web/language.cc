#include "web/language.h"

#include <unordered_map>

#include "engine/report/translation.h"

namespace vram::language {
namespace {

constexpr size_t kMost = 4096;

struct Sayings {
  Translation other;
  bool wanted = false;  // the other one
  std::unordered_map<std::string, std::string> said;
};

Sayings& sayings() {
  static Sayings page;
  return page;
}

}  // namespace

void learn(std::string_view table) {
  sayings().other = Translation(table);
  sayings().said.clear();
}

void speak(bool other) {
  if (sayings().wanted != other) sayings().said.clear();
  sayings().wanted = other;
}

bool is_english() { return !sayings().wanted || sayings().other.empty(); }

std::string_view say(std::string_view english) {
  if (is_english()) return english;
  auto [entry, is_new] = sayings().said.try_emplace(std::string(english));
  if (is_new) entry->second = sayings().other(english);
  return entry->second;
}

void forget() {
  if (sayings().said.size() > kMost) sayings().said.clear();
}

}  // namespace vram::language
