// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/jpeg_file.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "kernels/fused/fused.h"
#include "op/resize/filter.h"
#include "op/rules.h"

namespace stoker {
namespace {

constexpr int64_t kLargestJpeg = 65500;

EncodedImage opened(EncodedSpan file, const JpegRequest& r) {
  DecodeOptions options;
  options.output_type = r.output_type;
  options.adjust_orientation = r.adjust_orientation;
  require(r.output_type != ImageType::kClasses,
          "output_type is CLASSES, which JPEG cannot hold; expected RGB, BGR, GRAY, YCbCr or "
          "ANY_DATA");
  EncodedImage image = peek(file, options);
  if (image.info.format != std::string_view("JPEG"))
    throw SampleError("expected a JPEG file, found " + std::string(image.info.format), 0);
  return image;
}

Window window_of(const EncodedImage& image, const JpegRequest& r) {
  const Shape full = image.type().shape;
  Window w = Window::all(full);
  if (!r.window) return w;
  const auto [y0, x0, y1, x1] = *r.window;
  require(0 <= y0 && y0 < y1 && y1 <= full[0] && 0 <= x0 && x0 < x1 && x1 <= full[1], "window is (",
          y0, ", ", x0, ", ", y1, ", ", x1,
          "), expected (y0, x0, y1, x1) with 0 <= ", "y0 < y1 <= ", full[0],
          " and 0 <= x0 < x1 <= ", full[1], ", the picture's extents");
  w.begin[0] = y0, w.begin[1] = x0, w.end[0] = y1, w.end[1] = x1;
  return w;
}

TensorType output_of(const EncodedImage& image, const Window& w, const JpegRequest& r) {
  TensorType type = image.type();
  type.shape = w.shape();
  if (!r.size) return type;
  for (int a = 0; a < 2; ++a) {
    const int64_t n = (*r.size)[static_cast<size_t>(a)];
    require(n >= 1 && n <= kLargestJpeg, "size has ", n, ", expected 1 to ", kLargestJpeg);
    type.shape[a] = n;
  }
  return type;
}

std::string described(const FileKey& key) {
  return std::to_string(key.size) + " bytes with the hash " + std::to_string(key.hash);
}

// Throws SampleError.
EntropyIndex index_of(EncodedSpan file, std::span<const uint8_t> saved) {
  EntropyIndex index = EntropyIndex::of_saved(saved);
  const std::optional<PlainFrame> frame = read_plain_frame(file);
  const FileKey key = FileKey::of(file);
  if (!frame || !index.is_of(key, *frame))
    throw SampleError("the index is of another JPEG file: expected one of " + described(key) +
                      ", found one of " + described(index.key()));
  return index;
}

void resize(const View& in, const TensorType& to, uint8_t* out, Arena& scratch) {
  Resample r{.count = 2};
  for (int a = 0; a < 2; ++a)
    r.axis[a] = resample_axis({}, a, to.shape[a], 0, static_cast<double>(in.shape[a]));
  const Block block{r, to.dtype};
  run_blocks({&block, 1}, in, View::dense(out, to.dtype, to.shape, to.layout), scratch);
}

}  // namespace

JpegInfo peek_jpeg(EncodedSpan file, const JpegRequest& request) {
  return {opened(file, request).info, read_plain_frame(file).has_value()};
}

JpegOutput jpeg_output(EncodedSpan file, const JpegRequest& request) {
  const EncodedImage image = opened(file, request);
  return {output_of(image, window_of(image, request), request)};
}

bool decode_jpeg(EncodedSpan file, const JpegRequest& request, std::span<uint8_t> out) {
  EncodedImage image = opened(file, request);
  const Window w = window_of(image, request);
  const TensorType type = output_of(image, w, request);
  const size_t size = JpegOutput{type}.bytes();
  require(out.size() == size, "the output has ", out.size(), " bytes, expected ", size);
  std::optional<EntropyIndexes> indexes;
  if (request.index) {
    indexes.emplace(SIZE_MAX);
    indexes->keep(index_of(file, *request.index));
    image.jpeg.indexes = &*indexes;
  }
  Arena scratch;
  const TensorType whole = image.type();
  uint8_t* pixels = out.data();
  if (request.size)
    pixels = scratch.array<uint8_t>(static_cast<size_t>(w.shape().volume()) * size_of(type.dtype));
  image.codec->decode(image, View::window(pixels, whole.dtype, w, whole.shape, whole.layout), w,
                      scratch);
  if (request.size)
    resize(View::dense(pixels, whole.dtype, w.shape(), whole.layout), type, out.data(), scratch);
  return indexes && indexes->statistics().hits > 0 && indexes->statistics().wrong == 0;
}

std::vector<uint8_t> build_jpeg_index(EncodedSpan file, int every) {
  require(every >= 0 && every <= EntropyIndex::kMostMcus, "every is ", every, ", expected 0 to ",
          EntropyIndex::kMostMcus);
  const JpegInfo info = peek_jpeg(file);
  Arena scratch;
  if (const std::optional<EntropyIndex> index = build_entropy_index(file, every, scratch))
    return index->saved();
  throw SampleError(std::string("there is no index of this JPEG file: expected a baseline one "
                                "without damage, found ") +
                    (info.is_plain               ? "damage or surplus bytes in its data"
                     : info.image.is_progressive ? "a progressive one"
                                                 : "another kind"));
}

}  // namespace stoker
