// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/one_block.h"
#include "op/decode/encoded_picture.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct ColorSpaceConversion : OneBlock<ColorSpaceConversion> {
  ImageType image_type = ImageType::kRGB, output_type = ImageType::kRGB;

  static constexpr auto schema = describe(
      "color_space_conversion",
      "Converts images between colour spaces.\n\n"
      "YCbCr is that of BT.601 with headroom: of uint8, Y lies in 16 to 235, Cb and Cr in 16 to "
      "240. Other dtypes have the same shares of their full intensity. Gray is 0.299 red + 0.587 "
      "green + 0.114 blue.",
      ports({.name = "input",
             .help = "Images, volumes or sequences.",
             .layouts = "HWC, CHW, DHWC, CDHW",
             .dtypes = "uint8, uint16, float16, float32"}),
      ports({.name = "output", .help = "The images in the other colour space."}),
      arg(&ColorSpaceConversion::image_type, "image_type",
          "Colours of the input: RGB, BGR, GRAY or YCbCr.", kRequired),
      arg(&ColorSpaceConversion::output_type, "output_type",
          "Colours of the output: RGB, BGR, GRAY or YCbCr.", kRequired));

  Block block(const TensorType& in) const {
    for (ImageType t : {image_type, output_type})
      require(t != ImageType::kAny && t != ImageType::kClasses, "expects colour spaces, got ", t);
    const int64_t channels = in.shape[in.layout.find('C')];
    require(channels < 0 || channels == count(image_type), "the input has ", channels,
            " channels, and ", image_type, " has ", count(image_type));
    const Rows& from = rows(image_type, output_type);
    const auto place = [](ImageType t, int c) { return t == ImageType::kBGR ? 2 - c : c; };
    Channels m{.in = count(image_type), .out = count(output_type)};
    for (int i = 0; i < m.out; ++i) {
      const int to = place(output_type, i);
      for (int k = 0; k < m.in; ++k)
        m.weight[to][place(image_type, k)] = static_cast<float>(from[i][k]);
      m.offset[to] = static_cast<float>(from[i][3] * full_intensity(in.dtype));
    }
    return {m, in.dtype};
  }

  static std::vector<Case> cases() {
    return {
        {"image_type=types.RGB, output_type=types.BGR",
         {"uint8 HWC [[[1, 2, 3]]]"},
         {"uint8 [[[3, 2, 1]]]"}},
        {"image_type=types.RGB, output_type=types.GRAY",
         {"uint8 HWC [[[255, 0, 0], [0, 255, 0]]]"},
         {"uint8 [[[76], [150]]]"}},
        {"image_type=types.BGR, output_type=types.YCbCr",
         {"uint8 HWC [[[0, 0, 255], [255, 255, 255]]]"},
         {"uint8 [[[81, 90, 240], [235, 128, 128]]]"}},
        {"image_type=types.GRAY, output_type=types.RGB",
         {"float32 CHW [[[0.5]]]"},
         {"float32 [[[0.5]], [[0.5]], [[0.5]]]"}},
    };
  }

 private:
  // Rows of weights and an offset, in shares of the full intensity.
  using Rows = double[3][4];
  static constexpr Rows kGray = {{0.299, 0.587, 0.114}};
  static constexpr Rows kToYcc = {{65.481 / 255, 128.553 / 255, 24.966 / 255, 16. / 255},
                                  {-37.797 / 255, -74.203 / 255, 112. / 255, 128. / 255},
                                  {112. / 255, -93.786 / 255, -18.214 / 255, 128. / 255}};
  static constexpr double kY = 255. / 219, kRed = 1.402 * 255 / 224, kBlue = 1.772 * 255 / 224;
  static constexpr double kLeft = 16. / 255 * kY, kHalf = 128. / 255;
  static constexpr double kGreenBlue = -0.114 / 0.587 * kBlue, kGreenRed = -0.299 / 0.587 * kRed;
  static constexpr Rows kFromYcc = {
      {kY, 0, kRed, -kLeft - kHalf * kRed},
      {kY, kGreenBlue, kGreenRed, -kLeft - kHalf * (kGreenBlue + kGreenRed)},
      {kY, kBlue, 0, -kLeft - kHalf * kBlue}};
  static constexpr Rows kGrayFromYcc = {{kY, 0, 0, -kLeft}};
  static constexpr Rows kYccFromGray = {
      {219. / 255, 0, 0, 16. / 255}, {0, 0, 0, kHalf}, {0, 0, 0, kHalf}};
  static constexpr Rows kSame = {{1}, {0, 1}, {0, 0, 1}}, kThrice = {{1}, {1}, {1}};

  static int count(ImageType t) { return t == ImageType::kGray ? 1 : 3; }
  static const Rows& rows(ImageType from, ImageType to) {
    const bool is_ycc = from == ImageType::kYCbCr, is_gray = from == ImageType::kGray;
    const bool to_ycc = to == ImageType::kYCbCr, to_gray = to == ImageType::kGray;
    if (is_ycc == to_ycc && is_gray == to_gray) return kSame;
    if (is_ycc) return to_gray ? kGrayFromYcc : kFromYcc;
    if (is_gray) return to_ycc ? kYccFromGray : kThrice;
    return to_ycc ? kToYcc : kGray;
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::ColorSpaceConversion)
