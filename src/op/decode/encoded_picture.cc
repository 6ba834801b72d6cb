// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_picture.h"

#include <cmath>

#include "kernels/fused/fused.h"
#include "op/decode/annotated_picture.h"
#include "op/decode/encoded_bytes.h"

namespace stoker {

namespace {

DecodeOptions options_of(const PictureArguments& a) {
  DecodeOptions o;
  o.output_type = a.output_type;
  o.adjust_orientation = a.adjust_orientation;
  o.tolerate_corrupt = a.tolerate_corrupt;
  o.verify = a.verify;
  o.page = a.page;
  return o;
}

bool can_be_output(DType t) { return size_of(t) <= 2 ? t != DType::kBool : t == DType::kFloat32; }

// Requires: the pixels are one number of 8 or 16 bits each.
uint64_t number_at(const View& pixels, int64_t y, int64_t x) {
  const auto* at = pixels.as<std::byte>() + (y - pixels.origin[0]) * pixels.strides[0] +
                   (x - pixels.origin[1]) * pixels.strides[1];
  if (pixels.dtype == DType::kUint8) return *reinterpret_cast<const uint8_t*>(at);
  return *reinterpret_cast<const uint16_t*>(at);
}

// Throws SampleError if a number in the judged window is larger than all of `to`. Requires: as
// above.
void require_fit(const View& pixels, const Window& judged, DType to) {
  const double most = full_intensity(to);
  if (most >= full_intensity(pixels.dtype)) return;
  Window w = pixels.covers();
  for (int a = 0; a < 2; ++a) {
    w.begin[a] = std::max(w.begin[a], judged.begin[a]);
    w.end[a] = std::min(w.end[a], judged.end[a]);
  }
  for (int64_t y = w.begin[0]; y < w.end[0]; ++y)
    for (int64_t x = w.begin[1]; x < w.end[1]; ++x) {
      const uint64_t number = number_at(pixels, y, x);
      if (static_cast<double>(number) > most)
        throw SampleError("the class number " + std::to_string(number) + " in row " +
                          std::to_string(y) + ", column " + std::to_string(x) + " does not fit " +
                          name_of(to) + "; dtype=types.UINT16 or types.INT32 holds it");
    }
}

}  // namespace

TensorType checked_picture(const PictureArguments& a, const Checker& c) {
  require_encoded(c);
  if (a.output_type == ImageType::kClasses)
    require(is_class_dtype(a.dtype), "argument 'dtype' is ", name_of(a.dtype),
            ", expected an integer type for class numbers (output_type=types.CLASSES)");
  else
    require(can_be_output(a.dtype), "argument 'dtype' is ", name_of(a.dtype),
            ", expected UINT8, INT8, UINT16, INT16, FLOAT or FLOAT16");
  return {a.dtype, "HWC", {-1, -1, fixed_channels(a.output_type)}};
}

EncodedPicture::EncodedPicture(const PictureArguments& a, Inference& i)
    : image_(peek(bytes_of(i.values[0]), options_of(a))),
      device_{a.jpeg_fancy_upsampling, a.hw_decoder_load, a.hybrid_huffman_threshold},
      whole_(image_.type()),
      part_(Window::all(whole_.shape)) {
  image_.jpeg.use_fast_idct = a.use_fast_idct;
  image_.jpeg.indexes = i.jpeg_indexes;
  whole_.dtype = a.dtype;
  compare_with_annotation(image_, i);
}

Window EncodedPicture::in_picture(Window w) const {
  for (int a = 0; a < w.begin.rank; ++a) {
    w.begin[a] += part_.begin[a];
    w.end[a] += part_.begin[a];
  }
  return w;
}

void EncodedPicture::decode(Run& r) const {
  View out = r.outputs[0];
  const Window judged = in_picture(r.judged.empty() ? out.covers() : r.judged[0]);
  for (int a = 0; a < out.origin.rank; ++a) out.origin[a] += part_.begin[a];
  out.full = whole_.shape;
  const DType decoded = image_.info.dtype;
  const int64_t channels = whole_.shape[2];
  if (whole_.dtype == decoded && out.shape[2] == channels)
    return image_.codec->decode(image_, out, judged, r.scratch, r.row_room);
  // Codecs give all channels, even if fewer are wanted.
  Window w = out.covers();
  w.begin[2] = 0;
  w.end[2] = channels;
  const View pixels =
      View::window(r.scratch.allocate(static_cast<size_t>(w.shape().volume() * size_of(decoded))),
                   decoded, w, whole_.shape, whole_.layout);
  image_.codec->decode(image_, pixels, judged, r.scratch);
  Block block{Convert{}, whole_.dtype};
  if (image_.options.output_type == ImageType::kClasses) {
    require_fit(pixels, judged, whole_.dtype);
  } else if (whole_.dtype != decoded) {
    const double scale = full_intensity(whole_.dtype) / full_intensity(decoded);
    block.kind = Pointwise{{}, {static_cast<float>(scale)}, {}};
  }
  run_blocks({&block, 1}, pixels, out, r.scratch);
}

std::optional<DecodeRequest> EncodedPicture::request(const Asking& a) const {
  const bool all_channels = a.wanted.shape()[2] == whole_.shape[2];
  const bool is_picture = image_.options.output_type != ImageType::kClasses;
  if (!is_picture || whole_.dtype != image_.info.dtype || !all_channels) return std::nullopt;
  return DecodeRequest{image_, in_picture(a.wanted), in_picture(a.judged), device_};
}

}  // namespace stoker
