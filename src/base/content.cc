// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/content.h"

#include <algorithm>
#include <string_view>

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  size_t at;
  std::string_view magic;
  const char* name;
};

// The first match counts. More specific signatures come first, as several formats share a
// container.
constexpr Signature kSignatures[] = {
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "\x89PNG\r\n\x1A\n"sv, "a PNG image"},
    {0, "GIF87a"sv, "a GIF image"},
    {0, "GIF89a"sv, "a GIF image"},
    {8, "WEBPVP8"sv, "a WebP image"},
    {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},
    {0, "II+\0"sv, "a BigTIFF image"},
    {0, "MM\0+"sv, "a BigTIFF image"},
    {0, "\0\0\0\x0CjP  \r\n\x87\n"sv, "a JPEG 2000 image"},
    {0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 code stream"},
    {0, "\0\0\0\x0CJXL \r\n\x87\n"sv, "a JPEG XL image"},
    {0, "\xFF\x0A"sv, "a JPEG XL code stream"},
    {4, "ftypavif"sv, "an AVIF image"},
    {4, "ftypheic"sv, "a HEIF image"},
    {4, "ftypheix"sv, "a HEIF image"},
    {4, "ftypheim"sv, "a HEIF image"},
    {4, "ftypheis"sv, "a HEIF image"},
    {4, "ftyphevc"sv, "a HEIF image"},
    {4, "ftypmif1"sv, "a HEIF image"},
    {4, "ftypmsf1"sv, "a HEIF image"},
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
    {0, "BM"sv, "a BMP image"},
};

std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_pnm(std::string_view s) {
  return s.size() > 2 && s[0] == 'P' && s[1] >= '1' && s[1] <= '7' &&
         std::string_view(" \t\r\n#").find(s[2]) != s.npos;
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
  const std::string_view all = as_text(bytes);
  for (const Signature& s : kSignatures)
    if (all.size() >= s.at && all.substr(s.at).starts_with(s.magic)) return s.name;
  if (is_pnm(all)) return "a PNM image";
  const std::string_view head = all.substr(0, 256);
  if (head.find_first_not_of('\0') == head.npos) return "nothing but zeros at its beginning";
  if (looks_like_text(head)) return "text that begins with " + quoted(head);
  return in_hex(bytes);
}

}  // namespace stoker
