// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/arguments/mixing.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// Makes sixteen bytes of a mixture, or what is left of it. It and both inputs are dense.
template <class T>
struct MixPieces {
  static constexpr int kRow = kVectorBytes / sizeof(T);
  struct AlignedVector {
    T v[kRow];
  };
  Mix<T> mix;
  const std::byte *first, *second;
  std::byte* out;
  int64_t elements, pieces;

  MixPieces(const View& a, const View& b, float own, const View& to)
      : mix(own),
        first(a.as<const std::byte>()),
        second(b.as<const std::byte>()),
        out(to.as<std::byte>()),
        elements(to.shape.volume()),
        pieces((elements + kRow - 1) / kRow) {}

  STOKER_HD void run(int64_t k) const {
    const int64_t at = k * kVectorBytes, rest = elements - k * kRow;
    const std::byte *a = first + at, *b = second + at;
    const bool is_aligned = misalignment(a, kVectorBytes) == 0 &&
                            misalignment(b, kVectorBytes) == 0 &&
                            misalignment(out + at, kVectorBytes) == 0;
    if (rest >= kRow && is_aligned) {
      const AlignedVector x = load_aligned<AlignedVector>(a), y = load_aligned<AlignedVector>(b);
      AlignedVector mixed;
      for (int e = 0; e < kRow; ++e) mixed.v[e] = mix(x.v[e], y.v[e]);
      return store_aligned(out + at, mixed);
    }
    for (int64_t e = 0; e < rest && e < kRow; ++e) {
      const int64_t place = e * int64_t{sizeof(T)};
      store_as(out + at + place, mix(load_as<T>(a + place), load_as<T>(b + place)));
    }
  }
};

// Mixes the labels: own(i) is the share of sample i, whose partner is partners[i].
template <class Own>
void mix_labels(GpuRun& r, const MixingArguments& arguments, const std::vector<int64_t>& partners,
                Own own) {
  // Shares that were given lie on the host.
  std::vector<float> given;
  const auto number = [&](size_t i) { return static_cast<size_t>(partners[i]); };
  for (const BatchItem& item : r.items)
    if (const View& label = item.inputs[1]; label.dtype == DType::kFloat32)
      given.insert(given.end(), label.as<float>(), label.as<float>() + label.shape[0]);
  const float* there = given.empty() ? nullptr : r.put(std::span<const float>(given));
  std::vector<MixShares> all;
  for (size_t i = 0; i < r.items.size(); ++i) {
    MixShares m = arguments.mix_labels(r.items, i, number(i), own(i));
    if (m.first.given) {
      m.first.given = there + static_cast<int64_t>(i) * m.pieces;
      m.second.given = there + partners[i] * m.pieces;
    }
    all.push_back(m);
  }
  run_each(r, std::span<const MixShares>(all));
}

}  // namespace stoker
