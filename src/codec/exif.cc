// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/exif.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "base/foreign_bytes.h"

// A TIFF structure, all of whose numbers have the byte order that it begins with:
//
//   "II" 42:2 directory:4 | ...          little-endian; "MM": big-endian
//   directory:  count:2 | count entries | the next directory:4
//   entry:      tag:2 type:2 count:4 values:4      more than 4 bytes of values lie elsewhere, and
//                                                  here is where; places count from "II" on

namespace stoker {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6), kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr uint32_t kOrientationTag = 0x0112;

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

int in_range(double v) {
  return v >= 1 && v <= 8 && v == static_cast<int>(v) ? static_cast<int>(v) : 1;
}

// The first of the values. Texts and bytes are no orientation, even if they look like one.
int orientation_of(uint32_t type, ForeignBytes values) {
  const auto take_signed = [&] { return static_cast<double>(static_cast<int32_t>(values.u32())); };
  switch (type) {
    case kSignedByte: return in_range(values.u8());
    case kShort:
    case kSignedShort: return in_range(values.u16());
    case kLong:
    case kSignedLong:
    case kIfd: return in_range(values.u32());
    case kLong8: return in_range(static_cast<double>(values.u64()));
    case kFloat: return in_range(std::bit_cast<float>(values.u32()));
    case kDouble: return in_range(std::bit_cast<double>(values.u64()));
    case kRational: {
      const double numerator = values.u32();
      return in_range(numerator / values.u32());
    }
    case kSignedRational: {
      const double numerator = take_signed();
      return in_range(numerator / take_signed());
    }
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

// The tag in a TIFF structure's first directory; none if it is not there. An entry whose data lies
// outside ends the directory.
std::optional<int> tiff_orientation(std::span<const uint8_t> tiff) {
  if (tiff.size() < 8 || !is_tiff(text_of(tiff).substr(0, 4))) return 1;
  const ForeignBytes all(tiff, tiff[0] == 'I' ? ByteOrder::kLittle : ByteOrder::kBig);
  ForeignBytes directory = all.from(all.from(4).u32());
  if (!directory.has(2)) return std::nullopt;
  uint64_t far_bytes = 0;
  for (uint32_t count = directory.u16(); count > 0; --count) {
    if (!directory.has(12)) return std::nullopt;
    ForeignBytes entry = directory.part(12);
    const uint32_t tag = entry.u16(), type = entry.u16();
    const uint64_t values = entry.u32(), size = type < kSizes.size() ? values * kSizes[type] : 0;
    if (size == 0) continue;
    if (size > 4) {
      far_bytes += size;
      if (far_bytes > tiff.size()) continue;
      entry = all.from(entry.u32());
      if (!entry.has(size)) return std::nullopt;
    }
    if (tag == kOrientationTag) return orientation_of(type, entry);
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
