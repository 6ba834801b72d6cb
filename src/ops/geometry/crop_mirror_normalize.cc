// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "op/type_of.h"
#include "op/window/crop_window.h"
#include "op/window/out_of_bounds.h"

namespace stoker::ops::geometry {

struct CropMirrorNormalize : CropArguments, OutOfBoundsArguments {
  Small<float> mean = {0}, std = {1};
  float scale = 1, shift = 0;
  int mirror = 0;
  DType dtype = DType::kFloat32;
  Layout output_layout = "CHW";
  bool pad_output = false;

  void take_classes(const Checker& c) {
    const auto all_are = [](const Small<float>& list, float x) {
      return std::all_of(list.begin(), list.end(), [&](float v) { return v == x; });
    };
    require(
        all_are(mean, 0) && all_are(std, 1) && scale == 1 && shift == 0 && !c.is_computed("mean") &&
            !c.is_computed("std"),
        "the input holds class numbers, which are not to be normalised: expected mean=0, std=1, "
        "scale=1 and shift=0");
    OutOfBoundsArguments::take_classes(c);
  }

  static constexpr auto schema = describe(
      "crop_mirror_normalize",
      "Crops, mirrors and normalises an image and stores it as the model wants it.\n\n"
      "output = scale * (input - mean) / std + shift, rounded once to dtype; integers saturate. "
      "Crop and mirror work as in crop and flip; without crop arguments the image stays whole. "
      "fill_values are stored as they are, without normalisation. Accepts any dtype; frames of a "
      "sequence are treated alike.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, DHWC, CDHW, FHWC, FCHW, CFHW, FDHWC, FCDHW, CFDHW"}),
      ports({.name = "output", .help = "The image, in the layout output_layout."}), kCropArguments,
      kCropDepthArguments,
      arg(&CropMirrorNormalize::mirror, "mirror", "1 swaps left and right.", between(0, 1),
          kPerSample),
      arg(&CropMirrorNormalize::mean, "mean",
          "What to subtract from the values: one number for all channels or one per channel.",
          kPerSample),
      arg(&CropMirrorNormalize::std, "std",
          "What to divide the values by: one number for all channels or one per channel; not 0.",
          kPerSample),
      arg(&CropMirrorNormalize::scale, "scale", "Multiplies the normalised values."),
      arg(&CropMirrorNormalize::shift, "shift", "Added to the scaled values."),
      arg(&CropMirrorNormalize::dtype, "dtype", "Output dtype: FLOAT, FLOAT16, INT8 or UINT8."),
      arg(&CropMirrorNormalize::output_layout, "output_layout",
          "Order of the output's axes, such as 'CHW' or 'HWC'. Axes F and D of the input may be "
          "left out: F then comes first, and D before H. '' is the input's."),
      arg(&CropMirrorNormalize::pad_output, "pad_output",
          "Whether to add channels up to the next power of two, filled with fill_values (0 where "
          "there are none for them)."),
      kOutOfBoundsArguments);

  void check(Checker& c) const {
    require(dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kInt8 ||
                dtype == DType::kUint8,
            "argument 'dtype' is ", name_of(dtype), ", expected FLOAT, FLOAT16, INT8 or UINT8");
    TensorType t = c.in();
    t.shape = checked_crop(*this, out_of_bounds_policy, c, t);
    require_normalisation(t);
    const auto below_one = [](float v) { return v < 1; };
    if (t.dtype == DType::kUint8 && std::all_of(std.begin(), std.end(), below_one) &&
        std::all_of(mean.begin(), mean.end(), below_one))
      c.warning =
          "'mean' and 'std' are below 1, and the values of the input go up to 255: multiply both "
          "by 255";
    c.out(after(Block{store(t), dtype}, t));
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const Window w = crop_window(*this, out_of_bounds_policy, in);
    require_normalisation(in);
    const Pointwise normalise = normalisation();
    // Fill values are not normalised. So a window that needs them is cut out of the normalised
    // image.
    const bool fills = reaches_outside(w, in.shape);
    if (fills) l.add(normalise, dtype);
    l.add(window(w, in), fills ? dtype : in.dtype);
    if (!fills) l.add(normalise, dtype);
    const Store s = store(l.type());
    if (s.pad_axis >= 0 || !(s.layout == in.layout)) l.add(s, dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"mean=[1.0, 2.0], std=[2.0, 4.0], mirror=1",
         {"uint8 HWC [[[1, 2], [3, 6]]]"},
         {"float32 [[[1.0, 0.0]], [[1.0, 0.0]]]"}},
        {"crop=[1, 1], crop_pos_x=1.0, output_layout=\"HWC\", dtype=types.UINT8, scale=2.0, "
         "shift=1.0",
         {"uint8 HWC [[[1], [200]]]"},
         {"uint8 [[[255]]]"}},
        {"pad_output=True, fill_values=[9.0], dtype=types.INT8",
         {"int16 CHW [[[1]], [[2]], [[-300]]]"},
         {"int8 [[[1]], [[2]], [[-128]], [[9]]]"}},
        {"crop=[1, 3], out_of_bounds_policy=\"pad\", mean=[5.0], dtype=types.FLOAT16",
         {"uint8 HWC [[[7]]]"},
         {"float16 [[[0.0, 2.0, 0.0]]]"}},
        {"crop_h=1, crop_w=1, crop_pos_y=0.0, crop_pos_x=0.0",
         {"float32 FHWC [[[[1.5], [2.5]]], [[[3.5], [4.5]]]]"},
         {"float32 [[[[1.5]]], [[[3.5]]]]"}},
    };
  }

 private:
  // Checks the lengths of the lists only where the number of channels is known.
  void require_normalisation(const TensorType& in) const {
    require(!mean.empty() && !std.empty(), "arguments 'mean' and 'std' need at least one value");
    require(std::find(std.begin(), std.end(), 0.0f) == std.end(), "argument 'std' holds a 0");
    const int64_t channels = in.shape[in.layout.find('C')];
    if (channels < 0) return;
    require_count("argument 'mean'", mean.size(), {1, channels}, "one per channel");
    require_count("argument 'std'", std.size(), {1, channels}, "one per channel");
  }

  Pointwise normalisation() const {
    Pointwise p;
    p.sub = mean;
    for (float s : std) p.mul.push_back(scale / s);
    p.add.push_back(shift);
    return p;
  }

  Gather window(const Window& w, const TensorType& in) const {
    Gather g = cut(w, in, channel_fill(in.shape[in.layout.find('C')]));
    if (!mirror) return g;
    AxisMap& x = g.axis[in.layout.find('W')];
    x = {x.start + x.extent - 1, -1, x.extent};
    return g;
  }

  // The fill values for the channels of the input, without those that pad_output adds.
  Small<float> channel_fill(int64_t channels) const {
    require_count("argument 'fill_values'", fill_values.size(),
                  {1, channels, pad_output ? padded(channels) : channels}, "one per channel");
    if (fill_values.size() == 1) return fill_values;
    Small<float> f;
    f.assign(fill_values.begin(), fill_values.begin() + channels);
    return f;
  }

  static int64_t padded(int64_t channels) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(channels)));
  }

  // The output's layout. Where output_layout does not name them, F comes first and D before H.
  Layout full_layout(const Layout& in) const {
    if (output_layout.empty()) return in;
    std::string s(output_layout.str());
    if (in.find('D') >= 0 && s.find('D') == s.npos && s.find('H') != s.npos)
      s.insert(s.find('H'), "D");
    if (in.find('F') >= 0 && s.find('F') == s.npos) s.insert(0, "F");
    std::string a = s, b(in.str());
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    require(a == b, "argument 'output_layout' is ", output_layout,
            ", which has other axes than the input's ", in);
    return s;
  }

  Store store(const TensorType& t) const {
    Store s;
    s.layout = full_layout(t.layout);
    for (int a = 0; a < s.layout.rank(); ++a) s.perm[a] = t.layout.find(s.layout.letters[a]);
    const int64_t channels = t.shape[t.layout.find('C')];
    if (!pad_output || channels <= 0 || padded(channels) == channels) return s;
    s.pad_axis = s.layout.find('C');
    s.pad_to = padded(channels);
    s.fill = fill_values;
    while (s.fill.size() > 1 && static_cast<int64_t>(s.fill.size()) < s.pad_to) s.fill.push_back(0);
    return s;
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::CropMirrorNormalize)
