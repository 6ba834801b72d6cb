// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/neighbourhood/jpeg_distortion.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// A picture of whole units as planes, luma first and then both chromas.
struct JpegPlanes {
  uint8_t* first;
  int64_t rows, columns;  // of pixels

  STOKER_HD int64_t across() const { return (columns + kJpegUnit - 1) / kJpegUnit; }
  STOKER_HD int64_t units() const { return (rows + kJpegUnit - 1) / kJpegUnit * across(); }
  STOKER_HD int64_t bytes() const { return units() * 384; }
  STOKER_HD int64_t pitch(int c) const { return across() * (c ? 8 : 16); }
  STOKER_HD uint8_t* plane(int c) const { return first + units() * (c ? 192 + 64 * c : 0); }
};

// Makes a block of a plane from the pixels.
struct JpegBlock {
  const std::byte* in;  // pixel 0
  int64_t row_stride, column_stride, channel_stride;
  JpegPlanes planes;
  const JpegQuanta* quanta;
  int64_t pieces;  // the blocks of luma, then those of each chroma

  STOKER_HD void run(int64_t k) const {
    const int64_t units = planes.units();
    const int c = k < 4 * units ? 0 : k < 5 * units ? 1 : 2;
    if (c) k -= (3 + c) * units;
    const int64_t wide = planes.pitch(c) / 8, top = k / wide * 8, left = k % wide * 8;
    int32_t v[64];
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x)
        v[8 * y + x] = (c ? chroma(top + y, left + x, c) : pixel(top + y, left + x).y) - 128;
    jpeg::distort<1>(v, quanta->of[c > 0]);
    uint8_t* to = planes.plane(c) + top * planes.pitch(c) + left;
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) to[y * planes.pitch(c) + x] = jpeg::byte_of(v[8 * y + x] + 128);
  }

 private:
  STOKER_HD jpeg::Ycc pixel(int64_t y, int64_t x) const {
    y = y < planes.rows ? y : planes.rows - 1;
    x = x < planes.columns ? x : planes.columns - 1;
    const auto* at = reinterpret_cast<const uint8_t*>(in + y * row_stride + x * column_stride);
    return jpeg::ycc_of(at[0], at[channel_stride], at[2 * channel_stride]);
  }
  STOKER_HD int32_t chroma(int64_t y, int64_t x, int c) const {
    const int64_t last = jpeg::chroma_of(planes.rows) - 1;
    y = y < last ? y : last;
    int32_t sum = 0;
    for (int k = 0; k < 4; ++k) {
      const jpeg::Ycc v = pixel(2 * y + k / 2, 2 * x + k % 2);
      sum += c == 1 ? v.cb : v.cr;
    }
    return jpeg::average(sum, x);
  }
};

// Makes a pixel of the planes.
struct JpegPixel {
  JpegPlanes planes;
  uint8_t* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const int64_t y = k / planes.columns, x = k % planes.columns;
    jpeg::set_rgb(planes.first[y * planes.pitch(0) + x], chroma(y, x, 1), chroma(y, x, 2),
                  out + 3 * k);
  }

 private:
  STOKER_HD int32_t chroma(int64_t y, int64_t x, int c) const {
    const uint8_t* near = planes.plane(c) + y / 2 * planes.pitch(c);
    if (!jpeg::is_interpolated(planes.columns)) return near[x / 2];
    const uint8_t* far =
        planes.plane(c) + jpeg::far_of(y, jpeg::chroma_of(planes.rows)) * planes.pitch(c);
    const int64_t beside = jpeg::far_of(x, jpeg::chroma_of(planes.columns));
    return jpeg::across_columns(jpeg::across_rows(near[x / 2], far[x / 2]),
                                jpeg::across_rows(near[beside], far[beside]), x);
  }
};

// distort_as_jpeg() of kernels/neighbourhood/jpeg_distortion.h for a batch, with quality(i) for
// item i.
template <class Quality>
void distort_as_jpeg(GpuRun& r, Quality quality) {
  std::vector<JpegBlock> blocks;
  std::vector<JpegPixel> pixels;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View& out = r.items[i].outputs[0];
    if (out.shape.volume() == 0) continue;
    JpegPlanes planes{nullptr, out.shape[0], out.shape[1]};
    planes.first = reinterpret_cast<uint8_t*>(r.scratch(static_cast<size_t>(planes.bytes())));
    const JpegQuanta quanta = JpegQuanta::of_quality(quality(i));
    const Strided in = Strided::of(r.items[i].inputs[0]);
    blocks.push_back({in.data + in.offset, in.stride[0], in.stride[1], in.stride[2], planes,
                      r.put(std::span<const JpegQuanta>(&quanta, 1)), 6 * planes.units()});
    pixels.push_back({planes, out.as<uint8_t>(), out.shape[0] * out.shape[1]});
  }
  run_each(r, std::span<const JpegBlock>(blocks));
  run_each(r, std::span<const JpegPixel>(pixels));
}

}  // namespace stoker
