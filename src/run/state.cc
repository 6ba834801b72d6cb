// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/state.h"

#include <map>

#include "base/hash.h"
#include "base/hex.h"
#include "graph/saved_value.h"
#include "op/reader.h"

namespace stoker {

namespace {

constexpr int kFormat = 1;

std::string order_name(const Plan& plan, int r) {
  return plan.reader_count() ? plan.node(plan.reader_node(r)).name : "pipeline";
}

// What coming samples depend on besides the cursor.
Json order_json(const Plan& plan, int r) {
  const io::Order& o = plan.order(r);
  const io::OrderSpec& s = o.spec();
  Json j{{"size", s.size},
         {"key", s.key},
         {"shuffle", s.shuffle},
         {"epoch_end", EnumNames<io::OrderSpec::EpochEnd>::kNames[static_cast<int>(s.end)]}};
  if (s.blocks) {
    j["shuffle_by"] = "block";
    j["initial_fill"] = s.window;
    j["blocks"] = hex(s.blocks->fingerprint());
  }
  if (o.contiguous()) {
    j["num_shards"] = s.num_shards;
    j["stick_to_shard"] = s.stick_to_shard;
  }
  return j;
}

// The value as Python writes it, or a hash if that is long.
std::string argument_text(const Value& v) {
  const std::string s = valid_utf8(to_string(v));
  return s.size() <= 60 ? s : "hash " + hex(hash64(s));
}

// The arguments of a node that differ from their defaults. A reader's are in its order.
Json arguments_json(const Plan& plan, int i) {
  const Node& n = plan.node(i);
  const OperatorType& type = *plan.checked(i).type;
  Json j = Json::object();
  if (type.reads) return j;
  for (const ArgumentInfo& a : type.arguments) {
    const auto given = n.arguments.find(a.name);
    // Compares texts, as an empty list may be one of floats or, from a saved graph, of integers.
    if (given != n.arguments.end() && to_string(given->second) != to_string(a.fallback))
      j[a.name] = argument_text(given->second);
  }
  for (const ArgumentLink& link : n.links) {
    int from = link.from.node;
    while (plan.node(from).given < 0) from = plan.node(from).inputs[0]->node;  // a copy
    j[link.argument] = "computed by " + plan.node(from).op;
  }
  return j;
}

// The used nodes of the graph that was given, in its order.
std::vector<int> used_nodes(const Plan& plan) {
  std::map<int, int> by_given;
  for (int i = 0; i < plan.size(); ++i)
    if (plan.planned(i).is_used && plan.node(i).given >= 0) by_given.emplace(plan.node(i).given, i);
  std::vector<int> nodes;
  for (const auto& [given, node] : by_given) nodes.push_back(node);
  return nodes;
}

// Of the used nodes: the keys of random ones, the operators, and their arguments.
Json nodes_json(const Plan& plan) {
  Json chance = Json::object(), graph = Json::array(), arguments = Json::array();
  for (const int i : used_nodes(plan)) {
    const Node& n = plan.node(i);
    const OperatorType& type = *plan.checked(i).type;
    if (type.is_random) chance[n.name] = n.key + " v" + std::to_string(type.version);
    graph.push_back(n.op);
    arguments.push_back(arguments_json(plan, i));
  }
  return {{"chance", chance}, {"graph", graph}, {"arguments", arguments}};
}

// "key was 3, now it is 4"
std::string change(const std::string& what, const Json& then, const Json& now, const char* absent) {
  auto text = [&](const Json& side) {
    if (!side.contains(what)) return std::string(absent);
    return side[what].is_string() ? shortened(side[what].get<std::string>(), 200)
                                  : brief(side[what], 200);
  };
  return what + " was " + text(then) + ", now it is " + text(now);
}

void warn_of_arguments(const SavedValue& saved, const Json& all, const Plan& plan,
                       std::vector<std::string>& warnings) {
  if (saved.count() != all.size()) saved.damaged("a list of " + std::to_string(all.size()));
  size_t k = 0;
  for (const int i : used_nodes(plan)) {
    const Json &then = saved.element(k).object(), &now = all[k];
    ++k;
    Json both = now;
    both.update(then);
    for (auto& [name, value] : both.items())
      if (!then.contains(name) || !now.contains(name) || then[name] != now[name])
        warnings.push_back(node_in_words(plan.node(i)) + ": " +
                           change(name, then, now, "the default"));
  }
}

void refuse(bool force, std::vector<std::string>& warnings, const std::string& why) {
  if (!force) throw StateError(why + "; with force=True the state is taken all the same");
  warnings.push_back(why);
}

void restore_order(const SavedValue& saved, const Plan& plan, int r, bool force,
                   RestoredState& out) {
  const std::string name = order_name(plan, r);
  const Json now = order_json(plan, r);
  const Json& then = saved.at("order").object();
  if (then.contains("num_shards") && now.contains("num_shards") &&
      then["num_shards"] != now["num_shards"])
    throw StateError(
        "reader '" + name + "' deals contiguous shards: what " + brief(then["num_shards"]) +
        " shards have read is no prefix of the set, so it cannot be dealt to " +
        now["num_shards"].dump() +
        "; restore with the same number, or use random_shuffle=True without stick_to_shard");
  for (auto& [key, value] : now.items())
    if (!then.contains(key) || then[key] != value)
      refuse(force, out.warnings, "reader '" + name + "': " + change(key, then, now, "not set"));
  if (then.contains("num_shards") != now.contains("num_shards"))
    refuse(force, out.warnings, "reader '" + name + "' dealt its samples in another way");
  // States of older versions have no fingerprint.
  if (saved.has("files") && saved.at("files").text() != hex(plan.store(r).fingerprint()))
    refuse(force, out.warnings, "reader '" + name + "' reads other files: names or labels differ");
  out.cursors.push_back(saved.at("cursor").whole<int64_t>(0, io::Order::kMaxCursor));
}

Json parsed(const std::string& text) {
  try {
    return parse_saved(text);
  } catch (const Damage& e) {
    throw StateError(std::string("this is not a pipeline's state: ") + e.what() +
                     "; restore() takes the text itself, no file's name, got '" +
                     shortened(text, 40) + "'");
  }
}

void restore_state(const SavedValue& saved, const Plan& plan, bool seed_is_drawn, bool force,
                   RestoredState& out) {
  if (const int version = saved.at("version").whole<int>(1); version > kFormat)
    throw StateError("the state is of version " + std::to_string(version) +
                     ", this Stoker reads up to " + std::to_string(kFormat));
  if (const int version = saved.at("rng_version").whole<int>(); version != kRngVersion)
    refuse(force, out.warnings, "the state's rng_version is " + std::to_string(version));
  const SavedValue orders = saved.at("orders");
  for (int r = 0; r < plan.order_count(); ++r) {
    const std::string name = order_name(plan, r);
    if (!orders.has(name)) {
      std::string known;
      for (const auto& [of, order] : orders.object().items())
        known += (known.empty() ? "; it has '" : ", '") + shortened(of, 60) + "'";
      throw StateError("the state knows no reader '" + name + "'" + known);
    }
    restore_order(orders.at(name), plan, r, force, out);
  }
  const Json nodes = nodes_json(plan);
  const auto edit = [&](const char* key) {
    return brief(saved.at(key).json(), 500) + " became " + brief(nodes[key], 500);
  };
  if (saved.at("chance").json() != nodes["chance"])
    refuse(force, out.warnings, "random operators or their keys changed: " + edit("chance"));
  if (saved.at("graph").json() != nodes["graph"])
    out.warnings.push_back("the graph was edited: " + edit("graph"));
  else if (saved.has("arguments"))  // not in states of older versions
    warn_of_arguments(saved.at("arguments"), nodes["arguments"], plan, out.warnings);
  const auto then = saved.at("seed").whole<uint64_t>(0, INT64_MAX);
  if (!seed_is_drawn && then != out.seed)
    out.warnings.push_back("the state was made with seed " + std::to_string(then) +
                           ", this pipeline has " + std::to_string(out.seed) +
                           ": draws differ from those of the interrupted run");
  if (seed_is_drawn) out.seed = then;
}

}  // namespace

std::string save_state(const Plan& plan, uint64_t seed, const std::vector<int64_t>& cursors) {
  Json j{{"format", "stoker state"},
         {"version", kFormat},
         {"rng_version", kRngVersion},
         {"seed", seed}};
  j["orders"] = Json::object();
  for (int r = 0; r < plan.order_count(); ++r) {
    j["orders"][order_name(plan, r)] = {{"cursor", cursors[r]},
                                        {"epoch", plan.order(r).epoch_of(cursors[r])},
                                        {"order", order_json(plan, r)}};
    if (plan.reader_count())
      j["orders"][order_name(plan, r)]["files"] = hex(plan.store(r).fingerprint());
  }
  j.update(nodes_json(plan));
  return j.dump();
}

RestoredState load_state(const std::string& text, const Plan& plan, uint64_t seed,
                         bool seed_is_drawn, bool force) {
  const Json json = parsed(text);
  if (!json.is_object() || json.value("format", Json()) != "stoker state")
    throw StateError("this is not a pipeline's state");
  RestoredState out{{}, seed, {}};
  try {
    restore_state(SavedValue(json), plan, seed_is_drawn, force, out);
  } catch (const Damage& e) {
    throw StateError(std::string("the state is damaged: ") + e.what());
  }
  return out;
}

}  // namespace stoker
