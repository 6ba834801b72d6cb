// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes as the APP1 segments of a picture, one behind each FF E1. The orientation must be
// one of the eight, and must not depend on how EXIF is divided into segments.
#include <cstdlib>
#include <string_view>

#include "codec/exif.h"

namespace {

using Bytes = std::vector<uint8_t>;

constexpr std::string_view kPrefix("Exif\0\0", 6);

// Each segment has memory of its own, so that the address sanitizer sees a read behind its end.
std::vector<Bytes> segments_of(std::string_view bytes) {
  constexpr std::string_view kMarker = "\xff\xe1";
  std::vector<Bytes> segments;
  while (true) {
    const std::string_view one = bytes.substr(0, bytes.find(kMarker));
    segments.emplace_back(one.begin(), one.end());
    if (one.size() == bytes.size()) return segments;
    bytes.remove_prefix(one.size() + kMarker.size());
  }
}

bool is_exif(const Bytes& s) {
  return std::string_view(reinterpret_cast<const char*>(s.data()), s.size()).starts_with(kPrefix);
}

// Cuts the segment's data in the middle. The second half gets the prefix again.
std::vector<Bytes> halves(const Bytes& s) {
  const auto middle = s.begin() + static_cast<long>((s.size() + kPrefix.size()) / 2);
  Bytes second(kPrefix.begin(), kPrefix.end());
  second.insert(second.end(), middle, s.end());
  return {Bytes(s.begin(), middle), second};
}

int orientation_of(const std::vector<Bytes>& segments) {
  stoker::Exif exif;
  for (const Bytes& s : segments) exif.add(s);
  const int orientation = exif.orientation();
  if (orientation < 1 || orientation > 8) std::abort();
  return orientation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto segments = segments_of({reinterpret_cast<const char*>(data), size});
  std::vector<Bytes> divided;
  for (const Bytes& s : segments) {
    const auto parts = is_exif(s) ? halves(s) : std::vector<Bytes>{s};
    divided.insert(divided.end(), parts.begin(), parts.end());
  }
  if (orientation_of(segments) != orientation_of(divided)) std::abort();
  return 0;
}
