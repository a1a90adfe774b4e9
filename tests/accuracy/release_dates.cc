#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "engine/text.h"
#include "tests/accuracy/serving_words.h"
#include "tests/accuracy/words.h"

namespace vram::accuracy {
namespace {

struct Release {
  int month;  // year * 12 + month
  int day;
  const char* version;
};

constexpr int at(int year, int month) { return year * 12 + month; }

// github.com/vllm-project/vllm/releases: the first of each line, and those of which one is told apart here.
constexpr Release kVllm[] = {{at(2023, 6), 20, "0.1.0"},  {at(2023, 9), 28, "0.2.0"},  {at(2024, 1), 4, "0.2.7"},
                             {at(2024, 1), 31, "0.3.0"},  {at(2024, 3), 30, "0.4.0"},  {at(2024, 6), 11, "0.5.0"},
                             {at(2024, 9), 4, "0.6.0"},   {at(2024, 10), 14, "0.6.3"}, {at(2024, 12), 17, "0.6.5"},
                             {at(2025, 1), 27, "0.7.0"},  {at(2025, 3), 18, "0.8.0"},  {at(2025, 5), 27, "0.9.0"},
                             {at(2025, 7), 7, "0.9.2"},   {at(2025, 7), 24, "0.10.0"}, {at(2025, 9), 13, "0.10.2"},
                             {at(2025, 10), 2, "0.11.0"}, {at(2025, 12), 3, "0.12.0"}};
// github.com/sgl-project/sglang/releases
constexpr Release kSglang[] = {{at(2024, 7), 25, "0.2.0"},  {at(2024, 9), 3, "0.3.0"},  {at(2024, 12), 3, "0.4.0"},
                               {at(2024, 12), 25, "0.4.1"}, {at(2025, 2), 13, "0.4.3"}, {at(2025, 3), 13, "0.4.4"},
                               {at(2025, 4), 7, "0.4.5"},   {at(2025, 4), 27, "0.4.6"}, {at(2025, 6), 10, "0.4.7"},
                               {at(2025, 6), 23, "0.4.8"},  {at(2025, 7), 5, "0.4.9"},  {at(2025, 7), 31, "0.4.10"},
                               {at(2025, 8), 23, "0.5.1"},  {at(2025, 9), 12, "0.5.2"}, {at(2025, 10), 6, "0.5.3"},
                               {at(2025, 10), 26, "0.5.4"}, {at(2025, 11), 6, "0.5.5"}, {at(2025, 12), 2, "0.5.6"}};
// github.com/ollama/ollama/releases
constexpr Release kOllama[] = {{at(2023, 7), 8, "0.0.1"},   {at(2024, 9), 8, "0.3.10"},   {at(2025, 3), 11, "0.6.0"},
                               {at(2025, 3), 14, "0.6.1"},  {at(2025, 5), 14, "0.7.0"},   {at(2025, 8), 18, "0.11.5"},
                               {at(2025, 10), 9, "0.12.4"}, {at(2025, 10), 16, "0.12.6"}, {at(2025, 11), 13, "0.12.11"},
                               {at(2025, 12), 12, "0.13.3"}};
constexpr int kKnownTo = at(2025, 12);

// github.com/ggml-org/llama.cpp: issues and pull requests by the month they were opened in.
struct Opened {
  int number;
  const char* month;
};
constexpr Opened kLlamacpp[] = {
    {1, "2023-03"},     {1300, "2023-05"},  {2059, "2023-07"},  {3479, "2023-10"},  {4167, "2023-11"},
    {4700, "2024-01"},  {5250, "2024-02"},  {5850, "2024-03"},  {6430, "2024-04"},  {7020, "2024-05"},
    {7660, "2024-06"},  {8215, "2024-07"},  {8800, "2024-08"},  {11583, "2025-02"}, {12183, "2025-03"},
    {12750, "2025-04"}, {13250, "2025-05"}, {13950, "2025-06"}, {14450, "2025-07"}, {15050, "2025-08"},
    {15750, "2025-09"}, {16400, "2025-10"}, {16950, "2025-11"}, {17700, "2025-12"}, {18537, "2026-01"},
    {19300, "2026-02"}, {20200, "2026-03"}, {21300, "2026-04"}, {22600, "2026-05"}, {24000, "2026-06"}};

struct Day {
  int month = 0, day = 31;  // of a month alone its end
};

/// "Aug 2025", "August 2025": the month before a year that begins at `at`, 0 where there is none.
int month_before(const std::string& given, size_t at) {
  constexpr const char* kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
  const auto letter = [&](size_t i) { return is_alphanumeric(given[i]) && !is_digit(given[i]); };
  size_t end = at;
  while (end > 0 && !letter(end - 1) && at - end < 2) --end;
  size_t begin = end;
  while (begin > 0 && letter(begin - 1)) --begin;
  const std::string word = lower(given.substr(begin, end - begin));
  for (int month = 1; month <= 12; ++month)
    if (word.size() >= 3 && word.compare(0, 3, kMonths[month - 1]) == 0) return month;
  return 0;
}

/// "20240908-071536", as vllm's benchmark stamps its results.
Day stamped(const std::string& given) {
  int year = 0, month = 0, day = 0;
  const bool digits = given.size() >= 8 && std::all_of(given.begin(), given.begin() + 8, is_digit);
  if (!digits || std::sscanf(given.c_str(), "%4d%2d%2d", &year, &month, &day) != 3) return {};
  return year >= 2020 && month >= 1 && month <= 12 ? Day{at(year, month), day} : Day{};
}

/// "2025-08-19", "2025-08", "Aug 2025"; of "2023" alone its end.
Day day_of(const std::string& given) {
  if (const Day day = stamped(given); day.month > 0) return day;
  for (size_t i = 0; i + 4 <= given.size(); ++i) {
    const bool begins = i == 0 || !is_alphanumeric(given[i - 1]);
    const int year = begins && given.compare(i, 2, "20") == 0 ? std::atoi(given.substr(i, 4).c_str()) : 0;
    if (year < 2000) continue;
    const bool has_month = given.size() >= i + 7 && given[i + 4] == '-' && is_digit(given[i + 5]);
    const bool has_day = has_month && given.size() >= i + 10 && given[i + 7] == '-' && is_digit(given[i + 8]);
    const int named = month_before(given, i);
    const int month = has_month ? std::atoi(given.substr(i + 5, 2).c_str()) : named > 0 ? named : 12;
    return {at(year, month), has_day ? std::atoi(given.substr(i + 8, 2).c_str()) : 31};
  }
  return {};
}

template <size_t kCount>
std::string newest(const Release (&releases)[kCount], const Day& day) {
  std::string out;
  for (const Release& one : releases)
    if (one.month < day.month || (one.month == day.month && one.day <= day.day)) out = one.version;
  return out;
}

}  // namespace

std::string release_of_date(const std::string& given, const std::string& engine) {
  const Day day = day_of(given);
  if (day.month == 0 || day.month > kKnownTo) return "";
  if (engine == "vllm") return newest(kVllm, day);
  if (engine == "ollama") return newest(kOllama, day);
  return engine == "sglang" ? newest(kSglang, day) : "";
}

std::string llamacpp_of_issue(const std::string& source) {
  constexpr std::string_view kRepository = "/llama.cpp#";
  const size_t at = source.find(kRepository);
  if (at == std::string::npos || source.find("ik_llama.cpp#") != std::string::npos) return "";
  const int number = std::atoi(source.c_str() + at + kRepository.size());
  std::string month;
  for (const Opened& one : kLlamacpp)
    if (one.number <= number) month = one.month;
  return month;
}

}  // namespace vram::accuracy
