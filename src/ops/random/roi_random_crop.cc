// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::random {

struct RoiRandomCrop {
  Small<int64_t> crop_shape, roi_start;
  std::optional<Small<int64_t>> roi_end, roi_shape, in_shape;

  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "roi_random_crop",
      "Draws a window that lies in a region, or contains it where the window is larger.\n\n"
      "Gives the start of the window along each axis, as int64, each possible one equally likely. "
      "If the shape of the input is given, the window also lies in the input, where the region and "
      "the window fit in it; otherwise the sample fails.",
      ports({.name = "input", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "start", .help = "The start of the window."}),
      arg(&RoiRandomCrop::crop_shape, "crop_shape", "Shape of the window.", between(0, 0x1p40),
          kRequiredPerSample),
      arg(&RoiRandomCrop::in_shape, "in_shape", "Shape of the input.", between(0, 0x1p40),
          kPerSample),
      arg(&RoiRandomCrop::roi_end, "roi_end", "End of the region. Excludes roi_shape.",
          between(-0x1p40, 0x1p40), kPerSample),
      arg(&RoiRandomCrop::roi_shape, "roi_shape", "Shape of the region. Excludes roi_end.",
          between(0, 0x1p40), kPerSample),
      arg(&RoiRandomCrop::roi_start, "roi_start", "Start of the region.", between(-0x1p40, 0x1p40),
          kRequiredPerSample));

  void check(Checker& c) const {
    const auto given = [&](const char* name, bool constant) {
      return constant || c.is_computed(name);
    };
    require(given("roi_end", roi_end.has_value()) != given("roi_shape", roi_shape.has_value()),
            "expects either of the arguments 'roi_end' and 'roi_shape'");
    require(!c.has(0) || !given("in_shape", in_shape.has_value()),
            "argument 'in_shape' and an input exclude each other");
    const bool is_known = !c.is_computed("crop_shape");
    c.out({DType::kInt64, {}, {is_known ? static_cast<int64_t>(crop_shape.size()) : -1}});
    bool any = false;
    for (const char* name : c.names) any = any || c.is_computed(name);
    if (!any) require_lists(c.has(0) ? c.in().shape.rank : -1);
  }
  void infer(Inference& i) const {
    require_lists(i.has(0) ? i.inputs[0].shape.rank : -1);
    i.out({DType::kInt64, {}, {static_cast<int64_t>(crop_shape.size())}});
  }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    for (size_t a = 0; a < crop_shape.size(); ++a) {
      const int64_t from = roi_start[a], crop = crop_shape[a];
      const int64_t end = roi_end ? (*roi_end)[a] : from + (*roi_shape)[a];
      require(from <= end, "the region begins at ", from, " and ends at ", end);
      int64_t low = std::min(from, end - crop), high = std::max(from, end - crop);
      if (in_shape || r.has(0)) {
        const int64_t extent = in_shape ? (*in_shape)[a] : r.inputs[0].full[static_cast<int>(a)];
        require(from >= 0 && end <= extent, "the region reaches from ", from, " to ", end,
                " of an extent of ", extent);
        require(crop <= extent, "argument 'crop_shape' is ", crop, ", and the extent ", extent);
        low = std::max<int64_t>(low, 0), high = std::min(high, extent - crop);
      }
      const int64_t start = low + r.chance.uniform_int(high - low + 1);
      const int64_t p = static_cast<int64_t>(a) - out.origin[0];
      if (p >= 0 && p < out.shape[0]) out.as<int64_t>()[p] = start;
    }
  }

  static std::vector<Case> cases() {
    return {
        {"crop_shape=[4, 2], roi_start=[1, 3], roi_end=[5, 5]", {}, {"int64 [1, 3]"}},
        {"crop_shape=[4], roi_start=[2], roi_shape=[1], in_shape=[4]", {}, {"int64 [0]"}},
        {"crop_shape=[3], roi_start=[1], roi_end=[2]", {"uint8 [1, 2, 3]"}, {"int64 [0]"}},
    };
  }

 private:
  void require_lists(int rank) const {
    const auto axes = static_cast<int64_t>(crop_shape.size());
    const auto each = [&](const char* name, const auto& list) {
      require_count(name, list.size(), {axes}, "as many as 'crop_shape' has");
    };
    each("argument 'roi_start'", roi_start);
    if (roi_end) each("argument 'roi_end'", *roi_end);
    if (roi_shape) each("argument 'roi_shape'", *roi_shape);
    if (in_shape) each("argument 'in_shape'", *in_shape);
    require(rank < 0 || rank == axes, "argument 'crop_shape' has ", axes, " values, and the input ",
            rank, " axes");
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::RoiRandomCrop)
