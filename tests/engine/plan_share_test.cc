#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "engine/plan/percent.h"
#include "engine/plan/plan.h"
#include "tests/engine/plan_samples.h"

using namespace vram;

namespace {

std::string canonical(std::string_view share) { return write_plan(read_plan(share).plan, true); }

}  // namespace

TEST_CASE("the empty share string is the default plan") {
  for (const char* share : {"", "#", "?", "v=1", "&&", " \n", "https://example.org/", "https://example.org/#"}) {
    CAPTURE(share);
    const PlanReading reading = read_plan(share);
    CHECK(reading.answerable);
    CHECK(reading.messages.empty());
    CHECK(write_plan(reading.plan, true) == "v=1");
    CHECK(reading.plan.model == "llama-3.1-8b");
    CHECK(reading.plan.gpu == "h100-sxm5-80gb");
  }
}

TEST_CASE("a share string may come with '#' or '?', or inside a whole URL") {
  const char* share =
      GENERATE("seq=512&gpus=8", "#seq=512&gpus=8", "?seq=512&gpus=8", "https://example.org/vram/#v=1&seq=512&gpus=8",
               "http://localhost:8080/?seq=512&gpus=8", "http://localhost:8080/?seq=9&tp=2#seq=512&gpus=8",
               "http://x/?seq=512&gpus=8#", "index.html#seq=512&gpus=8", "  v=1&seq=512&gpus=8\r\n");
  CAPTURE(share);
  CHECK(canonical(share) == "v=1&gpus=8&seq=512");
}

TEST_CASE("keys are written in the order of the table, defaults left out") {
  CHECK(canonical("recompute=selective&seq=8192&zero=1&pp=4&tp=8&gpus=64&gpu=h100-sxm5-80gb&v=1") ==
        "v=1&gpus=64&tp=8&pp=4&seq=8192&recompute=selective");
  CHECK(canonical("fused_optimizer=1&tp=1&seq=4096&node=8&gpu_mem=85520809984B") == "v=1");
  CHECK(canonical("gpus=64&global_batch=64") == "v=1&gpus=64");
  CHECK(canonical("params=8030261248") == "v=1");
}

TEST_CASE("percent-encoding is undone, and '+' is a plus sign") {
  CHECK(read_plan("lora_targets=all+head").plan.lora_targets == LoraTargets::all_head);
  CHECK(read_plan("lora_targets=all%2Bhead").plan.lora_targets == LoraTargets::all_head);
  CHECK(canonical("lora_targets=all%2bhead") == "v=1&lora_targets=all+head");
  CHECK(read_plan("%73eq=5%31%32").plan.seq == 512);
  CHECK(read_plan("vs=v%3D1%26gpus%3D8").plan.vs == "v=1&gpus=8");
  CHECK(canonical("vs=v%3D1%26gpus%3D8") == "v=1&vs=v%3D1%26gpus%3D8");
  CHECK(canonical("vs=100%") == "v=1&vs=100%25");
  CHECK(canonical("vs=%zz%4") == "v=1&vs=%25zz%254");
}

TEST_CASE("unknown keys are kept verbatim, in their order, behind the others") {
  const PlanReading reading = read_plan("future=a%20b&gpus=8&Flag&other=x=y");
  CHECK(write_plan(reading.plan, true) == "v=1&gpus=8&future=a%20b&Flag&other=x=y");
  CHECK(reading.messages.size() == 3);
  CHECK(reading.messages.at(0).key == "future");
  CHECK(reading.messages.at(0).given == "a b");
  CHECK(reading.messages.at(0).text == "future: no key of version 1; it is kept, not used");
}

TEST_CASE("a share string stays one line") {
  CHECK(canonical("gpus=8& future=a\tb \n") == "v=1&gpus=8&future=a%09b");
  CHECK(canonical("gpus=8& &\n&") == "v=1&gpus=8");
}

