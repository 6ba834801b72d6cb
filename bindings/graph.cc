// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The graph, as Python sees it.
#include "graph/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "functions.h"
#include "text.h"

namespace stoker::python {

namespace {

using Edge = std::pair<int, int>;

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

void require(const Graph& g, const Ref& r) {
  if (!g.has(r)) throw GraphError("an edge comes from a node that is not in this pipeline");
}

using GuardTuple = std::tuple<int, int, bool>;

int add(Graph& g, const Node& n) {
  for (const Guard& guard : n.guards) require(g, guard.condition);
  for (const auto& in : n.inputs)
    if (in) require(g, *in);
  for (const ArgumentLink& link : n.links) require(g, link.from);
  return g.add(n);
}

// The readers that the outputs need, except those in a branch.
std::vector<int> readers_of(const Graph& g) {
  std::vector<char> is_used(g.nodes.size());
  std::vector<int> readers;
  for (const Output& o : g.outputs) is_used[o.node] = true;
  for (int i = static_cast<int>(g.nodes.size()) - 1; i >= 0; --i) {
    const Node& n = g.nodes[i];
    if (!is_used[i]) continue;
    for (const auto& in : n.inputs)
      if (in) is_used[in->node] = true;
    for (const ArgumentLink& link : n.links) is_used[link.from.node] = true;
    for (const Guard& guard : n.guards) is_used[guard.condition.node] = true;
    if (operator_named(n.op).reads && n.guards.empty()) readers.insert(readers.begin(), i);
  }
  return readers;
}

// A function takes the place of a node that calls none. The graph's outputs are the readers' first
// ones: what is read decides at which places the samples are.
Graph probe(const Graph& g, int node, const FunctionHandle& function) {
  Graph part = g;
  part.nodes.resize(static_cast<size_t>(node) + 1);
  Node& last = part.nodes.back();
  if (!last.function) {
    last.op = "python_function";
    last.arguments.clear();
  }
  last.function = number_function(function);
  part.outputs.clear();
  for (int reader : readers_of(g)) {
    if (reader > node) part.nodes.push_back(g.nodes[reader]);
    part.outputs.emplace_back(reader > node ? static_cast<int>(part.nodes.size()) - 1 : reader, 0);
  }
  return part;
}

using Type = std::tuple<std::string, std::string, std::vector<int64_t>>;

Type described(const TensorType& t) {
  return {name_of(t.dtype), std::string(t.layout.str()),
          std::vector<int64_t>(t.shape.extent, t.shape.extent + std::max(0, t.shape.rank))};
}

using Types = std::vector<Type>;  // of one output: those that its batches may have

std::vector<std::vector<Types>> types(const Graph& g) {
  std::vector<std::vector<Types>> all;
  for (const auto& node : check(g).types) {
    auto& outputs = all.emplace_back();
    for (const std::vector<TensorType>& variants : node) {
      Types& list = outputs.emplace_back();
      for (const TensorType& t : variants) list.push_back(described(t));
    }
  }
  return all;
}

// The types of one output, whatever is wrong with the nodes behind it.
Types types_of_output(const Graph& g, int node, int output) {
  Graph part = g;
  part.nodes.resize(static_cast<size_t>(node) + 1);
  part.outputs = {Output(node, output)};
  return types(part).at(node).at(output);
}

void set_arguments(Node& n, const nb::dict& arguments) {
  try {
    n.arguments = to_arguments(arguments);
  } catch (const GraphError& e) {
    throw_like<GraphError>(e,
                           n.op + (n.where.empty() ? "" : " (" + n.where + ")") + ": " + e.what());
  }
}

void set_inputs(Node& n, const std::vector<std::optional<Edge>>& inputs) {
  n.inputs.clear();
  for (const auto& in : inputs)
    n.inputs.push_back(in ? std::optional(Ref{in->first, in->second}) : std::nullopt);
}

void set_links(Node& n, const nb::dict& links) {
  n.links.clear();
  for (auto [name, edge] : links) {
    const auto [node, output] = nb::cast<Edge>(edge);
    n.links.push_back({nb::cast<std::string>(name), {node, output}});
  }
}

void set_guards(Node& n, const std::vector<GuardTuple>& guards) {
  n.guards.clear();
  for (const auto& [node, output, when] : guards) n.guards.push_back({{node, output}, when});
}

std::vector<GuardTuple> guards_of(const Graph& g, int node) {
  std::vector<GuardTuple> guards;
  for (const Guard& guard : g.nodes.at(node).guards)
    guards.emplace_back(guard.condition.node, guard.condition.output, guard.when);
  return guards;
}

void set_argument(Graph& g, int node, const std::string& name, nb::handle value) {
  g.nodes.at(node).arguments[name] = to_value(value);
}

nb::object argument_of(const Graph& g, int node, const std::string& name) {
  return to_python(g.nodes.at(node).arguments.at(name));
}

nb::list output_names(const Graph& g, int node) {
  nb::list names;
  for (const std::string& name : g.output_names(node)) names.append(path_to_python(name));
  return names;
}

void set_outputs(Graph& g, const std::vector<std::tuple<int, int, bool>>& outputs) {
  g.outputs.clear();
  for (const auto& [node, output, to_host] : outputs) {
    require(g, {node, output});
    g.outputs.emplace_back(Ref{node, output}, to_host);
  }
}

std::vector<Edge> outputs_of(const Graph& g) {
  std::vector<Edge> edges;
  for (const Ref& r : g.outputs) edges.emplace_back(r.node, r.output);
  return edges;
}

nb::list nodes_of(const Graph& g) {
  nb::list l;
  for (const Node& n : g.nodes) l.append(describe(n));
  return l;
}

std::pair<Graph, std::string> load(const nb::bytes& text) {
  std::string options;
  Graph g = load_graph({text.c_str(), text.size()}, options);
  return {std::move(g), options};
}

void bind_node(nb::module_& m) {
  nb::class_<Node>(m, "Node",
                   "A node to add to a graph. Edges are (node, output), by the nodes' numbers.")
      .def(
          "__init__",
          [](Node* self, const std::string& op, const std::string& where,
             const std::string& device) {
            new (self) Node{.op = op, .device = device_named(device), .where = where};
          },
          nb::arg("op"), nb::arg("where") = "", nb::arg("device") = "cpu")
      .def_rw("name", &Node::name)
      .def_rw("key", &Node::key, "Nodes with the same key draw alike; \"\" gives it its own.")
      .def_rw("lead", &Node::is_lead)
      .def_rw("scope", &Node::scope, "Keys are counted within it.")
      .def("set_inputs", &set_inputs, nb::arg("edges"), "None stands for an optional input.")
      .def("set_arguments", &set_arguments, nb::arg("constants"))
      .def("set_links", &set_links, nb::arg("edges"), "Arguments that other nodes compute.")
      .def("set_guards", &set_guards, nb::arg("conditions"),
           "Each a node, its output, and the truth for which this node is made.")
      .def(
          "set_function", [](Node& n, const FunctionHandle& f) { n.function = user_function(f); },
          nb::arg("function"), "For operators that are user code.");
}

void bind_graph_class(nb::module_& m) {
  nb::class_<Graph>(m, "Graph", "Operator nodes and the edges between them.")
      .def(nb::init<>())
      .def("add", &add, nb::arg("node"), "Appends a node and returns its number.")
      .def("probe", &probe, nb::arg("node"), nb::arg("function"),
           "The same nodes up to this one, which calls the function and gives one int32 for each "
           "sample. Outputs are those of the readers that the outputs of this graph need.")
      .def("guards", &guards_of, nb::arg("node"),
           "The guards of a node, in the order of their conditions.")
      .def("set_argument", &set_argument, nb::arg("node"), nb::arg("name"), nb::arg("value").none(),
           "Sets a constant argument of a node.")
      .def("argument", &argument_of, nb::arg("node"), nb::arg("name"),
           "A constant argument of a node.")
      .def("output_count", &Graph::output_count)
      .def("output_names", &output_names)
      .def("set_outputs", &set_outputs)
      .def("outputs", &outputs_of)
      .def("check", &types,
           "For every output of every node the (dtype, layout, shape) it may have; -1: unknown.")
      .def("types_of", &types_of_output, nb::arg("node"), nb::arg("output"),
           "The (dtype, layout, shape) that one output may have; later nodes are not checked.")
      .def("nodes", &nodes_of)
      .def("node", [](const Graph& g, int number) { return describe(g.nodes.at(number)); })
      .def("save", &save_graph, nb::arg("options"),
           "The graph as versioned JSON, with `options`, a text of the pipeline, inside.")
      .def_static("load", &load);
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_node(m);
  bind_graph_class(m);
}

}  // namespace stoker::python
