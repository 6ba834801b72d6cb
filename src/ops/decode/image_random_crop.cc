// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_picture.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"
#include "op/window/random_window.h"

namespace stoker::ops::decode {

struct ImageRandomCrop : PictureDecoder, RandomWindowArguments {
  static constexpr bool kRandom = true;
  static constexpr auto kIgnored = kIgnoredPictureArguments;
  static constexpr auto schema = describe(
      "decoders.image_random_crop",
      "Decodes a random window of an image.\n\n"
      "The window's area and aspect ratio are drawn until the window fits into the picture; then "
      "its place is drawn. Only the window is decoded, with the same pixels as in the whole "
      "picture. The draws depend only on the pipeline's seed, the epoch and the sample.",
      ports(kEncodedPort), ports(kPicturePort), kRandomWindowArguments, kPictureArguments);

  void check(Checker& c) const {
    check_random_window(*this);
    c.out(checked_picture(*this, c));
  }

  void infer(Inference& i) const {
    EncodedPicture picture(*this, i);
    const Shape& whole = picture.whole().shape;
    const PlaneWindow w = random_window(*this, whole[0], whole[1], i.chance);
    picture.crop({{w.y, w.x, 0}, {w.y + w.height, w.x + w.width, whole[2]}});
    i.out(i.kept.set(picture).type());
  }

  static std::vector<Case> cases() {
    return {
        {"random_area=[1.0, 1.0], random_aspect_ratio=[9.0, 9.0], output_type=types.GRAY",
         {kTinyJpeg},
         {"uint8 [[[40], [40], [40], [40], [40], [40], [40], [40], [200]]]"}},
        {"random_area=[1.0, 1.0], random_aspect_ratio=[9.0, 9.0], output_type=types.ANY_DATA, "
         "dtype=types.INT8",
         {kTinyJpeg},
         {"int8 [[[20], [20], [20], [20], [20], [20], [20], [20], [100]]]"}},
    };
  }
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::ImageRandomCrop)