TEST_CASE("a mistyped key names the one it may have meant") {
  CHECK(read_plan("recomput=full").messages.at(0).text ==
        "recomput: no key of version 1; it is kept, not used; did you mean recompute?");
}

TEST_CASE("of a repeated key the last counts, with a message") {
  const PlanReading reading = read_plan("seq=512&seq=1024");
  CHECK(reading.plan.seq == 1024);
  REQUIRE(reading.messages.size() == 1);
  CHECK(reading.messages[0].text == "seq: given more than once; the last one, '1024', counts");
  const PlanReading unusable = read_plan("seq=512&seq=x");
  CHECK(unusable.plan.seq == 4096);
  CHECK(unusable.messages.size() == 2);
}

TEST_CASE("a later version is read as far as this one goes, with a message") {
  const PlanReading reading = read_plan("v=2&seq=512");
  CHECK(reading.plan.seq == 512);
  REQUIRE(reading.messages.size() == 1);
  CHECK(reading.messages[0].key == "v");
  CHECK(reading.messages[0].given == "2");
  CHECK(write_plan(reading.plan, true) == "v=1&seq=512");
  CHECK(read_plan("v=one").messages.size() == 1);
  CHECK(read_plan("v=1&v=1").messages.size() == 1);
}

TEST_CASE("an unknown model or GPU is never replaced by another one") {
  const PlanReading model = read_plan("model=llama-3.1-8x&gpus=8");
  CHECK_FALSE(model.answerable);
  CHECK(model.plan.subject == nullptr);
  CHECK(model.messages.at(0).text.starts_with(
      "model: 'llama-3.1-8x' is no model of the presets; did you mean llama-3.1-8b"));
  CHECK(write_plan(model.plan, true) == "v=1&model=llama-3.1-8x&gpus=8");
  const PlanReading gpu = read_plan("gpu=H100-SXM5");
  CHECK_FALSE(gpu.answerable);
  CHECK(gpu.plan.accelerator == nullptr);
  CHECK(gpu.messages.at(0).text.find("did you mean h100-sxm5-80gb") != std::string::npos);
  for (const char* unset : {"model=", "gpu=", "model=llama-3.1-8b&model="}) CHECK_FALSE(read_plan(unset).answerable);
}

TEST_CASE("view keys are part of the share string but not of a report's") {
  const Plan plan = read_plan("view=serve&theme=dark&gpus=8").plan;
  CHECK(write_plan(plan, true) == "v=1&gpus=8&view=serve&theme=dark");
  CHECK(write_plan(plan, false) == "v=1&gpus=8");
}

