// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a node when it is added to a graph, and again when a whole graph, which may come
// from elsewhere, is checked. The checks throw GraphError.
#pragma once
#include "graph/graph.h"

namespace stoker {

// What the key begins with if the user gave a seed, which then decides the draws alone.
std::string seed_key(const OperatorType& type);

// Inputs of a repeating port are told apart by their numbers.
std::string input_in_words(const OperatorType& type, size_t i);

// The arguments to make the operator with. A required one that is computed for each sample is 1, or
// an empty list, until then.
Arguments constants_of(const OperatorType& type, const Node& n);
std::vector<std::string> outputs_of(const OperatorType& type, const Node& n);

void check_links(const OperatorType& type, const Node& n);
void check_inputs(const OperatorType& type, const Node& n);

// What is asked of a node that may be one of another program's.
void check_call(const OperatorType& type, const Node& n);
void check_condition(const TensorType& t);
// Checks one node, after check_call() and check_edges(). All nodes before it are `done`.
// `is_needed`: whether an output of the graph depends on it.
CheckedNode check_node(const std::vector<CheckedNode>& done, const Node& n, bool is_needed);

// Whether all that the node reads is there. has(ref): a node before it gives that output.
template <class Has>
void check_edges(const OperatorType& type, const Node& n, const Has& has) {
  const auto check = [&](const std::string& what, const Ref& r) {
    if (!has(r))
      throw GraphError(what + " expects an output of a node before it, got output " +
                       std::to_string(r.output) + " of node " + std::to_string(r.node));
  };
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i]) check(input_in_words(type, i), *n.inputs[i]);
  for (const ArgumentLink& link : n.links) check("argument '" + link.argument + "'", link.from);
}

}  // namespace stoker
