// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

#include <atomic>
#include <string>

#include "base/error.h"
#include "codec/signature.h"

namespace stoker {

namespace {

std::atomic<const ImageCodec*> codec_of_tests{nullptr};

std::string supported() {
  std::string names;
  for (const KnownCodec& k : known_codecs())
    if (k.codec()) names += (names.empty() ? "" : ", ") + std::string(k.format);
  return names;
}

// What is missing if `content`, as describe_content() words it, is of a format that is not there.
std::string missing_for(const std::string& content) {
  for (const KnownCodec& k : known_codecs())
    if (!k.codec() && content.find(k.format) != content.npos)
      return "; " + std::string(k.format) + " needs Debian's " + k.package +
             (k.built ? ", which is not there" : ", which was not there when Stoker was built");
  return "";
}

const ImageCodec& codec_for(EncodedSpan bytes) {
  const ImageCodec* const first = codec_of_tests;
  if (first && first->recognises(bytes)) return *first;
  for (const KnownCodec& k : known_codecs())
    if (k.built && k.built()->recognises(bytes) && k.codec()) return *k.codec();
  const std::string content = describe_content(bytes);
  throw SampleError("not an image that can be decoded: expected " + supported() + ", found " +
                        content + missing_for(content),
                    0);
}

}  // namespace

EncodedImage peek(EncodedSpan bytes, const DecodeOptions& options) {
  const ImageCodec& codec = codec_for(bytes);
  return {&codec, bytes, options, codec.peek(bytes, options), {}};
}

void use_codec(const ImageCodec* codec) { codec_of_tests = codec; }

TensorType EncodedImage::type() const {
  const int channels = options.output_type == ImageType::kAny    ? info.channels
                       : options.output_type == ImageType::kGray ? 1
                                                                 : 3;
  return {info.dtype, "HWC", {info.height, info.width, channels}};
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
