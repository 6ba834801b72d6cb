// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/normalize.h"

#include "kernels/elements/boxes.h"

namespace stoker {
namespace {

// The first axis of a row: so many axes that loops over rows are long.
int first_of_row(const Shape& s) {
  constexpr int64_t kLong = 512;
  int first = s.rank;
  for (int64_t n = 1; first > 0 && n < kLong; n *= s[first]) --first;
  return first;
}

// Which group each element of a row belongs to.
class Row {
 public:
  Row(const Shape& shape, const Shape& step, int first, Arena& scratch) {
    for (int a = first; a < shape.rank; ++a) {
      length *= shape[a];
      is_one_group = is_one_group && (step[a] == 0 || shape[a] == 1);
    }
    if (is_one_group) return;
    group_ = scratch.array<int64_t>(static_cast<size_t>(length));
    int64_t n = 1;
    group_[0] = 0;
    for (int a = shape.rank - 1; a >= first; --a) {
      for (int64_t k = 1; k < shape[a]; ++k)
        for (int64_t e = 0; e < n; ++e) group_[k * n + e] = group_[e] + k * step[a];
      n *= shape[a];
    }
  }
  void gather(const float* values, float* to) const {
    for (int64_t k = 0; k < length; ++k) to[k] = values[group_[k]];
  }

  int64_t length = 1;
  bool is_one_group = true;

 private:
  int64_t* group_ = nullptr;
};

template <class A>
void shift_and_scale(A* row, const float* mean, const float* factor, float shift, int64_t n) {
  at_cpu_level([=] {
    for (int64_t k = 0; k < n; ++k) row[k] = (row[k] - mean[k]) * factor[k] + shift;
  });
}

}  // namespace

void normalize(const View& in, const float* means, const float* factors, const Shape& step,
               float shift, const View& out, Arena& scratch) {
  const int first = first_of_row(out.shape);
  if (!has_dense_rows(out, first)) {
    const View dense = View::window(scratch.allocate(static_cast<size_t>(out.bytes())), out.dtype,
                                    out.covers(), out.full);
    normalize(in, means, factors, step, shift, dense, scratch);
    return copy_window(dense, out);
  }
  const View from = with_dense_rows(in, first, scratch);
  const Row row(out.shape, step, first, scratch);
  const auto n = static_cast<size_t>(row.length);
  const DType arithmetic =
      is_wide(in.dtype) || is_wide(out.dtype) ? DType::kFloat64 : DType::kFloat32;
  float *mean = nullptr, *factor = nullptr;
  void* numbers = nullptr;
  if (!row.is_one_group) {
    mean = scratch.array<float>(n), factor = scratch.array<float>(n);
    if (out.dtype != arithmetic) numbers = scratch.allocate(n * size_of(arithmetic));
  }
  Shape outer;
  Track places[3] = {{0, {}}, {0, {}}, {0, {}}};
  for (int a = 0; a < first; ++a) {
    outer.push_back(out.shape[a]);
    places[0].stride.push_back(from.strides[a]);
    places[1].stride.push_back(out.strides[a]);
    places[2].stride.push_back(step[a]);
  }
  int64_t gathered = -1;  // the first group of the row whose numbers were gathered last
  Walk<3> rows(outer, places);
  do {
    for (int64_t k = 0; k < rows.count; ++k) {
      const std::byte* x = from.as<std::byte>() + rows.row[0] + k * rows.step[0];
      std::byte* y = out.as<std::byte>() + rows.row[1] + k * rows.step[1];
      const int64_t group = rows.row[2] + k * rows.step[2];
      if (row.is_one_group) {
        pointwise_row(x, from.dtype, y, out.dtype, row.length, means[group], factors[group], shift);
        continue;
      }
      if (group != gathered) {
        row.gather(means + group, mean), row.gather(factors + group, factor);
        gathered = group;
      }
      void* to = numbers ? numbers : y;
      convert_row(x, from.dtype, to, arithmetic, row.length);
      if (arithmetic == DType::kFloat32)
        shift_and_scale(static_cast<float*>(to), mean, factor, shift, row.length);
      else shift_and_scale(static_cast<double*>(to), mean, factor, shift, row.length);
      if (numbers) convert_row(to, arithmetic, y, out.dtype, row.length);
    }
  } while (rows.next());
}

}  // namespace stoker
