// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy_window.h"

#include <algorithm>

namespace stoker {

namespace {

// It costs less to read this many bytes too many than to make another call.
constexpr int64_t kMergedGap = 16 << 10;

}  // namespace

NpyWindow::NpyWindow(const NpyHeader& header, const Window& window)
    : header_(header),
      window_(window),
      steps_(Shape::filled(header.shape.rank, 0)),
      run_bytes_(size_of(header.dtype)) {
  const int rank = header.shape.rank;
  const auto axis = [&](int from_inside) {
    return header.is_fortran ? from_inside : rank - 1 - from_inside;
  };
  int64_t step = size_of(header.dtype);
  for (int k = 0; k < rank; ++k) {
    const int a = axis(k);
    steps_[a] = step;
    step *= header.shape[a];
    const int64_t extent = window.end[a] - window.begin[a];
    const bool has_gaps = extent > 1 && steps_[a] - run_bytes_ > kMergedGap;
    if (outer_.empty() && !has_gaps) {
      run_bytes_ += (extent - 1) * steps_[a];
    } else {
      outer_.push_back(a);
      runs_ *= extent;
    }
  }
}

int64_t NpyWindow::offset(int64_t run) const {
  auto at = static_cast<int64_t>(header_.data_at);
  for (int a = 0; a < steps_.rank; ++a) at += window_.begin[a] * steps_[a];
  for (const int a : outer_) {
    const int64_t extent = window_.end[a] - window_.begin[a];
    at += run % extent * steps_[a];
    run /= extent;
  }
  return at;
}

View NpyWindow::view(uint8_t* data) const {
  const auto element = static_cast<int64_t>(size_of(header_.dtype));
  if (header_.is_swapped)
    for (uint8_t* at = data; at < data + runs_ * run_bytes_; at += element)
      std::reverse(at, at + element);
  View v = View::window(data, header_.dtype, window_, header_.shape);
  v.strides = steps_;
  int64_t step = run_bytes_;
  for (const int a : outer_) {
    v.strides[a] = step;
    step *= v.shape[a];
  }
  return v;
}

}  // namespace stoker
