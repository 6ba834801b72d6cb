// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_jpeg_distortion.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct JpegCompressionDistortion {
  int quality = 50;

  static constexpr auto schema = describe(
      "jpeg_compression_distortion",
      "Distorts images as JPEG compression does.\n\n"
      "The result is what Pillow reads back after it wrote the image as JPEG with 4:2:0, which "
      "halves the chroma in both directions. Images are RGB. They may be larger than a JPEG file "
      "can be.",
      ports({.name = "input",
             .help = "Image or sequence with three channels.",
             .layouts = "HWC",
             .dtypes = "uint8"}),
      ports({.name = "output", .help = "The distorted input."}),
      arg(&JpegCompressionDistortion::quality, "quality",
          "Quality of the compression, from 1 to 100. The higher it is, the less is distorted.",
          between(1, 100), kPerFrame));

  void check(Checker& c) const {
    require_rgb(c.in());
    c.out(c.in());
  }
  void infer(Inference& i) const {
    require_rgb(i.inputs[0]);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { d.needed[0] = jpeg_demand(d.wanted[0], d.inputs[0].shape); }
  void run_cpu(Run& r) const { distort_as_jpeg(r.inputs[0], r.outputs[0], quality, r.scratch); }
  static void run_gpu(GpuRun& r, std::span<const JpegCompressionDistortion* const> items) {
    distort_as_jpeg(r, [&](size_t i) { return items[i]->quality; });
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HWC [[[200, 30, 30], [30, 200, 30]]]"},
         {"uint8 [[[93, 90, 0], [147, 144, 49]]]"}},
        {"quality=1", {"uint8 HWC [[[90, 100, 110]]]"}, {"uint8 [[[96, 96, 96]]]"}},
        {"quality=100",
         {"uint8 FHWC [[[[90, 100, 110]]], [[[7, 7, 7]]]]"},
         {"uint8 [[[[90, 100, 110]]], [[[7, 7, 7]]]]"}},
    };
  }

 private:
  static void require_rgb(const TensorType& t) {
    const int c = t.layout.find('C');
    if (c < 0 || t.shape[c] < 0) return;  // it is not known yet
    require(t.shape[c] == 3, "the input has ", t.shape[c], " channels, expected RGB");
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::JpegCompressionDistortion)
