// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_picture.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"
#include "op/window/crop_window.h"

namespace stoker::ops::decode {

struct ImageCrop : PictureDecoder, CropArguments {
  // An image has no depth to crop.
  static constexpr auto kIgnored =
      joined(kIgnoredPictureArguments, std::array{"crop_d", "crop_pos_z"});
  static constexpr auto schema =
      describe("decoders.image_crop",
               "Decodes a window of a given size of an image.\n\n"
               "Equals decoders.image followed by crop, pixel for pixel; the window refers to the "
               "picture as EXIF turns it. A window larger than the picture fails the sample.",
               ports(kEncodedPort), ports(kPicturePort), kCropArguments, kPictureArguments);

  void check(Checker& c) const {
    TensorType t = checked_picture(*this, c);
    t.shape = checked_crop(*this, OutOfBounds::kError, c, t);
    c.out(t);
  }

  void infer(Inference& i) const {
    EncodedPicture picture(*this, i);
    const TensorType& whole = picture.whole();
    picture.crop(crop_window(*this, std::nullopt, whole));
    i.out(i.kept.set(picture).type());
  }

  static std::vector<Case> cases() {
    return {
        {"crop=[1, 2], crop_pos_x=1.0", {kTinyJpeg}, {"uint8 [[[40, 40, 40], [200, 200, 200]]]"}},
        {"crop_h=1, crop_w=1, output_type=types.GRAY, dtype=types.INT16",
         {kTinyJpeg},
         {"int16 [[[5140]]]"}},
    };
  }
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::ImageCrop)
