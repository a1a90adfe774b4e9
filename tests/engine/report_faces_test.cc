#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "engine/report/csv.h"
#include "engine/report/json_writer.h"
#include "engine/report/markdown.h"
#include "engine/report/report.h"

using namespace vram;
using nlohmann::json;

namespace {

std::string keys(const nlohmann::ordered_json& object) {
  std::string names;
  for (const auto& item : object.items()) names.append(item.key()).append(" ");
  return names;
}

}  // namespace

TEST_CASE("members of the JSON report stand in the contract's order") {
  const auto report_object = nlohmann::ordered_json::parse(
      report_json(report("model=llama-3.1-8b&gpus=8&tp=2&pp=2&tokens=1e12&concurrency=4")));
  CHECK(keys(report_object) ==
        "version engine_version share model hardware training compute serving findings messages ");
  CHECK(keys(report_object["model"]) == "id name parameters active_parameters embedding_parameters ");
  CHECK(keys(report_object["hardware"]) == "id name gpus memory_bytes ");
  CHECK(keys(report_object["training"]) ==
        "verdict phase stage allocated_bytes reserved_bytes device_bytes band_bytes headroom_bytes lines phases stages "
        "napkin ");
  CHECK(keys(report_object["training"]["phases"][0]) == "id allocated_bytes lines ");
  CHECK(keys(report_object["training"]["stages"][0]) == "stage layers allocated_bytes device_bytes phase ");
  CHECK(keys(report_object["training"]["napkin"]) == "states_bytes activations_bytes buffers_bytes total_bytes gpus ");
  CHECK(keys(report_object["compute"]) ==
        "flops_per_token step_flops model_flops hardware_flops mfu hfu mfu_source mfu_band bound attention_share "
        "micro_batches step_seconds tokens_per_second usd_per_billion_tokens days gpu_hours usd kwh traffic "
        "napkin_flops ");
}

TEST_CASE("a line has factors or children, never both") {
  const json lines = json::parse(report_json(report("model=llama-2-7b"))).at("training").at("lines");
  for (const json& line : lines) {
    CAPTURE(line.at("id"));
    CHECK(line.contains("factors") != line.contains("children"));
    CHECK(line.contains("factors") == line.contains("formula"));
  }
}

TEST_CASE("bytes are integers in JSON") {
  const json object = json::parse(report_json(report("model=llama-2-7b")));
  CHECK(object.at("training").at("device_bytes").is_number_unsigned());
  CHECK(object.at("hardware").at("memory_bytes") == 85520809984);  // 81559 MiB
  CHECK(object.at("training").at("headroom_bytes").is_number_integer());
}

TEST_CASE("view keys are not in the report's share") {
  CHECK(report("model=llama-2-7b&view=serve&theme=dark&units=gb").share == "v=1&model=llama-2-7b");
}

TEST_CASE("what is no UTF-8 or no text becomes harmless in JSON") {
  CHECK(json_string("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json_string("\x1b[31m\n") == R"("\u001b[31m\u000a")");
  CHECK(json_string("\xc3\xa9\xff") == "\"\xc3\xa9\xef\xbf\xbd\"");
  CHECK(json_string("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // a lone surrogate
}

TEST_CASE("figures that do not apply are left out of JSON") {
  JsonWriter writer;
  writer.open('{');
  writer.member("none", std::optional<double>{});
  writer.member("infinite", 1.0 / 0.0);
  writer.member("half", 0.5);
  writer.member_if("empty", "");
  writer.open('[', "list");
  writer.open('{');
  writer.close('}');
  writer.open('{');
  writer.close('}');
  writer.close(']');
  writer.close('}');
  CHECK(writer.text() == R"({"half":0.5,"list":[{},{}]})");
}

TEST_CASE("Markdown cells cannot break out of their table") {
  CHECK(markdown_row({"a|b", "<b>", "x_y _z_"}) == "| a\\|b | &lt;b&gt; | x_y \\_z\\_ |\n");
  CHECK(markdown_target("v=1&x=a)b c") == "v=1&x=a%29b%20c");
}

TEST_CASE("the Markdown report links to its plan and holds every bill") {
  const std::string text = report_markdown(report("model=llama-2-7b"), "https://example.org/");
  CHECK(text.rfind("# Llama 2 7B on H100", 0) == 0);
  CHECK(text.find("\n`v=1&model=llama-2-7b`\n") != std::string::npos);
  CHECK(text.find("](https://example.org/#v=1&model=llama-2-7b&made=") != std::string::npos);
  for (const char* heading : {"\n## Training\n", "\n## Compute\n", "\n## Serving\n", "\n### On a napkin\n"}) {
    CHECK(text.find(heading) != std::string::npos);
  }
}

TEST_CASE("CSV names each line by its path and quotes what needs it") {
  CHECK(csv_row({"a", "b,c", "d\"e"}) == "a,\"b,c\",\"d\"\"e\"\n");
  const std::string text = report_csv(report("model=custom&params=70e9&framework=deepspeed&precision=fp16"));
  CHECK(text.rfind("bill,id,label,bytes,band_bytes,formula\n", 0) == 0);
  CHECK(text.find("\ntraining,gradients,Gradients,140000000000,") != std::string::npos);
}

TEST_CASE("JSON leaves out what is not known of a model") {
  const std::string text = report_json(report("model=custom&params=7B"));
  CHECK(text.find(R"("parameters":7000000000)") != std::string::npos);
  CHECK(text.find("embedding_parameters") == std::string::npos);
}
