#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>

#include "engine/advice/log/read_log.h"

using namespace vram;
using nlohmann::json;

namespace {

json messages_of(const char* name) {
  std::ifstream file(std::string(VRAM_SOURCE_DIR "/tests/cases/logs/") + name);
  std::stringstream content;
  content << file.rdbuf();
  return json::parse(content.str())["messages"];
}

std::string by_line(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  std::stringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) out += change(line) + "\n";
  return out;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string wrapped(const std::string& text, size_t columns) {
  return by_line(text, [&](const std::string& line) {
    std::string out;
    size_t column = 0;
    for (const char c : line) {
      if ((c & 0xc0) != 0x80 && column++ == columns) {
        out += '\n';
        column = 1;
      }
      out += c;
    }
    return out;
  });
}

std::string escaped(const std::string& text) {
  std::string quoted = json("\n" + text + "\n").dump(-1, ' ', false, json::error_handler_t::replace);
  return "{\"log\": " + quoted + ", \"stream\": \"stderr\"}";
}

/// "12.5 GiB" -> "**12.5 GiB**"
std::string around_sizes(const std::string& text, std::string_view mark) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    const bool inside = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '.');
    while (!inside && end < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[end])) || (end > i && text[end] == '.'))) {
      ++end;
    }
    const bool size = end > i && text.compare(end, 4, " GiB") == 0;
    if (size) out.append(mark).append(text, i, end + 4 - i).append(mark);
    if (!size) out += text[i];
    i = size ? end + 4 : i + 1;
  }
  return out;
}

struct Noise {
  const char* name;
  std::string (*apply)(const std::string& text);
};

template <const char* kPrefix>
std::string prefixed(const std::string& text) {
  return by_line(text, [](const std::string& line) { return kPrefix + line; });
}

constexpr char kRank[] = "[rank3]: ", kDefault[] = "[default3]:",
               kRay[] = "\x1b[36m(Worker pid=123, ip=10.0.0.1)\x1b[0m ",
               kWorker[] = "worker-0: ", kHost[] = "gpu-q-13: ", kCompose[] = "app-1  | ",
               kPod[] = "2025-01-02T03:04:05.123456789Z stdout F ", kActions[] = "2025-01-02T03:04:05.1234567Z ",
               kJournal[] = "Jan 02 03:04:05 node7 python[1234]: ",
               kLogger[] = "2025-01-02 03:04:05,123 - root - INFO - ", kQuote[] = "> ", kIndent[] = "    ",
               kStep[] = "3: ", kMpi[] = "[1,3]<stderr>:", kList[] = "- ", kComment[] = "# ", kColour[] = "\x1b[31m",
               kTab[] = "\t", kPytest[] = "E       ", kSlash[] = "// ";

const Noise kNoises[] = {
    {"rank", prefixed<kRank>},
    {"torchrun", prefixed<kDefault>},
    {"Ray", prefixed<kRay>},
    {"worker", prefixed<kWorker>},
    {"host", prefixed<kHost>},
    {"compose", prefixed<kCompose>},
    {"pod", prefixed<kPod>},
    {"actions", prefixed<kActions>},
    {"journal", prefixed<kJournal>},
    {"logger", prefixed<kLogger>},
    {"quote", prefixed<kQuote>},
    {"indent", prefixed<kIndent>},
    {"srun", prefixed<kStep>},
    {"mpirun", prefixed<kMpi>},
    {"list", prefixed<kList>},
    {"comment", prefixed<kComment>},
    {"slashes", prefixed<kSlash>},
    {"colour", prefixed<kColour>},
    {"tab", prefixed<kTab>},
    {"pytest", prefixed<kPytest>},
    {"CRLF", [](const std::string& text) { return replaced(text, "\n", "\r\n"); }},
    {"no-break spaces", [](const std::string& text) { return replaced(text, " ", "\xc2\xa0"); }},
    {"tabs", [](const std::string& text) { return replaced(text, " ", "\t"); }},
    {"entities",
     [](const std::string& text) {
       return replaced(replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;"), "\"", "&quot;");
     }},
    {"smart quotes",
     [](const std::string& text) { return replaced(replaced(text, "'", "\xe2\x80\x99"), "\"", "\xe2\x80\x9d"); }},
    {"JSON", escaped},
    {"JSON in JSON", [](const std::string& text) { return escaped(escaped(text)); }},
    {"fence", [](const std::string& text) { return "I get this:\n```text\n" + text + "\n```\nWhy?\n"; }},
    {"traceback",
     [](const std::string& text) {
       return "Traceback (most recent call last):\n  File \"train.py\", line 12, in <module>\n    main()\n" + text +
              "\n  0%|          | 0/1000 [00:03<?, ?it/s]\n";
     }},
    {"line ends in HTML", [](const std::string& text) { return replaced(text, "\n", "<br>\n"); }},
    {"preformatted", [](const std::string& text) { return "<pre><code>" + text + "</code></pre>"; }},
    {"sizes set bold", [](const std::string& text) { return around_sizes(text, "**"); }},
    {"sizes set as code", [](const std::string& text) { return around_sizes(text, "`"); }},
    {"twice", [](const std::string& text) { return text + "\n" + text; }},
};

