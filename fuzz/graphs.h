// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every text that is loaded as a graph.
#pragma once
#include "refusals.h"
#include "run/pipeline.h"

namespace stoker::fuzz {

// Small enough that whatever a graph asks for is made or refused within a moment.
inline PipelineOptions small_settings() {
  return {.batch_size = 2,
          .num_threads = 1,
          .seed = 1,
          .memory_limit = 1 << 20,
          .executor = ExecutorKind::kSimple};
}

// A graph that was loaded is saved, loaded again and saved to the same text.
inline void check_saved_form(const Graph& graph, const std::string& settings) {
  const std::string saved = save_graph(graph, settings);
  std::string again;
  const Graph loaded = load_graph(saved, again);
  if (save_graph(loaded, again) != saved) std::abort();
}

// Readers read this file alone, because no input may roam the machine.
inline void keep_at_home(Graph& graph) {
  for (Node& n : graph.nodes) {
    if (n.op != "readers.file") continue;
    n.arguments["files"] = std::vector<std::string>(3, "tests/golden/picture.jpg");
    for (const char* name : {"file_root", "file_list", "labels"}) n.arguments[name] = Value{};
  }
}

// Loads and plans the graph, which needs no device, and makes one step.
inline void try_graph(const std::string& text) {
  Graph graph;
  std::string settings;
  if (!accepts<GraphError>(text, [&] { graph = load_graph(text, settings); })) return;
  check_saved_form(graph, settings);
  keep_at_home(graph);
  const auto plan = [&] { (void)Plan(graph, {.batch_size = 2}).str(); };
  if (!accepts<GraphError>(text, plan)) return;
  (void)accepts<Error>(text, [&] { (void)Pipeline(graph, small_settings()).run(); });
}

}  // namespace stoker::fuzz
