// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/exif.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace stoker {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6), kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr uint32_t kOrientationTag = 0x0112;

// The types of TIFF that numbers have.
enum Type : uint32_t {
  kShort = 3,
  kLong = 4,
  kRational = 5,
  kSignedByte = 6,
  kSignedShort = 8,
  kSignedLong = 9,
  kSignedRational = 10,
  kFloat = 11,
  kDouble = 12,
  kIfd = 13,
  kLong8 = 16,
};
// The bytes of a value, by its type; 0: there is no such type.
constexpr std::array<uint64_t, 17> kSizes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Numbers of one byte order. Requires: what is read lies within the bytes.
struct Numbers {
  std::span<const uint8_t> bytes;
  bool is_little;

  uint64_t at(uint64_t pos, int size) const {
    uint64_t v = 0;
    for (int i = 0; i < size; ++i) v = v << 8 | bytes[pos + (is_little ? size - 1 - i : i)];
    return v;
  }
  uint32_t long_at(uint64_t pos) const { return static_cast<uint32_t>(at(pos, 4)); }
  bool has(uint64_t pos, uint64_t size) const {
    return pos <= bytes.size() && size <= bytes.size() - pos;
  }
};

int in_range(double v) {
  return v >= 1 && v <= 8 && v == static_cast<int>(v) ? static_cast<int>(v) : 1;
}

// The first value at `pos`. Texts and bytes are no orientation, even if they look like one.
int orientation_at(const Numbers& n, uint32_t type, uint64_t pos) {
  const auto signed_at = [&](uint64_t p) { return static_cast<int32_t>(n.long_at(p)); };
  switch (type) {
    case kSignedByte: return in_range(static_cast<double>(n.at(pos, 1)));
    case kShort:
    case kSignedShort: return in_range(static_cast<double>(n.at(pos, 2)));
    case kLong:
    case kSignedLong:
    case kIfd: return in_range(n.long_at(pos));
    case kLong8: return in_range(static_cast<double>(n.at(pos, 8)));
    case kFloat: return in_range(std::bit_cast<float>(n.long_at(pos)));
    case kDouble: return in_range(std::bit_cast<double>(n.at(pos, 8)));
    case kRational: return in_range(static_cast<double>(n.long_at(pos)) / n.long_at(pos + 4));
    case kSignedRational: return in_range(static_cast<double>(signed_at(pos)) / signed_at(pos + 4));
    default: return 1;
  }
}

// Some writers give the magic number, 42, in the wrong byte order. 43 is that of BigTIFF, which
// Pillow takes for a plain TIFF in the one order and does not read in the other.
bool is_tiff(std::string_view magic) {
  constexpr std::string_view kMagics[] = {
      {"II*\0", 4}, {"II\0*", 4}, {"MM\0*", 4}, {"MM*\0", 4}, {"MM\0+", 4}};
  return std::find(std::begin(kMagics), std::end(kMagics), magic) != std::end(kMagics);
}

// The tag in the first directory of a TIFF structure; none if it is not there. Entries whose data
// lies outside end the directory.
std::optional<int> tiff_orientation(std::span<const uint8_t> tiff) {
  if (tiff.size() < 8 || !is_tiff(text_of(tiff).substr(0, 4))) return 1;
  const bool is_little = tiff[0] == 'I';
  const Numbers n{tiff, is_little};
  const uint64_t directory = n.at(4, 4);
  if (!n.has(directory, 2)) return std::nullopt;
  const uint64_t count = n.at(directory, 2);
  uint64_t far_bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t entry = directory + 2 + 12 * i;
    if (!n.has(entry, 12)) return std::nullopt;
    const uint64_t tag = n.at(entry, 2), type = n.at(entry + 2, 2);
    const uint64_t size = type < kSizes.size() ? n.at(entry + 4, 4) * kSizes[type] : 0;
    if (size == 0) continue;
    uint64_t pos = entry + 8;
    if (size > 4) {
      far_bytes += size;
      if (far_bytes > tiff.size()) continue;
      pos = n.at(entry + 8, 4);
      if (!n.has(pos, size)) return std::nullopt;
    }
    if (tag == kOrientationTag) return orientation_at(n, static_cast<uint32_t>(type), pos);
  }
  return std::nullopt;
}

int xmp_orientation(std::string_view xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  while (true) {
    const size_t at = xmp.find(kName);
    if (at == std::string_view::npos) return 1;
    xmp.remove_prefix(at + kName.size());
    const size_t digit = xmp.starts_with("=\"") ? 2 : xmp.starts_with(">") ? 1 : xmp.size();
    if (digit < xmp.size() && xmp[digit] >= '0' && xmp[digit] <= '9')
      return in_range(xmp[digit] - '0');
  }
}

}  // namespace

void Exif::add(std::span<const uint8_t> segment) {
  if (text_of(segment).starts_with(kXmp)) add_xmp(text_of(segment).substr(kXmp.size()));
  if (text_of(segment).starts_with(kExif)) add_tiff(segment.subspan(kExif.size()));
}

void Exif::add_tiff(std::span<const uint8_t> tiff) {
  if (!std::exchange(has_exif_, true)) {
    first_ = tiff;
    return;
  }
  if (joined_.empty()) joined_.assign(first_.begin(), first_.end());
  joined_.insert(joined_.end(), tiff.begin(), tiff.end());
}

std::span<const uint8_t> Exif::tiff() const {
  const std::span<const uint8_t> all = joined_.empty() ? first_ : joined_;
  return text_of(all).starts_with(kExif) ? all.subspan(kExif.size()) : all;
}

int Exif::orientation() const {
  if (const auto tiff = this->tiff(); !tiff.empty())
    if (const std::optional<int> found = tiff_orientation(tiff)) return *found;
  return xmp_orientation(xmp_);
}

}  // namespace stoker
