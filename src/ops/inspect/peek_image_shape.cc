// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"
#include "op/decode/encoded_picture.h"
#include "op/decode/tiny_jpeg.h"
#include "op/type_of.h"

namespace stoker::ops::inspect {

struct PeekImageShape {
  DType dtype = DType::kInt64;
  bool adjust_orientation = true;
  ImageType image_type = ImageType::kRGB;

  static constexpr auto schema = describe(
      "peek_image_shape",
      "Gives the shape that an image will have when it is decoded: height, width, channels.\n\n"
      "Only the file's header is read, so damage behind it is not seen.",
      ports(kEncodedPort), ports({.name = "shape", .help = "The three extents, shape (3,)."}),
      arg(&PeekImageShape::dtype, "dtype", "Type of the extents, an integer or a float."),
      arg(&PeekImageShape::adjust_orientation, "adjust_orientation",
          "Whether the shape is that of the picture as EXIF turns it."),
      arg(&PeekImageShape::image_type, "image_type",
          "The colours that the picture will be decoded to, which decide its channels."));

  PictureArguments picture() const {
    PictureArguments p;
    p.output_type = image_type;
    p.adjust_orientation = adjust_orientation;
    return p;
  }

  void check(Checker& c) const {
    checked_picture(picture(), c);
    require(dtype != DType::kBool, "argument 'dtype' is BOOL, expected an integer or a float");
    c.out({dtype, {}, {3}});
  }

  void infer(Inference& i) const {
    i.kept.set(EncodedPicture(picture(), i).whole().shape);
    i.out({dtype, {}, {3}});
  }

  void run_cpu(Run& r) const {
    const Shape& shape = r.kept.get<Shape>();
    const View& out = r.outputs[0];
    with_type(out.dtype, [&]<class T>(T) {
      for (int64_t k = 0; k < out.shape[0]; ++k)
        out.as<T>()[k] = convert<T>(shape[static_cast<int>(out.origin[0] + k)]);
    });
  }

  static std::vector<Case> cases() {
    return {{"", {kTinyJpeg}, {"int64 [1, 9, 3]"}},
            {"image_type=types.GRAY, dtype=types.FLOAT", {kTinyJpeg}, {"float32 [1, 9, 1]"}}};
  }
};

}  // namespace stoker::ops::inspect

STOKER_OPERATOR(stoker::ops::inspect::PeekImageShape)
