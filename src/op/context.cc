// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/context.h"

#include <cstring>
#include <utility>

namespace stoker {

void Reading::share(size_t k, const TensorType& t, io::Part bytes) {
  static uint8_t nothing[1];  // an output of no elements has an address all the same
  const auto element = static_cast<size_t>(size_of(t.dtype));
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % element == 0;
  if (bytes.empty() || is_aligned) {
    auto* data = const_cast<uint8_t*>(bytes.empty() ? nothing : bytes.data());
    outputs[k] = View::dense(data, t.dtype, t.shape, t.layout);
  } else {
    std::memcpy(make(k, t).data, bytes.data(), bytes.size());
  }
}

void Lowering::add(BlockKind kind, DType result) {
  blocks_.push_back({std::move(kind), result});
  type_ = after(blocks_.back(), type_);
}

void SampleStore::read(Reading&) const { throw Error("the store makes no samples"); }

}  // namespace stoker
