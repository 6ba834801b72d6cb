// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives an operator any values as arguments. The input is a call as JSON:
//   {"op": "crop", "arguments": {"crop": [2, 2]}, "computed": {"crop_pos_x": {"fdata": [0.5]}}}
// It becomes a saved graph of that operator on its first case's inputs. Nodes `constant` give
// computed arguments.
#include "graphs.h"
#include "json_mutator.h"
#include "op/case_testing.h"

namespace stoker::fuzz {
namespace {

Json node(const std::string& op, const Json& arguments, size_t number) {
  const std::string name = "node" + std::to_string(number);
  return {{"op", op},
          {"name", name},
          {"version", 1},
          {"key", name},
          {"device", "cpu"},
          {"inputs", Json::array()},
          {"computed", Json::object()},
          {"arguments", arguments}};
}

// A node `constant` that gives what is written in a case.
Json constant_of(const char* written, size_t number) {
  test::Tensor t = test::Text(written).tensor();
  const View v = t.view();
  Json values = Json::array(), shape = Json::array();
  for (int64_t i = 0; i < v.shape.volume(); ++i) values.push_back(element(v, i));
  for (int a = 0; a < v.shape.rank; ++a) shape.push_back(v.shape[a]);
  return node("constant",
              {{"fdata", values},
               {"shape", shape},
               {"dtype", name_of(v.dtype)},
               {"layout", t.type.layout.str()}},
              number);
}

std::string graph_of(const SavedValue& call) {
  const OperatorType& type = operator_named(call.at("op").text());
  Json nodes = Json::array(), called = node(type.name, call.at("arguments").object(), 999);
  if (!type.cases.empty())
    for (const char* input : type.cases[0].inputs) {
      called["inputs"].push_back({nodes.size(), 0});
      nodes.push_back(constant_of(input, nodes.size()));
    }
  for (const auto& [name, arguments] : call.at("computed").entries()) {
    called["computed"][name] = {nodes.size(), 0};
    nodes.push_back(node("constant", arguments.object(), nodes.size()));
  }
  const Json output = Json::array({nodes.size(), 0});
  nodes.push_back(called);
  return Json{{"format", "stoker graph"},   {"version", 1},   {"rng_version", 1},
              {"pipeline", Json::object()}, {"nodes", nodes}, {"outputs", Json::array({output})}}
      .dump();
}

}  // namespace
}  // namespace stoker::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const std::string text(fuzz::text_of(data, size));
  std::string graph;
  if (fuzz::accepts<Error>(text, [&] { graph = fuzz::graph_of(SavedValue(parse_saved(text))); }))
    fuzz::try_graph(graph);
  return 0;
}
