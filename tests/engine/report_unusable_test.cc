#include <catch2/catch_test_macros.hpp>

#include "engine/report/report.h"

using namespace vram;

namespace {

// Nothing of this is a value of any key but a few that take text.
const char* const kUnusable[] = {"",
                                 "abc",
                                 "-1",
                                 "nan",
                                 "inf",
                                 "1e400",
                                 "0x10",
                                 "1..2",
                                 "%",
                                 "%zz",
                                 "%00",
                                 "%ff%fe",
                                 "1e999999",
                                 "--",
                                 "[]",
                                 "{\"a\":",
                                 "9999999999999999999999",
                                 "1,,2",
                                 "٣",
                                 "😀"};

bool names_key(const Report& result, std::string_view key) {
  for (const Message& message : result.messages) {
    if (message.key == key) return true;
  }
  return false;
}

/// All faces, so that none of them falls over.
size_t write_all(const Report& result) {
  return report_json(result).size() + report_text(result).size() + report_markdown(result).size() +
         report_csv(result).size();
}

}  // namespace

TEST_CASE("an unusable value of any key gives a message that names it, and a report", "[native]") {
  for (const Field& field : fields()) {
    const bool numeric = field.kind != FieldKind::text;
    for (const char* value : kUnusable) {
      const std::string share = std::string(field.name) + "=" + value;
      CAPTURE(share);
      const Report result = report(share);
      CHECK(write_all(result) > 0);
      if (numeric) {
        CHECK(result.answered);
        CHECK(names_key(result, field.name));
      }
    }
  }
}

TEST_CASE("the least and the most of every number give a report") {
  for (const Field& field : fields()) {
    if (field.kind == FieldKind::choice || field.kind == FieldKind::text) continue;
    for (const double value : {field.least, field.most, (field.least + field.most) / 3}) {
      const std::string share = std::string(field.name) + "=" + std::to_string(value);
      CAPTURE(share);
      CHECK(write_all(report(share)) > 0);
    }
  }
}

TEST_CASE("nonsense for a plan gives a report") {
  for (const char* share :
       {"", "#", "?", "&&&", "=", "=1", "%%%", "a=b=c", "v=2", "v=x", "model", "https://x.test/#tp=2",
        "tp=1&tp=2&tp=abc", "\xff\xfe=\xff", "arch=%7B%7D", "arch=[[[[[[[["}) {
    CAPTURE(share);
    CHECK(write_all(report(share)) > 0);
  }
}
