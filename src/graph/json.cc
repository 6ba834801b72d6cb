// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The saved form of a graph.
//
// Note [Saved graphs]
// The format is 1. Every argument and every operator's version is written, so a file says what it
// does without the defaults of this library. Loading checks everything and runs no code.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "graph/graph.h"

namespace stoker {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kFormat = 1;

// JSON has no infinity, so {"float": "inf"} stands for it.
Json to_json(double d) {
  if (std::isfinite(d)) return d;
  return Json{{"float", d > 0 ? "inf" : d < 0 ? "-inf" : "nan"}};
}

double double_of(const Json& j) {
  if (!j.is_object()) return j.get<double>();
  const auto text = j.at("float").get<std::string>();
  if (text != "inf" && text != "-inf" && text != "nan")
    throw GraphError("an argument is " + j.dump());
  const double magnitude = text == "nan" ? NAN : INFINITY;
  return text[0] == '-' ? -magnitude : magnitude;
}

Json to_json(const Value& v) {
  return std::visit(
      [](const auto& x) -> Json {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, double>) {
          return to_json(x);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          Json list = Json::array();
          for (double d : x) list.push_back(to_json(d));
          return list;
        } else {
          return x;
        }
      },
      v);
}

Value list_value(const Json& j) {
  const bool strings = std::all_of(j.begin(), j.end(), [](auto& e) { return e.is_string(); });
  const bool integers =
      std::all_of(j.begin(), j.end(), [](auto& e) { return e.is_number_integer(); });
  if (integers) return j.get<std::vector<int64_t>>();
  if (strings) return j.get<std::vector<std::string>>();
  std::vector<double> numbers;
  for (auto& e : j) numbers.push_back(double_of(e));
  return numbers;
}

Value value_of(const Json& j) {
  if (j.is_null()) return {};
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_number() || j.is_object()) return double_of(j);
  if (j.is_string()) return j.get<std::string>();
  if (j.is_array()) return list_value(j);
  throw GraphError("an argument is " + j.dump());
}

Json to_json(const Ref& r) { return Json::array({r.node, r.output}); }

Ref ref_of(const Json& j, const Graph& g) {
  const Ref r{j.at(0).get<int>(), j.at(1).get<int>()};
  if (r.node < 0 || r.node >= static_cast<int>(g.nodes.size()) || r.output < 0 ||
      r.output >= g.output_count(r.node))
    throw GraphError("an edge comes from " + j.dump() + ", which does not exist before it");
  return r;
}

// Gives [node, output], and "cpu" as a third entry for an output that is copied to the host.
Json to_json(const Output& o) {
  Json j = to_json(static_cast<const Ref&>(o));
  if (o.to_host) j.push_back("cpu");
  return j;
}

Output output_of(const Json& j, const Graph& g) {
  if (j.size() > 2 && j.at(2) != "cpu")
    throw GraphError("an output is " + j.dump() + "; its third entry can be \"cpu\"");
  return {ref_of(j, g), j.size() > 2};
}

Json to_json(const Node& n) {
  Json j{{"op", n.op},
         {"name", n.name},
         {"version", n.version},
         {"device", name_of(n.device)},
         {"key", n.key}};
  if (n.is_lead) j["lead"] = true;
  j["inputs"] = Json::array();
  for (auto& in : n.inputs) j["inputs"].push_back(in ? to_json(*in) : Json(nullptr));
  j["arguments"] = Json::object();
  for (auto& [name, value] : n.arguments) j["arguments"][name] = to_json(value);
  j["computed"] = Json::object();
  for (auto& link : n.links) j["computed"][link.argument] = to_json(link.from);
  if (!n.where.empty()) j["where"] = n.where;
  return j;
}

Node node_of(const Json& j, const Graph& g) {
  Node n;
  n.op = j.at("op").get<std::string>();
  n.name = j.at("name").get<std::string>();
  n.key = j.at("key").get<std::string>();
  n.device = device_named(j.at("device").get<std::string>());
  n.is_lead = j.value("lead", false);
  n.where = j.value("where", "");
  for (auto& in : j.at("inputs"))
    n.inputs.push_back(in.is_null() ? std::nullopt : std::optional(ref_of(in, g)));
  for (auto& [name, value] : j.at("arguments").items()) n.arguments[name] = value_of(value);
  for (auto& [name, value] : j.at("computed").items()) n.links.push_back({name, ref_of(value, g)});
  return n;
}

}  // namespace

std::string save_graph(const Graph& graph, const std::string& options) {
  Json j{{"format", "stoker graph"},
         {"version", kFormat},
         {"rng_version", kRngVersion},
         {"pipeline", Json::parse(options)}};
  j["nodes"] = Json::array();
  for (const Node& n : graph.nodes) j["nodes"].push_back(to_json(n));
  j["outputs"] = Json::array();
  for (const Output& o : graph.outputs) j["outputs"].push_back(to_json(o));
  return j.dump(1);
}

Graph load_graph(const std::string& text, std::string& options) {
  try {
    const Json j = Json::parse(text);
    if (j.at("format") != "stoker graph") throw GraphError("this is not a saved Stoker graph");
    if (j.at("version").get<int>() > kFormat || j.at("rng_version").get<int>() > kRngVersion)
      throw GraphError("the saved graph is of format " + j.at("version").dump() + ", rng_version " +
                       j.at("rng_version").dump() + "; this Stoker reads up to " +
                       std::to_string(kFormat) + " and " + std::to_string(kRngVersion));
    Graph g;
    for (auto& n : j.at("nodes")) {
      const int version = n.at("version").get<int>();
      g.nodes[g.add(node_of(n, g))].version = version;
    }
    for (auto& o : j.at("outputs")) g.outputs.push_back(output_of(o, g));
    options = j.at("pipeline").dump();
    return g;
  } catch (const Json::exception& e) {
    throw GraphError(std::string("the saved graph is damaged: ") + e.what());
  }
}

}  // namespace stoker
