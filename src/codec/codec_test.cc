// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/content.h"
#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/inflate/inflate.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/sound/sound.h"

namespace stoker {
namespace {

EncodedSpan as_bytes(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

std::string refusal(std::string_view s) {
  try {
    peek(as_bytes(s), {});
  } catch (const SampleError& e) {
    return e.what();
  }
  return "no error";
}

TEST(CodecFor, ChoosesByContent) {
  EXPECT_STREQ(peek(test::make_jpeg({}), {}).codec->name(), "JPEG");
}

TEST(CodecFor, SaysWhatItFoundAndWhatItWanted) {
  using std::string_view_literals::operator""sv;
  constexpr std::pair<std::string_view, const char*> kCases[] = {
      {"", "found an empty file"},
      {"RIFF\1\2\3\4WAVEfmt "sv, "found WAV audio"},
      {"\0\0\0\x20"
       "ftypavif"sv,
       "found an AVIF image"},
      {"\0\0\0\x20"
       "ftypisom"sv,
       "found an MP4"},
      {"\0\0\0\0\0\0"sv, "found nothing but zeros"},
      {"<html><body>404</body>", "found text that begins with \"<html><body>404</body>\""},
      {"version https://git-lfs.github.com/spec/v1", "found a Git LFS pointer"},
      {"\xFF\xD8"sv, "found the bytes ff d8"},
      {"\x01\x02\x03\x04"sv, "found the bytes 01 02 03 04"},
  };
  for (const auto& [bytes, expected] : kCases) {
    const std::string message = refusal(bytes);
    EXPECT_NE(message.find(expected), message.npos) << message;
    EXPECT_NE(message.find("; expected "), message.npos) << message;
    EXPECT_NE(message.find("JPEG"), message.npos) << message;
  }
}

std::string beginning_of(std::string_view format) {
  for (const PictureFormat& f : picture_formats())
    if (f.name == format) {
      const Beginning& b = f.beginnings.front();
      return std::string(b.at, '\0') + std::string(b.pattern);
    }
  return "";
}

// The format's name comes from the first line of its file; its codec says the same.
TEST(KnownCodecs, HaveTheNamesOfTheirFormats) {
  for (const Known<ImageCodec>& k : known_codecs<ImageCodec>())
    if (const ImageCodec* const codec = k.codec()) {
      EXPECT_STREQ(codec->name(), k.format);
    }
}

// tools/check_without.sh runs this with each format missing in turn, and names it in the variable.
TEST(CodecFor, SaysWhatIsMissing) {
  const char* const missing = std::getenv("STOKER_WITHOUT");
  for (const Known<ImageCodec>& k : known_codecs<ImageCodec>()) {
    const std::string_view format = k.format;
    if (missing) {
      EXPECT_EQ(k.codec() == nullptr, format == missing) << format;
    }
    if (std::string_view(k.package).empty()) {
      EXPECT_NE(k.codec(), nullptr) << format;
      continue;
    }
    const std::string message = refusal(beginning_of(format)),
                      words = std::string("needs Debian's ") + k.package;
    EXPECT_EQ(message.find(words) != message.npos, k.codec() == nullptr) << message;
  }
}

TEST(CodecFor, SaysWhichSoundIsMissing) {
  using std::string_view_literals::operator""sv;
  constexpr std::pair<std::string_view, std::string_view> kBeginnings[] = {
      {"WAV", "RIFF\1\0\0\0WAVEfmt "sv},
      {"FLAC", "fLaC\0"sv},
      {"Ogg", "OggS\0"sv},
      {"MP3", "ID3\4"sv},
      {"AIFF", "FORM\0\0\0\1AIFF"sv},
      {"AU", ".snd\0"sv}};
  for (const Known<SoundCodec>& k : known_codecs<SoundCodec>())
    for (const auto& [format, bytes] : kBeginnings) {
      if (format != k.format) continue;
      std::string message;
      try {
        open_sound(as_bytes(bytes));
      } catch (const SampleError& e) {
        message = e.what();
      }
      const std::string words = std::string("needs Debian's ") + k.package;
      EXPECT_EQ(message.find(words) != message.npos, k.codec() == nullptr) << message;
    }
}

TEST(InflaterOf, SaysWhatIsMissing) {
  for (const Known<Inflater>& k : known_codecs<Inflater>())
    for (const Compression c : {Compression::kLz4, Compression::kZstd, Compression::kZlib,
                                Compression::kGzip, Compression::kDeflate}) {
      if (std::string_view(name_of(c)) != k.format) continue;
      if (k.codec()) EXPECT_EQ(&inflater_of(c), k.codec());
      else EXPECT_THROW(inflater_of(c), SampleError);
    }
}

TEST(KnownCodecs, HaveTheirNames) {
  int count = 0;
  for (const Known<ImageCodec>& k : known_codecs<ImageCodec>()) {
    if (!k.codec()) continue;
    EXPECT_STREQ(k.codec()->name(), k.format);
    EXPECT_FALSE(k.codec()->recognises({}));
    ++count;
  }
  EXPECT_GE(count, 1);
}

TEST(DescribeContent, IsOneLineOfPlainCharacters) {
  for (int seed = 0; seed < 256; ++seed) {
    std::string bytes(70, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(seed + i * 7);
    for (const char c : describe_content(as_bytes(bytes))) EXPECT_TRUE(c >= 0x20 && c < 0x7F);
  }
  EXPECT_EQ(describe_content(as_bytes("caf\xC3\xA9\n")), "text that begins with \"caf???\"");
}

TEST(DecodedType, FollowsTheOutputType) {
  EncodedImage image;
  image.info = {.height = 4, .width = 5, .channels = 4};
  for (const auto& [type, channels] :
       {std::pair(ImageType::kRGB, 3), {ImageType::kGray, 1}, {ImageType::kAny, 4}}) {
    image.options.output_type = type;
    EXPECT_EQ(image.type(), (TensorType{DType::kUint8, "HWC", {4, 5, channels}}));
  }
}

TEST(CodecFor, AsksTheCodecOfTestsFirst) {
  class Nothing final : public ImageCodec {
    const char* name() const override { return "nothing"; }
    bool recognises(EncodedSpan bytes) const override { return bytes.empty(); }
    ImageInfo peek(EncodedSpan, const DecodeOptions&) const override { return {.height = 7}; }
    void decode(const EncodedImage&, const View&, const Window&, Arena&, int64_t) const override {}
  } nothing;
  use_codec(&nothing);
  EXPECT_EQ(peek({}, {}).info.height, 7);
  EXPECT_STREQ(peek(test::make_jpeg({}), {}).codec->name(), "JPEG");
  use_codec(nullptr);
  EXPECT_EQ(refusal("").find("not an image"), 0u);
}

}  // namespace
}  // namespace stoker
