// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "codec/color.h"

namespace stoker {
namespace {

void rgb_to_ycbcr(uint8_t* row, int64_t pixels) {
  for (uint8_t* end = row + 3 * pixels; row != end; row += 3) {
    const Pixel3 p = ycbcr_of_rgb(row[0], row[1], row[2]);
    row[0] = p.a, row[1] = p.b, row[2] = p.c;
  }
}

void invert_cmyk(uint8_t* row, int64_t pixels) {
  for (int64_t i = 0; i < 4 * pixels; ++i) row[i] = static_cast<uint8_t>(255 - row[i]);
}

template <ImageType kType>
void convert_cmyk(uint8_t* row, int64_t pixels) {
  uint8_t* to = row;
  for (const uint8_t* from = row; from != row + 4 * pixels; from += 4) {
    Pixel3 p = rgb_of_inverted_cmyk(from[0], from[1], from[2], from[3]);
    if constexpr (kType == ImageType::kGray) {
      *to++ = luma(p.a, p.b, p.c);
      continue;
    }
    if constexpr (kType == ImageType::kBGR) std::swap(p.a, p.c);
    if constexpr (kType == ImageType::kYCbCr) p = ycbcr_of_rgb(p.a, p.b, p.c);
    to[0] = p.a, to[1] = p.b, to[2] = p.c;
    to += 3;
  }
}

ConvertRow cmyk_converter(ImageType type) {
  switch (type) {
    case ImageType::kRGB: return convert_cmyk<ImageType::kRGB>;
    case ImageType::kBGR: return convert_cmyk<ImageType::kBGR>;
    case ImageType::kGray: return convert_cmyk<ImageType::kGray>;
    case ImageType::kYCbCr: return convert_cmyk<ImageType::kYCbCr>;
    case ImageType::kAny:
    case ImageType::kClasses: break;
  }
  return invert_cmyk;
}

template <int kChannels>
void put(const uint8_t* from, uint8_t* to, int64_t channel_stride) {
  for (int c = 0; c < kChannels; ++c) to[c * channel_stride] = from[c];
}

template <int kChannels>
void scatter(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  const Shape& stride = out.strides;
  uint8_t* to = out.as<uint8_t>() + y * stride[0];
  const int64_t width = out.shape[1];
  if (has_plain_rows(out)) {
    for (int64_t r = 0; r < count; ++r)
      std::memcpy(to + r * stride[0], lines + r * pitch, static_cast<size_t>(width * kChannels));
    return;
  }
  // The inner loop runs along the axis whose neighbours are closer in memory.
  if (std::abs(stride[0]) < std::abs(stride[1])) {
    for (int64_t x = 0; x < width; ++x)
      for (int64_t r = 0; r < count; ++r)
        put<kChannels>(lines + r * pitch + x * kChannels, to + r * stride[0] + x * stride[1],
                       stride[2]);
  } else {
    for (int64_t r = 0; r < count; ++r)
      for (int64_t x = 0; x < width; ++x)
        put<kChannels>(lines + r * pitch + x * kChannels, to + r * stride[0] + x * stride[1],
                       stride[2]);
  }
}

void scatter_many(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  const int64_t channels = out.shape[2];
  for (int64_t r = 0; r < count; ++r)
    for (int64_t x = 0; x < out.shape[1]; ++x)
      for (int64_t c = 0; c < channels; ++c)
        out.as<uint8_t>()[(y + r) * out.strides[0] + x * out.strides[1] + c * out.strides[2]] =
            lines[r * pitch + x * channels + c];
}

}  // namespace

// Smooth upsampling reads one row of chroma below the judged rows.
int64_t judged_mcu_rows(int64_t rows, int64_t height, int factor) {
  const int64_t margin = factor > 1 ? factor : 0;
  const int64_t needed = rows > 0 ? std::min(rows + margin, height) : 0;
  return (needed + factor * DCTSIZE - 1) / (factor * DCTSIZE);
}

// CMYK is read as Adobe stores it, inverted, whether a marker says so or not, as all readers do.
ColorPlan plan_color(J_COLOR_SPACE stored, ImageType type) {
  if (stored == JCS_CMYK || stored == JCS_YCCK) return {JCS_CMYK, cmyk_converter(type)};
  if (stored == JCS_UNKNOWN) return {JCS_UNKNOWN};
  switch (type) {
    case ImageType::kRGB: return {JCS_RGB};
    case ImageType::kBGR: return {JCS_EXT_BGR};
    case ImageType::kGray: return {JCS_GRAYSCALE};
    case ImageType::kYCbCr: return {JCS_RGB, rgb_to_ycbcr};
    case ImageType::kAny:
    case ImageType::kClasses: break;
  }
  return {stored == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB};
}

void scatter_rows(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  switch (out.shape[2]) {
    case 1: return scatter<1>(lines, pitch, out, y, count);
    case 3: return scatter<3>(lines, pitch, out, y, count);
    case 4: return scatter<4>(lines, pitch, out, y, count);
    default: return scatter_many(lines, pitch, out, y, count);
  }
}

bool has_plain_rows(const View& out) {
  return out.strides[1] == out.shape[2] && (out.strides[2] == 1 || out.shape[2] == 1);
}

RowWriter::RowWriter(const View& out, ConvertRow convert, int channels, Arena& scratch)
    : out_(out),
      convert_(convert),
      is_direct_(!convert && has_plain_rows(out)),
      pitch_(out.shape[1] * channels) {
  if (!is_direct_) lines_ = scratch.array<uint8_t>(static_cast<size_t>(kRows * pitch_));
}

uint8_t* RowWriter::next() {
  return is_direct_ ? out_.as<uint8_t>() + y_ * out_.strides[0] : lines_ + waiting_ * pitch_;
}

void RowWriter::written() {
  ++y_;
  if (is_direct_) return;
  if (convert_) convert_(next(), out_.shape[1]);
  if (++waiting_ < kRows && y_ < out_.shape[0]) return;
  scatter_rows(lines_, pitch_, out_, y_ - waiting_, waiting_);
  waiting_ = 0;
}

}  // namespace stoker
