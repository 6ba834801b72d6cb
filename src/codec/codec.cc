// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

#include <atomic>
#include <string>

#include "base/error.h"
#include "codec/choose.h"

namespace stoker {

namespace {

std::atomic<const ImageCodec*> codec_of_tests{nullptr};

const ImageCodec& image_codec_for(EncodedSpan bytes) {
  const ImageCodec* const first = codec_of_tests;
  if (first && first->recognises(bytes)) return *first;
  return codec_for<ImageCodec>(bytes, "an image");
}

// Note [Stored numbers].
void require_numbers(const ImageInfo& info) {
  if (info.holds_numbers) return;
  std::string found = "may have changed the numbers that were saved";
  if (info.channels > 2) found = "has " + std::to_string(info.channels) + " channels";
  else if (info.dtype == DType::kFloat32) found = "holds floats";
  throw SampleError(
      "expected a mask, which holds one number without loss for each pixel, but this " +
      std::string(info.format) + " " + found +
      "; save masks as PNG, with a palette or gray, or decode them as RGB or GRAY if "
      "they are pictures");
}

}  // namespace

EncodedImage peek(EncodedSpan bytes, const DecodeOptions& options) {
  const ImageCodec& codec = image_codec_for(bytes);
  if (options.page > 0 && !codec.has_pages())
    throw SampleError(std::string(codec.name()) + " has no pages, but page " +
                      std::to_string(options.page) + " was asked for");
  EncodedImage image{&codec, bytes, options, codec.peek(bytes, options), {}};
  if (options.output_type == ImageType::kClasses) require_numbers(image.info);
  return image;
}

void use_codec(const ImageCodec* codec) { codec_of_tests = codec; }

int64_t fixed_channels(ImageType type) {
  switch (type) {
    case ImageType::kAny: return -1;
    case ImageType::kGray:
    case ImageType::kClasses: return 1;
    default: return 3;
  }
}

TensorType EncodedImage::type() const {
  const int64_t fixed = fixed_channels(options.output_type);
  return {info.dtype, "HWC", {info.height, info.width, fixed < 0 ? info.channels : fixed}};
}

void check_pixels(const ImageInfo& info, const DecodeOptions& options) {
  const int64_t pixels = info.stored_height * info.stored_width;
  if (pixels > options.max_pixels)
    throw SampleError(std::string(info.format) + " image claims " +
                      std::to_string(info.stored_width) + " x " +
                      std::to_string(info.stored_height) + " = " + std::to_string(pixels) +
                      " pixels, more than the limit of " + std::to_string(options.max_pixels));
}

void check_window(const EncodedImage& image, const View& out) {
  const TensorType whole = image.type();
  if (out.dtype != whole.dtype || !(out.full == whole.shape))
    throw SampleError("the picture is " + whole.str() + ", but a window of " +
                      std::string(name_of(out.dtype)) + " " + out.full.str() + " was asked for");
  const Window w = out.covers();
  if (!Window::all(whole.shape).contains(w) || out.shape[2] != whole.shape[2])
    throw SampleError("the window from " + w.begin.str() + " to " + w.end.str() +
                      " does not lie in the picture " + whole.shape.str());
}

}  // namespace stoker
