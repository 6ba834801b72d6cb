// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/color_matrix.h"

#include <utility>

#include "kernels/elements/exact_functions.h"
#include "op/rules.h"

namespace stoker {
namespace {

struct Matrix {
  double m[3][3];

  Matrix operator*(const Matrix& o) const {
    Matrix p{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        p.m[i][j] = m[i][0] * o.m[0][j] + m[i][1] * o.m[1][j] + m[i][2] * o.m[2][j];
    return p;
  }
  Matrix inverse() const {
    Matrix r{};
    const auto minor = [&](int i, int j) {  // with its sign, as rows and columns go on in circles
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      return m[a][c] * m[b][d] - m[a][d] * m[b][c];
    };
    const double det = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r.m[j][i] = minor(i, j) / det;
    return r;
  }
};

constexpr Matrix kYiq{{{0.299, 0.587, 0.114}, {0.596, -0.274, -0.321}, {0.211, -0.523, 0.311}}};

// Turns the hue and scales the saturation. If both stay, this is exactly the identity.
Matrix turned(const ColorChange& t) {
  if (t.hue == 0 && t.saturation == 1) return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const exact::SinCos turn = exact::sin_cos_of_degrees(static_cast<double>(t.hue));
  const double c = turn.cos * static_cast<double>(t.saturation);
  const double s = turn.sin * static_cast<double>(t.saturation);
  return kYiq.inverse() * Matrix{{{1, 0, 0}, {0, c, s}, {0, -s, c}}} * kYiq;
}

}  // namespace

Block color_block(const ColorChange& t, const TensorType& in, DType result, ImageType order) {
  require(order == ImageType::kRGB || order == ImageType::kBGR, "argument 'image_type' is ", order,
          ", expected RGB or BGR");
  const int64_t channels = in.shape[in.layout.find('C')];
  require(channels < 0 || channels == 3, "the input has ", channels,
          channels == 1 ? " channel" : " channels", ", expected 3");
  const Matrix colors = turned(t);
  const double gray = info(in.dtype).is_float ? 0.5 : 128;
  const double contrast = static_cast<double>(t.contrast), gain = static_cast<double>(t.brightness);
  const auto place = [&](int c) { return order == ImageType::kBGR ? 2 - c : c; };
  Channels m;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k)
      m.weight[place(i)][place(k)] = static_cast<float>(gain * contrast * colors.m[i][k]);
    m.offset[i] = static_cast<float>((gray - gray * contrast) * gain);
  }
  return {m, result};
}

}  // namespace stoker
