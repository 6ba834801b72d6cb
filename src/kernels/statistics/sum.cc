// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/sum.h"

#include "kernels/elements/boxes.h"

namespace stoker {
namespace {

// Sums that lie beside each other: `inner` of them, each of `count` elements.
template <class Kind>
class Sums {
 public:
  using T = typename Kind::Element;
  using Lane = typename Kind::Lane;
  using Total = typename Kind::Total;

  Sums(int64_t inner, int64_t count, Arena& scratch)
      : inner_(inner),
        used_(lanes_used(count)),
        lanes_(scratch.array<Lane>(static_cast<size_t>(used_ * inner))),
        totals_(scratch.array<Total>(static_cast<size_t>(inner))) {
    if constexpr (Kind::kCentred) {
      centred_ = inner * std::clamp<int64_t>(kSumLanes / inner, 1, kSumLanes);
      centres_ = scratch.array<double>(static_cast<size_t>(centred_));
    }
  }

  // `centres` has one for each sum; null for a kind without them.
  void begin(const double* centres) {
    if constexpr (Kind::kCentred)
      for (int64_t k = 0; k < centred_; k += inner_) std::copy_n(centres, inner_, centres_ + k);
    at_ = 0;
    std::fill_n(lanes_, used_ * inner_, Lane{Kind::kNone});
    std::fill_n(totals_, inner_, static_cast<Total>(Kind::kNone));
  }
  // Adds the next n elements, `step` bytes apart, to each sum.
  void add(const std::byte* from, int64_t n, int64_t step) {
    while (n > 0) {
      const int64_t some = std::min(n, kSumBlock - at_);
      if (step == inner_ * int64_t{sizeof(T)}) add_dense(reinterpret_cast<const T*>(from), some);
      else
        for (int64_t e = 0; e < some; ++e)
          add_row(reinterpret_cast<const T*>(from + e * step), (at_ + e) % kSumLanes, 1);
      at_ += some, n -= some, from += some * step;
      if (at_ == kSumBlock) finish_block();
    }
  }
  const Total* end() {
    if (at_ > 0) finish_block();
    return totals_;
  }

 private:
  // Adds the next n elements, which are dense.
  void add_dense(const T* from, int64_t n) {
    const int64_t skipped = at_ % kSumLanes;
    const int64_t head = skipped ? std::min(n, kSumLanes - skipped) : 0;
    add_row(from, skipped, head);
    const int64_t groups = (n - head) / kSumLanes, rest = n - head - groups * kSumLanes;
    from += head * inner_;
    if (inner_ == 1) add_groups(from, groups);
    else
      for (int64_t g = 0; g < groups; ++g) add_row(from + g * kSumLanes * inner_, 0, kSumLanes);
    add_row(from + groups * kSumLanes * inner_, 0, rest);
  }
  // Adds elements of as many lanes, from `lane` on.
  void add_row(const T* __restrict from, int64_t lane, int64_t lanes) {
    Lane* __restrict to = lanes_ + lane * inner_;
    const int64_t n = lanes * inner_;
    if constexpr (Kind::kCentred) {
      for (int64_t k = 0; k < n; k += centred_)
        for (int64_t c = 0; c < std::min(centred_, n - k); ++c)
          to[k + c] = Kind::add(to[k + c], Kind::load(from[k + c], centres_[c]));
    } else {
      for (int64_t k = 0; k < n; ++k) to[k] = Kind::add(to[k], Kind::load(from[k], 0));
    }
  }
  void add_groups(const T* __restrict from, int64_t groups) {
    if (groups == 0) return;
    const double centre = Kind::kCentred ? centres_[0] : 0;
    Lane sums[kSumLanes];
    for (int l = 0; l < kSumLanes; ++l) sums[l] = lanes_[l];
    int64_t g = 0;
    // The compiler keeps sums of whole numbers in memory, so four groups are added at each visit.
    // Several choices between floats would become branches.
    if constexpr (std::is_integral_v<Lane>)
      for (; g + 4 <= groups; g += 4, from += 4 * kSumLanes)
        for (int l = 0; l < kSumLanes; ++l) {
          Lane sum = sums[l];
          for (int k = 0; k < 4; ++k)
            sum = Kind::add(sum, Kind::load(from[k * kSumLanes + l], centre));
          sums[l] = sum;
        }
    for (; g < groups; ++g, from += kSumLanes)
      for (int l = 0; l < kSumLanes; ++l) sums[l] = Kind::add(sums[l], Kind::load(from[l], centre));
    for (int l = 0; l < kSumLanes; ++l) lanes_[l] = sums[l];
  }
  void finish_block() {
    for (int64_t i = 0; i < inner_; ++i)
      totals_[i] = Kind::add(totals_[i], fold<Kind>(lanes_ + i, used_, inner_));
    std::fill_n(lanes_, used_ * inner_, Lane{Kind::kNone});
    at_ = 0;
  }

