// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/resample_channels.h"

#include "kernels/fused/fused.h"

namespace stoker {

namespace {

View channel_of(View v, int64_t channel) {
  if (v.shape.rank == 1) return v;
  v.data = v.as<std::byte>() + (channel - v.origin[1]) * v.strides[1];
  for (Shape* s : {&v.shape, &v.strides, &v.origin, &v.full}) s->rank = 1;
  v.layout = {};
  return v;
}

}  // namespace

void resample_channels(const SignalResampler& r, const View& in, const View& out,
                       const SignalScaling& scaling, Arena& scratch) {
  const PaddedSignal signal(r, in.shape[0], scratch);
  const float* const phases = phase_weights(r, out.shape[0], scratch);
  float* values = scratch.array<float>(static_cast<size_t>(out.shape[0]));
  Block to_float{Convert{}, DType::kFloat32};
  if (scaling.is_shifted()) to_float.kind = Pointwise{{}, {scaling.gain}, {scaling.offset}};
  const Block to_output{Pointwise{{}, {scaling.factor}, {}}, out.dtype};
  const int64_t first = out.shape.rank == 1 ? 0 : out.origin[1];
  const int64_t channels = out.shape.rank == 1 ? 1 : out.shape[1];
  for (int64_t c = first; c < first + channels; ++c) {
    View from = channel_of(in, c), to = channel_of(out, c);
    from.layout = to.layout = {};
    run_blocks({&to_float, 1}, from,
               View::window(signal.values, DType::kFloat32, from.covers(), from.full), scratch);
    resample_signal(r, phases, signal.values, in.origin[0], out.origin[0], out.shape[0], values);
    run_blocks({&to_output, 1}, View::window(values, DType::kFloat32, to.covers(), to.full), to,
               scratch);
  }
}

}  // namespace stoker
