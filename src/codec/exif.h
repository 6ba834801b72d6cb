// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How a picture wants to be turned, by its EXIF or XMP data. All that these say is taken as Pillow
// takes it (ImageOps.exif_transpose), also where it is odd, so that both show a picture alike.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stoker {

class Exif {
 public:
  // Takes the body of a JPEG's APP1 segment. Those with EXIF are one piece of data; of those
  // with XMP the last counts. Requires: the bytes outlive this.
  void add(std::span<const uint8_t> segment);
  // The same for formats that hold EXIF as it is: a TIFF structure without a prefix.
  void add_tiff(std::span<const uint8_t> tiff);
  void add_xmp(std::string_view xmp) { xmp_ = xmp; }

  // 1..8. EXIF decides if it has the tag, whatever the tag holds; else XMP does. 1 if neither says
  // anything, or nothing that is an orientation.
  int orientation() const;

 private:
  std::span<const uint8_t> tiff() const;

  bool has_exif_ = false;
  std::span<const uint8_t> first_;  // of EXIF, without its prefix
  std::vector<uint8_t> joined_;  // all of EXIF, if it has several segments
  std::string_view xmp_;
};

}  // namespace stoker
