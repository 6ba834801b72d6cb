// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <sstream>

#include "function.h"
#include "op/case_testing.h"

namespace stoker::torture {

namespace {

using test::Text;

template <class S>
Arguments members(const S& s) {
  Arguments all;
  S::each(s, [&](const char* name, const auto& member) { all[name] = to_value(member); });
  return all;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string s;
  for (const std::string& p : parts) s += (s.empty() ? "" : ", ") + p;
  return s;
}

// "name=value, name=value" of the members that are not as usual.
template <class S>
std::string differences(const S& s) {
  const Arguments usual = members(S{});
  std::vector<std::string> parts;
  for (const auto& [name, value] : members(s))
    if (to_string(value) != to_string(usual.at(name)))
      parts.push_back(name + "=" + to_string(value));
  return joined(parts);
}

template <class S>
S read_members(Text& text) {
  S s;
  Arguments given = text.arguments();
  S::each(s, [&](const char* name, auto& member) {
    const auto it = given.find(name);
    if (it == given.end()) return;
    from_value(it->second, member);
    given.erase(it);
  });
  if (!given.empty()) throw std::runtime_error("unknown: " + given.begin()->first);
  return s;
}

std::string words(const Ref& r) {
  return "v" + std::to_string(r.node) + "." + std::to_string(r.output);
}

Ref ref_named(const std::string& w) {
  const size_t dot = w.find('.');
  if (w[0] != 'v' || dot == w.npos) throw std::runtime_error("expected a value as v0.0, not " + w);
  return {std::stoi(w.substr(1, dot)), std::stoi(w.substr(dot + 1))};
}

const std::string kWhen = "when", kUnless = "unless";  // guards

// "crop(v0.0, None, crop=[1, 2], crop_pos_x=v1.0, unless=v2.0, device='gpu')"
std::string words(const Node& n) {
  std::vector<std::string> parts;
  for (const auto& in : n.inputs) parts.push_back(in ? words(*in) : "None");
  for (const auto& [name, value] : n.arguments) parts.push_back(name + "=" + to_string(value));
  for (const ArgumentLink& l : n.links) parts.push_back(l.argument + "=" + words(l.from));
  for (const Guard& g : n.guards)
    parts.push_back((g.when ? kWhen : kUnless) + ("=" + words(g.condition)));
  if (n.device != DeviceKind::kCpu)
    parts.push_back(std::string("device='") + name_of(n.device) + "'");
  return n.op + "(" + joined(parts) + ")";
}

void read_part(Text& text, Node& n) {
  const std::string w = text.word();
  if (!text.skip('=')) n.inputs.push_back(w == "None" ? std::nullopt : std::optional(ref_named(w)));
  else if (w == kWhen || w == kUnless) n.guards.push_back({ref_named(text.word()), w == kWhen});
  else if (text.peek() == 'v') n.links.push_back({w, ref_named(text.word())});
  else if (w == "device") n.device = device_named(std::get<std::string>(text.value()));
  else n.arguments[w] = text.value();
}

Node read_node(Text& text) {
  Node n;
  text.take('=');
  n.op = text.word();
  text.take('(');
  while (!text.skip(')')) {
    read_part(text, n);
    text.skip(',');
  }
  return n;
}

void read_line(Trial& t, const std::string& line) {
  Text text(line);
  if (!text.peek()) return;
  const std::string what = text.word();
  if (what == "trial") t.common = read_members<Common>(text);
  else if (what == "file") t.files.push_back(read_members<MadeFile>(text));
  else if (what == "feed") t.feeds.push_back(read_members<Fed>(text));
  else if (what == "way") t.ways.push_back(read_members<Way>(text));
  else if (what == "out") {
    const Ref from = ref_named(text.word());
    t.outputs.emplace_back(from, text.peek() != '\0');
  } else if (what == "v" + std::to_string(t.nodes.size())) {
    t.nodes.push_back(read_node(text));
  } else {
    throw std::runtime_error("cannot read the line '" + line + "'");
  }
}

// All readers share the arguments of a shard.
void deal(Node& n, const Way& way) {
  if (way.shards == 1) return;
  n.arguments["num_shards"] = int64_t{way.shards};
  n.arguments["shard_id"] = int64_t{way.shard};
}

void find_files(const OperatorType& type, Node& n, const std::string& folder) {
  if (type.argument("files") >= 0 && type.argument("file_root") >= 0 &&
      n.arguments.contains("files"))
    n.arguments.try_emplace("file_root", folder);
}

}  // namespace

bool Trial::uses_device() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& n) { return n.device != DeviceKind::kCpu; });
}

bool Trial::has(OperatorKind kind) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const Node& n) { return operator_named(n.op).kind() == kind; });
}

bool Trial::calls_functions() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& n) { return operator_named(n.op).is_user_code; });
}

bool Trial::may_see_batch() const {
  return has_sides_that_differ() || std::any_of(nodes.begin(), nodes.end(), [](const Node& n) {
           const OperatorType& type = operator_named(n.op);
           return type.is_user_code || type.runs_on_batch;
         });
}

// Whether what one sample becomes may spoil a batch: Note [Sides that differ] (graph/graph.h).
bool Trial::has_sides_that_differ() const {
  try {
    const CheckedGraph checked = check(graph_of(*this, {}, ""));
    return std::ranges::any_of(checked.variants, [](const auto& v) { return v.size() > 1; });
  } catch (const GraphError&) {
    return false;
  }
}

std::string to_text(const Trial& t) {
  std::ostringstream s;
  s << "trial " << differences(t.common) << "\n";
  for (const MadeFile& f : t.files) s << "file " << differences(f) << "\n";
  for (size_t i = 0; i < t.nodes.size(); ++i) s << "v" << i << " = " << words(t.nodes[i]) << "\n";
  for (const Fed& f : t.feeds) s << "feed " << differences(f) << "\n";
  for (const Output& o : t.outputs)
    s << "out " << words(o) << (o.to_host ? " to_host" : "") << "\n";
  for (const Way& w : t.ways) s << "way " << differences(w) << "\n";
  return s.str();
}

Trial read(const std::string& text) {
  Trial t;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) read_line(t, line);
  return t;
}

Graph graph_of(const Trial& t, const Way& way, const std::string& folder) {
  Graph g;
  for (Node n : t.nodes) {
    const OperatorType& type = operator_named(n.op);
    if (way.on_cpu) n.device = DeviceKind::kCpu;
    if (type.kind() == OperatorKind::kRead) {
      deal(n, way);
      find_files(type, n, folder);
    }
    if (has_function(type)) n.function = function_for(n);
    g.add(std::move(n));
  }
  g.outputs = t.outputs;
  return g;
}

}  // namespace stoker::torture
