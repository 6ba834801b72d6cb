// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_picture.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"

namespace stoker::ops::decode {

struct Image : PictureDecoder {
  static constexpr auto kIgnored = joined(kIgnoredPictureArguments, kIgnoredCacheArguments);
  static constexpr auto schema = describe(
      "decoders.image",
      "Decodes an image.\n\n"
      "Reads JPEG, JPEG 2000, JPEG XL, PNG, WebP, AVIF, HEIF, TIFF, GIF, BMP and PNM files, which "
      "it recognises by their content; stoker.codecs() lists them. Gives pixels of shape (height, "
      "width, channels), turned as EXIF says. Only the window that later operators read is "
      "decoded, with the same pixels as in the whole picture. Alpha is dropped unless all channels "
      "are asked for; colour profiles are ignored. A damaged, unsupported or absurdly large file "
      "fails its sample; the error names the file and the byte offset.",
      ports(kEncodedPort), ports(kPicturePort), kPictureArguments);

  void check(Checker& c) const { c.out(checked_picture(*this, c)); }
  void infer(Inference& i) const { i.out(i.kept.set(EncodedPicture(*this, i)).type()); }

  static std::vector<Case> cases() {
    return {
        {"output_type=types.GRAY",
         {kTinyJpeg},
         {"uint8 [[[40], [40], [40], [40], [40], [40], [40], [40], [200]]]"}},
        {"output_type=types.ANY_DATA, dtype=types.UINT16",
         {kTinyJpeg},
         {"uint16 [[[10280], [10280], [10280], [10280], [10280], [10280], [10280], [10280], "
          "[51400]]]"}},
    };
  }
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::Image)
