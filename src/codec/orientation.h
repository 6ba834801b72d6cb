// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The displayed picture, which codecs are asked for, and the stored one, which they decode.
#pragma once
#include "codec/codec.h"

namespace stoker {

constexpr bool swaps_axes(int orientation) { return orientation >= 5; }

// The memory of `displayed` (rank 3, HWC) in stored coordinates: what a decoder writes to a stored
// position lands where EXIF `orientation` (1..8) displays it. Strides may be negative or swapped.
// Requires: displayed.full is set.
View as_stored(const View& displayed, int orientation);
// How many rows of the stored picture it takes to hold the window `displayed` of a picture that is
// displayed with the shape `full`. 0 if the window is empty.
int64_t stored_rows(const Window& displayed, const Shape& full, int orientation);

// For peek() of codecs: sets height and width as displayed, and refuses more than max_pixels.
void set_displayed(ImageInfo& info, const DecodeOptions& options);

// What decode() of codecs is asked for, in stored coordinates.
struct StoredPart {
  int orientation;  // 1 where it is not applied
  View out;
  Window judged;  // as displayed
  int64_t judged_rows;

  StoredPart(const EncodedImage& image, const View& displayed, const Window& judged);
  bool is_empty() const { return out.shape.volume() == 0 && judged_rows == 0; }
};

// A codec that describes and decodes pictures as stored, and needs no room beside their rows.
class StoredCodec : public ImageCodec {
 public:
  ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const final;
  void decode(const EncodedImage& image, const View& out, const Window& judged, Arena& scratch,
              int64_t row_room) const final;

 private:
  // All but the format, and height and width as displayed.
  virtual ImageInfo read_info(EncodedSpan bytes, const DecodeOptions& options) const = 0;
  // Requires: the part is not empty.
  virtual void read_part(const EncodedImage& image, const StoredPart& part,
                         Arena& scratch) const = 0;
};

// For read_info(): the extents, and the header for header_of().
template <class Header>
ImageInfo stored_info(const Header& header) {
  ImageInfo info;
  info.header = header;
  info.stored_height = header.height;
  info.stored_width = header.width;
  return info;
}

}  // namespace stoker
