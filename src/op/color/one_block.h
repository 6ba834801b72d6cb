// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/context.h"

namespace stoker {

// Lowers to one block. Op has `Block block(const TensorType& in) const`, which throws WrongCall.
template <class Op>
class OneBlock {
 public:
  void check(Checker& c) const { c.out(after(made(c.in()), c.in())); }
  void lower(Lowering& l) const {
    const Block b = made(l.type());
    l.add(b.kind, b.result);
  }

 private:
  friend Op;
  OneBlock() = default;
  Block made(const TensorType& in) const { return static_cast<const Op*>(this)->block(in); }
};

}  // namespace stoker
