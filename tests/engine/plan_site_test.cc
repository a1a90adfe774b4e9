#include <catch2/catch_test_macros.hpp>

#include "engine/plan/site.h"

using namespace vram;

TEST_CASE("a site's own GPUs, models, prices and defaults are read") {
  const Site site = read_site(R"({
    "defaults": "gpu=a100-sxm4-80gb&framework=fsdp2",
    "prices": {"h100-sxm5-80gb": 1.95},
    "gpus": [{"id": "rack-7", "name": "Rack 7", "detail": "Acme", "plan": "gpu=h100-sxm5-80gb&net_bw=25&price=1.9"}],
    "models": [{"id": "acme-1b", "plan": "model=custom&params=1B"}]})");
  CHECK(site.faults.empty());
  CHECK(site.defaults == "gpu=a100-sxm4-80gb&framework=fsdp2");
  CHECK(site.prices == std::map<std::string, double>{{"h100-sxm5-80gb", 1.95}});
  REQUIRE(site.gpus.size() == 1);
  CHECK(site.gpus[0].name == "Rack 7");
  CHECK(site.gpus[0].share == "gpu=h100-sxm5-80gb&net_bw=25&price=1.9");
  REQUIRE(site.models.size() == 1);
  CHECK(site.models[0].name == "acme-1b");
}

TEST_CASE("a site's model may be a config.json") {
  const Site site = read_site(R"({"models": [{"id": "tiny", "config": {"model_type": "llama", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 1000}}]})");
  CHECK(site.faults.empty());
  REQUIRE(site.models.size() == 1);
  CHECK(site.models[0].share.starts_with("v=1&model=custom&layers=2&hidden=64&heads=4"));
}

TEST_CASE("what cannot be used of a site's file is left out and named") {
  const Site site = read_site(R"({"defaults": "tp=many", "prices": {"h900": 1, "h100-sxm5-80gb": "cheap"},
    "gpus": [{"name": "no id", "plan": "gpus=8"}, {"id": "no-plan"}, 7],
    "models": [{"id": "strange", "config": {"model_type": "unheard-of"}}]})");
  CHECK(site.defaults.empty());
  CHECK(site.prices.empty());
  CHECK(site.gpus.empty());
  CHECK(site.models.empty());
  const std::vector<std::string> wheres = {
      "defaults: ", "prices.h100-sxm5-80gb: ", "prices.h900: ", "gpus[0].id: ", "gpus[1].plan: ",
      "gpus[2]: ",  "models[0].config"};
  REQUIRE(site.faults.size() == wheres.size());
  for (size_t i = 0; i < wheres.size(); i++) CHECK(site.faults[i].starts_with(wheres[i]));
}

TEST_CASE("a site's file that is no JSON says so, and an empty one says nothing") {
  CHECK(read_site("{").faults == std::vector<std::string>{"site.json: not a JSON object"});
  CHECK(read_site("{}").faults.empty());
}
