// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/state.h"

#include <nlohmann/json.hpp>

namespace stoker {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kFormat = 1;

const char* name_of(io::OrderSpec::EpochEnd end) {
  return end == io::OrderSpec::EpochEnd::kPad    ? "pad"
         : end == io::OrderSpec::EpochEnd::kDrop ? "drop"
                                                 : "continue";
}

std::string order_name(const Plan& plan, int r) {
  return plan.reader_count() ? plan.node(plan.reader_node(r)).name : "pipeline";
}

// What the coming samples depend on, beyond the cursor.
Json order_json(const Plan& plan, int r) {
  const io::Order& o = plan.order(r);
  const io::OrderSpec& s = o.spec();
  Json j{{"size", s.size}, {"key", s.key}, {"shuffle", s.shuffle}, {"epoch_end", name_of(s.end)}};
  if (o.contiguous()) {
    j["num_shards"] = s.num_shards;
    j["stick_to_shard"] = s.stick_to_shard;
  }
  return j;
}

Json chance_json(const Plan& plan) {
  Json j = Json::object();
  for (int i = 0; i < plan.size(); ++i)
    if (plan.plan(i).is_used && plan.checked(i).type->is_random)
      j[plan.node(i).name] =
          plan.node(i).key + " v" + std::to_string(plan.checked(i).type->version);
  return j;
}

Json graph_json(const Plan& plan) {
  Json j = Json::array();
  for (int i = 0; i < plan.size(); ++i)
    if (plan.plan(i).is_used) j.push_back(plan.node(i).op);
  return j;
}

void refuse(bool force, std::vector<std::string>& warnings, const std::string& why) {
  if (!force) throw StateError(why + "; restore(state, force=True) goes on all the same");
  warnings.push_back(why);
}

void restore_order(const Json& saved, const Plan& plan, int r, bool force, RestoredState& out) {
  const std::string name = order_name(plan, r);
  const Json now = order_json(plan, r);
  const Json& then = saved.at("order");
  if (then.contains("num_shards") && now.contains("num_shards") &&
      then["num_shards"] != now["num_shards"])
    throw StateError(
        "reader '" + name + "' deals contiguous shards: what " + then["num_shards"].dump() +
        " shards have read is no prefix of the set, so it cannot be dealt to " +
        now["num_shards"].dump() +
        "; restore with the same number, or use random_shuffle=True without stick_to_shard");
  for (auto& [key, value] : now.items())
    if (!then.contains(key) || then[key] != value)
      refuse(force, out.warnings,
             "reader '" + name + "': " + key + " was " +
                 (then.contains(key) ? then[key].dump() : "not set") + ", now it is " +
                 value.dump());
  if (then.contains("num_shards") != now.contains("num_shards"))
    refuse(force, out.warnings, "reader '" + name + "' dealt its samples in another way");
  const int64_t cursor = saved.at("cursor").get<int64_t>();
  if (cursor < 0)
    throw StateError("reader '" + name + "': the state's cursor is " + std::to_string(cursor));
  out.cursors.push_back(cursor);
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
  }
  j["chance"] = chance_json(plan);
  j["graph"] = graph_json(plan);
  return j.dump();
}

RestoredState load_state(const std::string& text, const Plan& plan, uint64_t seed,
                         bool seed_is_drawn, bool force) {
  RestoredState out{{}, seed, {}};
  try {
    const Json j = Json::parse(text);
    if (j.at("format") != "stoker state") throw StateError("this is not a pipeline's state");
    if (j.at("version").get<int>() > kFormat)
      throw StateError("the state is of version " + j.at("version").dump() +
                       ", this Stoker reads up to " + std::to_string(kFormat));
    if (j.at("rng_version") != kRngVersion)
      refuse(force, out.warnings, "the state's rng_version is " + j.at("rng_version").dump());
    for (int r = 0; r < plan.order_count(); ++r) {
      const std::string name = order_name(plan, r);
      if (!j.at("orders").contains(name))
        throw StateError("the state knows no reader '" + name + "'");
      restore_order(j["orders"][name], plan, r, force, out);
    }
    if (j.at("chance") != chance_json(plan))
      refuse(force, out.warnings,
             "random operators or their keys changed: " + j.at("chance").dump() + " became " +
                 chance_json(plan).dump());
    if (j.at("graph") != graph_json(plan))
      out.warnings.push_back("the graph was edited: " + j.at("graph").dump() + " became " +
                             graph_json(plan).dump());
    const uint64_t then = j.at("seed").get<uint64_t>();
    if (seed_is_drawn) out.seed = then;
    else if (then != seed)
      out.warnings.push_back("the state was made with seed " + std::to_string(then) +
                             ", this pipeline has " + std::to_string(seed) +
                             ": draws differ from those of the interrupted run");
  } catch (const Json::exception& e) {
    throw StateError(std::string("the state is damaged: ") + e.what());
  }
  return out;
}

}  // namespace stoker
