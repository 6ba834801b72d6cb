// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The registry and the graph, as Python sees them.
#include "graph/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "functions.h"
#include "text.h"

namespace stoker::python {

nb::dict describe(const ArgumentInfo& a) {
  nb::dict d;
  d["name"] = a.name;
  d["type"] = a.type;
  d["help"] = a.help;
  d["default"] = to_python(a.fallback);
  d["required"] = a.is_required;
  d["per_sample"] = a.per_sample;
  d["per_frame"] = a.per_frame;
  d["keeps_shape"] = a.keeps_shape;
  d["low"] = a.range.low;
  d["high"] = a.range.high;
  d["names"] = nb::cast(a.names);
  return d;
}

namespace {

using python::describe;
using Edge = std::pair<int, int>;

nb::dict describe(const Port& p) {
  nb::dict d;
  d["name"] = p.name;
  d["help"] = p.help;
  d["layouts"] = p.layouts;
  d["dtypes"] = p.dtypes;
  d["is_optional"] = p.is_optional;
  d["is_value"] = p.is_value;
  d["makes_frames"] = p.makes_frames;
  d["repeats"] = p.repeats;
  d["when"] = p.when;
  d["for_each"] = p.for_each;
  return d;
}

nb::dict describe(const Case& c) {
  nb::dict d;
  d["call"] = c.call;
  nb::list inputs, outputs;
  for (const char* i : c.inputs) inputs.append(i);
  for (const char* o : c.outputs) outputs.append(o);
  d["inputs"] = inputs;
  d["outputs"] = outputs;
  return d;
}

nb::dict describe(const OperatorType& t);

template <class List>
nb::list describe_all(const List& list) {
  nb::list l;
  for (const auto& x : list) l.append(describe(x));
  return l;
}

// The values that the argument `device` may have.
nb::list devices_of(const OperatorType& t) {
  nb::list l;
  l.append("cpu");
  if (t.has_gpu()) l.append("gpu");
  if (t.is_mixed()) l.append("mixed");
  return l;
}

nb::dict describe(const OperatorType& t) {
  static constexpr const char* kKinds[] = {"lower", "sample", "batch",
                                           "read",  "input",  "user_code"};
  nb::dict d;
  d["name"] = t.name;
  d["summary"] = t.summary;
  d["kind"] = kKinds[static_cast<int>(t.kind())];
  d["is_random"] = t.is_random;
  d["sees_batch"] = !t.runs_on_batch ? "never" : t.runs_on_batch->applies ? "perhaps" : "always";
  d["devices"] = devices_of(t);
  d["version"] = t.version;
  d["inputs"] = describe_all(t.inputs);
  d["outputs"] = describe_all(t.outputs);
  d["arguments"] = describe_all(t.arguments);
  d["of_devices"] = nb::cast(t.of_devices);
  d["ignored"] = nb::cast(t.ignored);
  d["cases"] = describe_all(t.cases);
  d["skip_reason"] = t.skip_reason;
  return d;
}

nb::dict describe(const Node& n) {
  nb::dict d;
  d["op"] = n.op;
  d["name"] = n.name;
  d["key"] = n.key;
  d["device"] = name_of(n.device);
  d["where"] = n.where;
  d["lead"] = n.is_lead;
  return d;
}

Ref ref_of(const Graph& g, const Edge& e) {
  const Ref r{e.first, e.second};
  if (!g.has(r)) throw GraphError("an edge comes from a node that is not in this pipeline");
  return r;
}

int add(Graph& g, const std::string& op, const std::vector<std::optional<Edge>>& inputs,
        const nb::dict& arguments, const nb::dict& links, const std::string& name,
        const std::string& device, const std::string& where, bool lead, const std::string& key,
        const std::vector<std::tuple<int, int, bool>>& guards, const std::string& scope,
        std::optional<FunctionHandle> function) {
  Node n;
  if (function) n.function = user_function(*function);
  n.op = op;
  n.scope = scope;
  for (const auto& [node, output, when] : guards)
    n.guards.push_back({ref_of(g, {node, output}), when});
  n.key = key;
  n.name = name;
  n.where = where;
  n.is_lead = lead;
  n.device = device_named(device);
  for (auto& in : inputs) n.inputs.push_back(in ? std::optional(ref_of(g, *in)) : std::nullopt);
  try {
    n.arguments = to_arguments(arguments);
  } catch (const GraphError& e) {
    throw GraphError(op + (where.empty() ? "" : " (" + where + ")") + ": " + e.what());
  }
  for (auto [key, value] : links)
    n.links.push_back({nb::cast<std::string>(key), ref_of(g, nb::cast<Edge>(value))});
  return g.add(std::move(n));
}

Graph up_to(const Graph& g, int node, const FunctionHandle& function) {
  Graph part = g;
  part.nodes.resize(static_cast<size_t>(node) + 1);
  part.nodes.back().function = user_function(function);
  part.outputs.clear();
  return part;
}

using Type = std::tuple<std::string, std::string, std::vector<int64_t>>;

std::vector<std::vector<Type>> types(const Graph& g) {
  std::vector<std::vector<Type>> all;
  for (const CheckedNode& c : check(g)) {
    auto& outputs = all.emplace_back();
    for (const TensorType& t : c.outputs)
      outputs.emplace_back(
          name_of(t.dtype), t.layout.str(),
          std::vector<int64_t>(t.shape.extent, t.shape.extent + std::max(0, t.shape.rank)));
  }
  return all;
}

// The type of one output, whatever is wrong with the nodes behind it.
Type type_of_output(const Graph& g, int node, int output) {
  Graph part = g;
  part.nodes.resize(static_cast<size_t>(node) + 1);
  part.outputs = {Output(node, output)};
  return types(part).at(node).at(output);
}

}  // namespace

void bind_graph(nb::module_& m) {
  m.def(
      "operators", [] { return describe_all(all_operators()); },
      "The descriptions of all operators.");
  m.def(
      "did_you_mean",
      [](const std::string& wrong, const std::vector<std::string>& names) {
        return did_you_mean(wrong, names);
      },
      nb::arg("wrong"), nb::arg("names"),
      "The text \" Did you mean 'x'?\" with the nearest name; \"\" if none is near.");
  nb::class_<Graph>(m, "Graph", "Operator nodes and the edges between them.")
      .def(nb::init<>())
      .def("add", &add, nb::arg("op"), nb::arg("inputs"), nb::arg("arguments"), nb::arg("links"),
           nb::arg("name"), nb::arg("device"), nb::arg("where"), nb::arg("lead") = false,
           nb::arg("key") = "", nb::arg("guards") = std::vector<std::tuple<int, int, bool>>{},
           nb::arg("scope") = "", nb::arg("function") = nb::none(),
           "Appends a node and returns its number. Nodes with the same key draw alike. Guards are "
           "conditions, each with the truth for which the node is made. Keys are counted within a "
           "scope. The function is for operators that are user code.")
      .def("up_to", &up_to, nb::arg("node"), nb::arg("function"),
           "The same nodes up to this one, which calls another function.")
      .def(
          "guards",
          [](const Graph& g, int node) {
            std::vector<std::tuple<int, int, bool>> guards;
            for (const Guard& guard : g.nodes.at(node).guards)
              guards.emplace_back(guard.condition.node, guard.condition.output, guard.when);
            return guards;
          },
          nb::arg("node"), "The guards of a node, in the order of their conditions.")
      .def(
          "set_argument",
          [](Graph& g, int node, const std::string& name, nb::handle value) {
            g.nodes.at(node).arguments[name] = to_value(value);
          },
          nb::arg("node"), nb::arg("name"), nb::arg("value").none(),
          "Sets a constant argument of a node.")
      .def(
          "argument",
          [](const Graph& g, int node, const std::string& name) {
            return to_python(g.nodes.at(node).arguments.at(name));
          },
          nb::arg("node"), nb::arg("name"), "A constant argument of a node.")
      .def("output_count", &Graph::output_count)
      .def("output_names",
           [](const Graph& g, int node) {
             nb::list names;
             for (const std::string& name : g.output_names(node))
               names.append(path_to_python(name));
             return names;
           })
      .def("set_outputs",
           [](Graph& g, const std::vector<std::tuple<int, int, bool>>& outputs) {
             g.outputs.clear();
             for (const auto& [node, output, to_host] : outputs)
               g.outputs.emplace_back(ref_of(g, {node, output}), to_host);
           })
      .def("outputs",
           [](const Graph& g) {
             std::vector<Edge> edges;
             for (const Ref& r : g.outputs) edges.emplace_back(r.node, r.output);
             return edges;
           })
      .def("check", &types,
           "The (dtype, layout, shape) of every output of every node; an unknown extent is -1.")
      .def("type_of", &type_of_output, nb::arg("node"), nb::arg("output"),
           "The (dtype, layout, shape) of one output; later nodes are not checked.")
      .def("nodes",
           [](const Graph& g) {
             nb::list l;
             for (const Node& n : g.nodes) l.append(describe(n));
             return l;
           })
      .def("node", [](const Graph& g, int number) { return describe(g.nodes.at(number)); })
      .def("save", &save_graph, nb::arg("options"),
           "The graph as versioned JSON, with `options`, a text of the pipeline, inside.")
      .def_static("load", [](const nb::bytes& text) {
        std::string options;
        Graph g = load_graph({text.c_str(), text.size()}, options);
        return std::make_pair(std::move(g), options);
      });
}

}  // namespace stoker::python