TEST_CASE("what is not text is shown as such and harms nothing") {
  const PlanReading reading = read_plan("seq=%00%FF%0A&%80=1");
  CHECK(reading.messages.at(0).given == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(reading.messages.at(1).key == "\xEF\xBF\xBD");
  CHECK(write_plan(reading.plan, true) == "v=1&%80=1");
  CHECK(printable("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x99\x82", 60) == "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x99\x82");
  CHECK(printable("\xC0\xAF", 60) == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("what steers a terminal or the order of text is neither shown nor kept as it is") {
  // U+202E right-to-left override, U+2066 isolate, U+009B control sequence introducer, U+2028 line separator
  CHECK(printable("a\xE2\x80\xAE"
                  "b\xE2\x81\xA6"
                  "c\xC2\x9B"
                  "d\xE2\x80\xA8",
                  60) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD"
        "c\xEF\xBF\xBD"
        "d\xEF\xBF\xBD");
  CHECK(canonical("k\xE2\x80\xAE=1&caf\xC3\xA9=1&z=\xFF") == "v=1&k%E2%80%AE=1&caf\xC3\xA9=1&z=%FF");
}

TEST_CASE("a value without a key is kept, and named") {
  const PlanReading reading = read_plan("=7&seq=512");
  CHECK(reading.messages.at(0).text == "'=7' has no key before '='; it is kept, not used");
  CHECK(write_plan(reading.plan, true) == "v=1&seq=512&=7");
}

TEST_CASE("sizes keep what they were meant in") {
  CHECK(canonical("gpu=custom&gpu_mem=80GB") == "v=1&gpu=custom&gpu_mem=80GB");
  CHECK(canonical("gpu=custom&gpu_mem=24") == "v=1&gpu=custom&gpu_mem=24");
  CHECK(canonical("reserve=5GB") == "v=1&reserve=5GB");
  CHECK(read_plan("reserve=5GB").plan.reserve == 5e9);
  CHECK(canonical("reserve=7%25") == "v=1&reserve=7%25");
  CHECK(read_plan("reserve=7%25").plan.reserve_share == 0.07);
  CHECK(read_plan("reserve=7%").plan.reserve_share == 0.07);
  CHECK(canonical("reserve=0") == "v=1&reserve=0");
  CHECK(canonical("overhead=0") == "v=1&overhead=0");
  CHECK(canonical("net_bw=100Gb/s") == "v=1&net_bw=12.5");
  CHECK(canonical("stages=20,20,20,20.0&pp=4") == "v=1&pp=4&stages=20,20,20,20");
}

TEST_CASE("written, read and written again it is the same string, over 300 random plans") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string share = samples::random_share(seed);
    CAPTURE(share);
    const Plan plan = read_plan(share).plan;
    const std::string once = write_plan(plan, true);
    const Plan again = read_plan(once).plan;
    CHECK(write_plan(again, true) == once);
    CHECK(again.given == plan.given);
    for (const Field& row : fields()) {
      const bool same = value_text(again, row.key) == value_text(plan, row.key);
      if (!same) FAIL_CHECK(row.name << " differs after " << once);
    }
  }
}

TEST_CASE("a reserve that is taken back leaves neither its share nor its size") {
  const std::string usual = value_text(read_plan("").plan, Key::reserve);
  for (const char* share : {"reserve=25%25", "reserve=7GB"}) {
    Plan plan = read_plan(share).plan;
    CHECK(value_text(plan, Key::reserve) != usual);
    clear_value(plan, Key::reserve);
    CHECK(value_text(plan, Key::reserve) == usual);
  }
}

TEST_CASE("a key is set and cleared as if it stood in the share string") {
  Plan plan = read_plan("gpus=8").plan;
  Message message;
  CHECK(set_value(plan, Key::framework, "fsdp", &message));
  CHECK(plan.zero == 3);
  CHECK(write_plan(plan, true) == "v=1&gpus=8&framework=fsdp");
  CHECK_FALSE(set_value(plan, Key::seq, "long", &message));
  CHECK(message.text == "seq: 'long' is not a whole number from 1 to 1e9; 4096 is kept");
  CHECK(write_plan(plan, true) == "v=1&gpus=8&framework=fsdp");
  clear_value(plan, Key::framework);
  CHECK(plan.zero == 1);
  CHECK(write_plan(plan, true) == "v=1&gpus=8");
}

TEST_CASE("a plan whose model did not change keeps its model") {
  Plan plan = read_plan("gpus=8").plan;
  const Model* before = plan.subject.get();
  set_value(plan, Key::tp, "8", nullptr);
  CHECK(plan.subject.get() == before);
  set_value(plan, Key::layers, "16", nullptr);
  CHECK(plan.subject.get() != before);
  CHECK(plan.subject->layers.size() == 16);
  clear_value(plan, Key::layers);
  CHECK(plan.subject->layers.size() == 32);
}

TEST_CASE("a field that arch does not have is named and kept") {
  const PlanReading reading = read_plan("model=custom&params=7e9&arch=%7B%22bogus%22:1,%22norm_bias%22:true%7D");
  REQUIRE(reading.messages.size() == 1);
  CHECK(reading.messages[0].key == "arch");
  CHECK(reading.messages[0].given == "bogus");
  CHECK(reading.messages[0].text == "arch: 'bogus' is no field of it; it is kept, not used");
  CHECK(write_plan(reading.plan, false).find("bogus") != std::string::npos);
}