const Noise kWidths[] = {
    {"80 columns", [](const std::string& text) { return wrapped(text, 80); }},
    {"100 columns", [](const std::string& text) { return wrapped(text, 100); }},
    {"120 columns", [](const std::string& text) { return wrapped(text, 120); }},
};

std::string told(const LogFigure& figure) {
  const bool bytes = figure.kind == CaptureKind::bytes, word = figure.kind == CaptureKind::text;
  return figure.what + " " + figure.on + " " +
         (bytes  ? std::to_string(figure.bytes)
          : word ? figure.text
                 : std::to_string(figure.number));
}

/// What a message says of itself; the rank is the prefix's.
std::set<std::string> told(const std::string& text, bool words) {
  std::set<std::string> all;
  for (const LogFigure& figure : read_log(text).figures) {
    const std::string_view what = figure.what;
    if (figure.kind == CaptureKind::text && !words) continue;
    if (!figure.derived && what != "rank" && what != "tp_rank") all.insert(told(figure));
  }
  return all;
}

struct Tally {
  size_t figures = 0, lost = 0, made = 0;
  std::string faults;

  void add(const std::string& id, const char* noise, const std::set<std::string>& plain,
           const std::set<std::string>& noisy) {
    figures += plain.size();
    for (const std::string& one : plain) {
      if (noisy.count(one) == 0) lost += fault(id, noise, "lost", one);
    }
    for (const std::string& one : noisy) {
      if (plain.count(one) == 0) made += fault(id, noise, "made", one);
    }
  }

  size_t fault(const std::string& id, const char* noise, const char* what, const std::string& figure) {
    faults += id + ": " + noise + ": " + what + " " + figure + "\n";
    return 1;
  }
};

Tally tally_of(std::span<const Noise> noises, bool words) {
  Tally tally;
  for (const char* name : {"messages.json", "messages_fresh.json", "messages_serving.json"}) {
    for (const json& message : messages_of(name)) {
      const std::string text = message["text"].get<std::string>() + "\n";
      const std::set<std::string> plain = told(text, words);
      for (const Noise& noise : noises) {
        tally.add(message["id"].get<std::string>(), noise.name, plain, told(noise.apply(text), words));
      }
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("What stands around a message, or is done to it on its way, changes none of its figures") {
  const Tally tally = tally_of(kNoises, true);
  INFO(tally.faults);
  CHECK(tally.figures > 100000);
  CHECK(tally.lost == 0);
  CHECK(tally.made == 0);
}

TEST_CASE("A message whose first lines are lost says nothing else in the rest") {
  const auto sizes = [](const std::string& text) {
    std::set<int64_t> all;
    for (const LogFigure& figure : read_log(text).figures) {
      if (figure.kind == CaptureKind::bytes && !figure.derived) all.insert(figure.bytes);
    }
    return all;
  };
  for (const char* name : {"messages.json", "messages_fresh.json", "messages_serving.json"}) {
    for (const json& message : messages_of(name)) {
      const std::string text = message["text"].get<std::string>();
      const std::set<int64_t> whole = sizes(text);
      for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
        const std::set<int64_t> rest = sizes(text.substr(at + 1));
        CAPTURE(message["id"].get<std::string>(), text.substr(at + 1, 80));
        CHECK(std::includes(whole.begin(), whole.end(), rest.begin(), rest.end()));
      }
    }
  }
}

// Rows of a table are lost, where a table is wider.
TEST_CASE("A terminal's width makes no other figure of one, and loses less than one in a hundred") {
  const Tally tally = tally_of(kWidths, false);
  INFO(tally.faults);
  CAPTURE(tally.figures, tally.lost);
  CHECK(tally.lost * 100 < tally.figures);
  CHECK(tally.made == 0);
}
