// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The saved form of a graph.
//
// Note [Saved graphs]
// The format is 1. Every argument and every operator's version is written, so a file says what it
// does without the defaults of this library. Loading checks everything and runs no code.
#include <charconv>
#include <cmath>

#include "base/chance/philox.h"
#include "graph/graph.h"
#include "graph/saved_value.h"

namespace stoker {

namespace {

constexpr int kFormat = 1;

// JSON holds only UTF-8, so {"percent": "caf%E9.jpg"} stands for a name of other bytes.
Json to_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string escaped;
  for (const char c : text) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    const bool is_plain = c != '%' && static_cast<unsigned char>(c) < 0x80;
    escaped += is_plain ? std::string(1, c) : code;
  }
  return Json{{"percent", escaped}};
}

std::string text_of(const SavedValue& v) {
  if (!v.json().is_object()) return v.text();
  const std::string escaped = v.at("percent").text();
  std::string text;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '%') {
      text += escaped[i];
      continue;
    }
    uint8_t byte = 0;
    const char* const code = escaped.data() + i + 1;
    if (i + 2 >= escaped.size() || std::from_chars(code, code + 2, byte, 16).ptr != code + 2)
      v.damaged("two hexadecimal digits behind each %");
    text += static_cast<char>(byte);
    i += 2;
  }
  return text;
}

// JSON has no infinity, so {"float": "inf"} stands for it.
Json to_json(double d) {
  if (std::isfinite(d)) return d;
  return Json{{"float", d > 0 ? "inf" : d < 0 ? "-inf" : "nan"}};
}

double double_of(const SavedValue& v) {
  if (!v.json().is_object()) return v.number();
  const std::string text = v.at("float").text();
  if (text != "inf" && text != "-inf" && text != "nan")
    v.at("float").damaged("\"inf\", \"-inf\" or \"nan\"");
  const double magnitude = text == "nan" ? NAN : INFINITY;
  return text[0] == '-' ? -magnitude : magnitude;
}

Json to_json(const Value& v) {
  return std::visit(
      [](const auto& x) -> Json {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return to_json(x);
        } else if constexpr (std::is_same_v<T, std::vector<double>> ||
                             std::is_same_v<T, std::vector<std::string>>) {
          Json list = Json::array();
          for (const auto& e : x) list.push_back(to_json(e));
          return list;
        } else {
          return x;
        }
      },
      v);
}

bool is_text(const Json& j) { return j.is_string() || (j.is_object() && j.contains("percent")); }

template <class T, class Read>
std::vector<T> list_of(const SavedValue& v, const Read& read) {
  std::vector<T> list;
  for (size_t i = 0; i < v.count(); ++i) list.push_back(read(v.element(i)));
  return list;
}

Value list_value(const SavedValue& v) {
  const Json& j = v.json();
  if (std::all_of(j.begin(), j.end(), [](auto& e) { return e.is_number_integer(); }))
    return list_of<int64_t>(v, [](const SavedValue& e) { return e.whole<int64_t>(); });
  if (std::all_of(j.begin(), j.end(), is_text)) return list_of<std::string>(v, text_of);
  return list_of<double>(v, double_of);
}

Value value_of(const SavedValue& v) {
  const Json& j = v.json();
  if (j.is_null()) return {};
  if (j.is_boolean()) return v.flag();
  if (j.is_number_integer()) return v.whole<int64_t>();
  if (is_text(j)) return text_of(v);
  if (j.is_array()) return list_value(v);
  return double_of(v);
}

Json to_json(const Ref& r) { return Json::array({r.node, r.output}); }

Ref ref_of(const SavedValue& v, const Graph& g) {
  if (v.count() < 2) v.damaged("the number of a node and that of its output");
  const Ref r{v.element(0).whole<int>(), v.element(1).whole<int>()};
  if (!g.has(r)) v.damaged("an output of a node before it");
  return r;
}

