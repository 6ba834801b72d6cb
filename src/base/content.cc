// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/content.h"

#include <algorithm>
#include <string_view>

#include "base/picture_formats.h"

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

// What is no picture, and pictures that no codec reads.
constexpr Beginning kOthers[] = {
    {4, "ftyp"sv, "an MP4 or QuickTime file"},
    {0, "8BPS"sv, "a Photoshop image"},
    {0, "\x76\x2F\x31\x01"sv, "an OpenEXR image"},
    {0, "#?RADIANCE"sv, "a Radiance HDR image"},
    {128, "DICM"sv, "a DICOM file"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "PK\x03\x04"sv, "a ZIP archive"},
    {0, "\x1F\x8B"sv, "gzip data"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd data"},
    {257, "ustar"sv, "a tar archive"},
    {0, "fLaC"sv, "FLAC audio"},
    {0, "OggS"sv, "Ogg data"},
    {8, "WAVE"sv, "WAV audio"},
    {8, "AIFF"sv, "AIFF audio"},
    {8, "AIFC"sv, "AIFF audio"},
    {0, ".snd"sv, "AU audio"},
    {0, "ID3"sv, "MP3 audio"},
    {0, "\xFF\xFB"sv, "MP3 audio"},
    {0, "\xFF\xF3"sv, "MP3 audio"},
    {0, "\xFF\xF2"sv, "MP3 audio"},
    {0, "\x04\x22\x4D\x18"sv, "LZ4 data"},
    {0, "\x1A\x45\xDF\xA3"sv, "a Matroska or WebM file"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer (the file itself was never fetched)"},
};

std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The longest match counts, as several formats share a container, and short ones may be chance.
// Null where nothing matches.
const char* words_of_beginning(std::span<const uint8_t> bytes) {
  const char* words = nullptr;
  size_t longest = 0;
  const auto judge = [&](std::span<const Beginning> beginnings) {
    for (const Beginning& b : beginnings)
      if (const size_t n = b.matched(bytes); n > longest) longest = n, words = b.words;
  };
  for (const PictureFormat& f : picture_formats()) judge(f.beginnings);
  judge(kOthers);
  return words;
}

// Accepts ASCII and the bytes that UTF-8 uses. Control characters and bytes that UTF-8 never uses
// rule out text.
bool looks_like_text(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u == '\t' || u == '\n' || u == '\r' ||
           (u >= 0x20 && u != 0x7F && u != 0xC0 && u != 0xC1 && u < 0xF5);
  });
}

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s.substr(0, 40)) out += c < 0x20 || c > 0x7E ? '?' : c;
  return out + (s.size() > 40 ? "...\"" : "\"");
}

std::string in_hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = bytes.size() > 16 ? "bytes that begin with" : "the bytes";
  for (uint8_t b : bytes.first(std::min<size_t>(bytes.size(), 16))) {
    out += ' ';
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

}  // namespace

std::string describe_content(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return "an empty file";
  if (const char* words = words_of_beginning(bytes)) return words;
  const std::string_view head = as_text(bytes).substr(0, 256);
  if (head.find_first_not_of('\0') == head.npos) return "nothing but zeros at its beginning";
  if (looks_like_text(head)) return "text that begins with " + quoted(head);
  return in_hex(bytes);
}

}  // namespace stoker
