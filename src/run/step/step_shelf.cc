// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/step_shelf.h"

namespace stoker {

void StepShelf::begin(Step& step, int i) {
  step_ = &step;
  i_ = i;
}

bool StepShelf::prepare(int node, const TensorType& type, const Window& window,
                        const DecodeRequest& request) {
  if (step_->is_refused[i_]) return false;
  Picture& p = picture(node);
  try {
    p.prepared = decoder_->prepare(request, pool_);
  } catch (const Starved& s) {
    step_->claim(i_, plan_.planned(node).stage, s.bytes);  // throws if it will always be so
    throw;
  }
  if (!p.prepared) return false;
  p.type = type;
  p.window = window;
  return true;
}

View StepShelf::reserve(int node, const TensorType& type, const Window& window) {
  Picture& p = picture(node);
  p.type = type;
  p.window = window;
  p.pixels = View::window(nullptr, type.dtype, window, type.shape, type.layout);
  const auto bytes = static_cast<size_t>(std::max<int64_t>(p.pixels.bytes(), 1));
  step_->claim(i_, plan_.planned(node).stage, size_class(bytes));
  p.owner = pool_.try_acquire(bytes, Use::kOutput);
  if (!p.owner) throw Starved{{}, size_class(bytes)};
  p.pixels.data = p.owner->data();
  return p.pixels;
}

}  // namespace stoker