// Gives [node, output], and "cpu" as a third entry for an output that is copied to the host.
Json to_json(const Output& o) {
  Json j = to_json(static_cast<const Ref&>(o));
  if (o.to_host) j.push_back("cpu");
  return j;
}

Output output_of(const SavedValue& v, const Graph& g) {
  const bool to_host = v.count() > 2;
  if (to_host && v.element(2).text() != "cpu") v.element(2).damaged("\"cpu\"");
  return {ref_of(v, g), to_host};
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
  for (const Guard& g : n.guards)
    j["guards"].push_back({g.condition.node, g.condition.output, g.when});
  if (!n.where.empty()) j["where"] = n.where;
  return j;
}

Node node_of(const SavedValue& v, const Graph& g) {
  Node n;
  n.op = v.at("op").text();
  n.name = v.at("name").text();
  n.key = v.at("key").text();
  n.device = device_named(v.at("device").text());
  n.is_lead = v.has("lead") && v.at("lead").flag();
  if (v.has("where")) n.where = v.at("where").text();
  const SavedValue inputs = v.at("inputs");
  for (size_t i = 0; i < inputs.count(); ++i) {
    const SavedValue in = inputs.element(i);
    n.inputs.push_back(in.json().is_null() ? std::nullopt : std::optional(ref_of(in, g)));
  }
  for (const auto& [name, value] : v.at("arguments").entries()) n.arguments[name] = value_of(value);
  for (const auto& [name, value] : v.at("computed").entries())
    n.links.push_back({name, ref_of(value, g)});
  if (v.has("guards")) {
    const SavedValue guards = v.at("guards");
    for (size_t i = 0; i < guards.count(); ++i)
      n.guards.push_back({ref_of(guards.element(i), g), guards.element(i).element(2).flag()});
  }
  return n;
}

Graph graph_of(const SavedValue& v) {
  if (v.at("format").text() != "stoker graph") throw GraphError("this is not a saved Stoker graph");
  if (v.at("version").whole<int>(1) > kFormat || v.at("rng_version").whole<int>(1) > kRngVersion)
    throw GraphError("the saved graph is of format " + brief(v.at("version").json()) +
                     ", rng_version " + brief(v.at("rng_version").json()) +
                     "; this Stoker reads up to " + std::to_string(kFormat) + " and " +
                     std::to_string(kRngVersion));
  Graph g;
  const SavedValue nodes = v.at("nodes"), outputs = v.at("outputs");
  for (size_t i = 0; i < nodes.count(); ++i) {
    const SavedValue node = nodes.element(i);
    int version = node.at("version").whole<int>(1);
    Node n = node_of(node, g);
    const OperatorType& type = operator_named(n.op);
    if (version < type.version && type.upgrade) {
      type.upgrade(version, n.arguments);
      version = type.version;
    }
    g.nodes[g.add(std::move(n))].version = version;
  }
  for (size_t i = 0; i < outputs.count(); ++i)
    g.outputs.push_back(output_of(outputs.element(i), g));
  return g;
}

}  // namespace

std::string save_graph(const Graph& graph, const std::string& options) {
  Json j{{"format", "stoker graph"}, {"version", kFormat}, {"rng_version", kRngVersion}};
  try {
    j["pipeline"] = SavedValue(parse_saved(options)).object();
  } catch (const Damage& e) {
    throw GraphError(std::string("the pipeline's settings cannot be saved: ") + e.what());
  }
  j["nodes"] = Json::array();
  for (const Node& n : graph.nodes) j["nodes"].push_back(to_json(n));
  j["outputs"] = Json::array();
  for (const Output& o : graph.outputs) j["outputs"].push_back(to_json(o));
  return j.dump(1);
}

Graph load_graph(const std::string& text, std::string& options) {
  try {
    const Json j = parse_saved(text);
    const SavedValue saved(j);
    Graph g = graph_of(saved);
    options = saved.at("pipeline").object().dump();
    return g;
  } catch (const Damage& e) {
    throw GraphError(std::string("the saved graph is damaged: ") + e.what());
  }
}

}  // namespace stoker
