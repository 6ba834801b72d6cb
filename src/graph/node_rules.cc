// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/node_rules.h"

#include "op/output_names.h"
#include "op/type_of.h"

namespace stoker {

std::string seed_key(const OperatorType& type) { return type.draws_as + "/seed:"; }

std::string input_in_words(const OperatorType& type, size_t i) {
  const Port& port = type.input(i);
  return (port.repeats ? "input " + std::to_string(i) + " of '" : "input '") + port.name + "'";
}

Arguments constants_of(const OperatorType& type, const Node& n) {
  Arguments a = n.arguments;
  for (const ArgumentLink& link : n.links) {
    const ArgumentInfo& info = type.arguments[type.argument(link.argument)];
    if (!info.is_required) continue;
    if (info.type.starts_with("Sequence")) a[link.argument] = std::vector<int64_t>{};
    else a[link.argument] = int64_t{1};
  }
  return a;
}

std::vector<std::string> outputs_of(const OperatorType& type, const Node& n) {
  return stoker::output_names(
      type, n.arguments, [&](size_t i) { return i < n.inputs.size() && n.inputs[i].has_value(); });
}

void check_links(const OperatorType& type, const Node& n) {
  for (const ArgumentLink& link : n.links) {
    const int i = type.argument(link.argument);
    if (i < 0) detail::unknown_argument(type, link.argument);
    if (!type.arguments[i].per_sample)
      throw_fault<GraphError>(
          Fault::kType,
          "argument '" + link.argument + "' takes a constant, not the output of another operator");
  }
}

void check_inputs(const OperatorType& type, const Node& n) {
  size_t least = 0;
  for (const Port& p : type.inputs) least += !p.is_optional;
  if (n.inputs.size() >= least && n.inputs.size() <= type.most_inputs()) {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (!n.inputs[i])
        throw_fault<GraphError>(
            Fault::kType, input_in_words(type, i) + " expects the output of an operator, got None");
    return;
  }
  std::string expected = std::to_string(least);
  if (least != type.most_inputs()) expected += " to " + std::to_string(type.most_inputs());
  throw_fault<GraphError>(
      Fault::kType, "takes " + expected + (expected == "1" ? " input" : " inputs") + ", got " +
                        std::to_string(n.inputs.size()) +
                        (n.inputs.size() > least ? "; arguments are given by name, as in " +
                                                       std::string(type.name) + "(..., name=value)"
                                                 : ""));
}

}  // namespace stoker
