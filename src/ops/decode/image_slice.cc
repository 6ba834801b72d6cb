// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_picture.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"
#include "op/window/slice_window.h"

namespace stoker::ops::decode {

struct ImageSlice : PictureDecoder, SliceArguments {
  static constexpr auto kIgnored = kIgnoredPictureArguments;
  static constexpr auto schema = describe(
      "decoders.image_slice",
      "Decodes a window of an image, given by its start and its end or shape.\n\n"
      "Equals decoders.image followed by slice, pixel for pixel; the window refers to the picture "
      "as EXIF turns it. A window that reaches outside fails the sample.",
      ports(kEncodedPort, kSliceAnchorPort, kSliceShapePort), ports(kPicturePort), kSliceArguments,
      kPictureArguments);

  void check(Checker& c) const {
    TensorType t = checked_picture(*this, c);
    t.shape = checked_slice(*this, OutOfBounds::kError, c, t);
    c.out(t);
  }

  void infer(Inference& i) const {
    EncodedPicture picture(*this, i);
    const TensorType& whole = picture.whole();
    const View* anchor = i.has(1) ? &i.values[1] : nullptr;
    const View* size = i.has(2) ? &i.values[2] : nullptr;
    const Window w = slice_window(*this, whole, anchor, size);
    picture.crop(settle(w, whole, std::nullopt, order_hint(w, *this, whole, anchor, size)));
    i.out(i.kept.set(picture).type());
  }

  static std::vector<Case> cases() {
    return {
        {"start=[7, 0], shape=[2, 1]", {kTinyJpeg}, {"uint8 [[[40, 40, 40], [200, 200, 200]]]"}},
        {"rel_start=[0.8], axes=[1], output_type=types.GRAY",
         {kTinyJpeg},
         {"uint8 [[[40], [200]]]"}},
        {"output_type=types.GRAY",
         {kTinyJpeg, "int32 [8, 0]", "int32 [1, 1]"},
         {"uint8 [[[200]]]"}},
    };
  }
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::ImageSlice)
