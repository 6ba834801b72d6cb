// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Restores any text as the state of some pipelines. It must be refused with a StateError and change
// nothing, or be taken; then the pipeline runs on, and its new state is taken without a warning.
#include <array>

#include "graphs.h"
#include "json_mutator.h"

namespace stoker::fuzz {
namespace {

Graph reader_graph(Arguments arguments) {
  arguments["files"] = std::vector<std::string>(5, "tests/golden/picture.jpg");
  Graph g;
  g.add({.op = "readers.file", .name = "files", .arguments = std::move(arguments)});
  g.add({.op = "random.uniform", .name = "draw"});
  g.outputs = {{0, 0}, {0, 1}, {1, 0}};
  return g;
}

// Two readers of contiguous shards, one that pads and one that drops.
Graph shards_graph() {
  Graph g;
  for (const char* end : {"pad", "drop"})
    g.add({.op = "readers.file",
           .name = end,
           .is_lead = *end == 'p',
           .arguments = {{"files", std::vector<std::string>(7, "tests/golden/picture.jpg")},
                         {"num_shards", int64_t{2}},
                         {"stick_to_shard", true},
                         {"epoch_end", std::string(end)}}});
  g.outputs = {{0, 1}, {1, 1}};
  return g;
}

Graph draw_graph() {
  Graph g;
  g.add({.op = "random.coin_flip", .arguments = {{"probability", 0.25}}});
  g.outputs = {{0, 0}};
  return g;
}

struct Begun {
  std::unique_ptr<Pipeline> pipeline;
  std::string first;  // its state before any step
};

Begun begun(Graph graph, std::optional<int64_t> seed) {
  PipelineOptions settings = small_settings();
  settings.seed = seed;
  Begun b{std::make_unique<Pipeline>(graph, settings), ""};
  b.first = b.pipeline->state();
  return b;
}

bool restores(Pipeline& p, const std::string& text, bool force) {
  const std::string before = p.state();
  if (!accepts<StateError>(text, [&] { (void)p.restore(text, force); })) {
    if (p.state() != before) std::abort();
    return false;
  }
  check_options(p.settings());
  (void)accepts<SampleError>(text, [&] { (void)p.run(); });
  if (!p.restore(p.state(), false).empty()) std::abort();
  return true;
}

}  // namespace
}  // namespace stoker::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker::fuzz;
  static const std::array all = {begun(reader_graph({{"random_shuffle", true}}), {}),
                                 begun(shards_graph(), 1), begun(draw_graph(), 1)};
  const std::string text(text_of(data, size));
  for (const auto& [p, first] : all) {
    if (!p->restore(first, false).empty()) std::abort();  // nothing is left of another text
    const bool is_taken = restores(*p, text, false);
    // What is taken as it is must be taken by force, too.
    if (!restores(*p, text, true) && is_taken) std::abort();
  }
  return 0;
}
