// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The public C++ header: build a graph, run it, read the batches. Example: examples/resnet50.cc.
//
//   stoker::Graph g;
//   auto files = stoker::call(g, "readers.file", {},
//                             {{"file_root", folder}, {"random_shuffle", true}});
//   auto image = stoker::call(g, "decoders.image", {files[0]});
//   g.outputs = {image[0], files[1]};
//   stoker::Pipeline pipe(g, {.batch_size = 64, .num_threads = 4});
//   std::optional<stoker::Outputs> step = pipe.run();
//
// Names, arguments and defaults are those of Python (docs/ops). Errors: base/error.h,
// run/pipeline.h.
#pragma once
#include "run/pipeline.h"

namespace stoker {

// Adds an operator and gives its outputs. `computed`: arguments that other nodes compute, with one
// value for each sample.
inline std::vector<Ref> call(Graph& graph, const std::string& op, const std::vector<Ref>& inputs,
                             Arguments arguments = {}, std::vector<ArgumentLink> computed = {},
                             const std::string& name = "") {
  Node n;
  n.op = op;
  n.name = name;
  n.inputs.assign(inputs.begin(), inputs.end());
  n.arguments = std::move(arguments);
  n.links = std::move(computed);
  const int node = graph.add(std::move(n));
  std::vector<Ref> outputs;
  for (int i = 0; i < graph.output_count(node); ++i) outputs.push_back({node, i});
  return outputs;
}

}  // namespace stoker