  int64_t inner_, used_, at_ = 0;  // of the block
  Lane* lanes_;
  Total* totals_;
  // Repeated, so that a loop over them is not short.
  double* centres_ = nullptr;
  int64_t centred_ = 0;
};

template <class Number>
constexpr DType type_of_number() {
  for (int t = 0; t < static_cast<int>(DType::kBool); ++t)
    if (kDTypes[t].size == int{sizeof(Number)} &&
        kDTypes[t].is_float == std::is_floating_point_v<Number> &&
        kDTypes[t].is_signed == std::is_signed_v<Number>)
      return static_cast<DType>(t);
  return DType::kNone;
}

template <class Kind>
void sum_as(const View& in, const bool* reduced, const double* centres, const View& out,
            Arena& scratch) {
  Shape inside, steps, outside, jumps;  // of the elements of a sum; of the sums
  int last = in.shape.rank;  // the first axis behind the reduced ones
  while (last > 0 && !reduced[last - 1]) --last;
  int64_t inner = 1;
  for (int a = last; a < in.shape.rank; ++a) inner *= in.shape[a];
  for (int a = 0; a < last; ++a) {
    (reduced[a] ? inside : outside).push_back(in.shape[a]);
    (reduced[a] ? steps : jumps).push_back(in.strides[a]);
  }
  using Result = typename Kind::Result;
  const int64_t count = inside.volume();
  Sums<Kind> sums(inner, count, scratch);
  constexpr DType kType = type_of_number<Result>();
  const int64_t volume = out.shape.volume();
  auto* results =
      out.dtype == kType ? out.as<Result>() : scratch.array<Result>(static_cast<size_t>(volume));
  at_cpu_level([&] {
    Walk<1> places(outside, {{0, jumps}});
    auto* to = results;
    do {
      for (int64_t k = 0; k < places.count; ++k) {
        const std::byte* from = in.as<std::byte>() + places.row[0] + k * places.step[0];
        sums.begin(centres ? centres + (to - results) : nullptr);
        if (count > 0) {
          Walk<1> walk(inside, {{0, steps}});
          do sums.add(from + walk.row[0], walk.count, walk.step[0]);
          while (walk.next());
        }
        const auto* totals = sums.end();
        for (int64_t i = 0; i < inner; ++i) *to++ = static_cast<Result>(totals[i]);
      }
    } while (places.next());
  });
  if (out.dtype != kType) convert_row(results, kType, out.data, out.dtype, volume);
}

template <template <class> class Kind>
void sum_up(const View& in, const bool* reduced, const double* centres, const View& out,
            Arena& scratch) {
  if (out.shape.volume() == 0) return;
  int last = in.shape.rank;
  while (last > 0 && !reduced[last - 1]) --last;
  const View rows = with_dense_rows(in, last, scratch);
  with_type(in.dtype,
            [&](auto v) { sum_as<Kind<decltype(v)>>(rows, reduced, centres, out, scratch); });
}

}  // namespace

void sum(const View& in, const bool* reduced, const View& out, Arena& scratch) {
  sum_up<Sum>(in, reduced, nullptr, out, scratch);
}

void wide_sum(const View& in, const bool* reduced, const View& out, Arena& scratch) {
  sum_up<WideSum>(in, reduced, nullptr, out, scratch);
}

void extremes(const View& in, const bool* reduced, bool greatest, const View& out, Arena& scratch) {
  if (greatest) sum_up<Greatest>(in, reduced, nullptr, out, scratch);
  else sum_up<Least>(in, reduced, nullptr, out, scratch);
}

void sum_squared_distances(const View& in, const bool* reduced, const double* centres,
                           const View& out, Arena& scratch) {
  sum_up<SquaredDistances>(in, reduced, centres, out, scratch);
}

}  // namespace stoker
