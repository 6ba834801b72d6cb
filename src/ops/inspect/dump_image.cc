// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fstream>

#include "kernels/elements/map.h"
#include "op/type_of.h"

namespace stoker::ops::inspect {

struct DumpImage {
  struct Same {
    uint8_t operator()(uint8_t v) const { return v; }
  };

  std::string suffix;
  std::optional<Layout> input_layout;

  static constexpr const char* kSkip = "writes files; tests/inspect/test_dump_image.py tests it";
  static constexpr auto schema = describe(
      "dump_image",
      "Writes pictures into files, to look at them, and gives them on.\n\n"
      "The picture at position 7 of epoch 0 becomes the file \"0-<suffix>-7.ppm\" in the working "
      "folder. Of a sequence each frame gets a file of its own, \"0-<suffix>-7-<frame>.ppm\". "
      "Files that are there are overwritten. Pictures of one channel are written as PGM.",
      ports({.name = "input",
             .help = "A picture of bytes with 1 or 3 channels, or a sequence of them.",
             .layouts = "HWC, CHW, FHWC, FCHW",
             .dtypes = "uint8"}),
      ports({.name = "output", .help = "The input."}),
      arg(&DumpImage::suffix, "suffix", "A part of the names of the files."),
      arg(&DumpImage::input_layout, "input_layout",
          "How the input is read, in the place of its own layout."));

  void check(Checker& c) const {
    c.out(c.in());
    const Layout read = read_as(c.in().layout);
    require(
        read.str() == "HWC" || read.str() == "CHW" || read.str() == "FHWC" || read.str() == "FCHW",
        "argument 'input_layout' expects HWC or CHW, with an F before it for a sequence, got '",
        read.str(), "'");
    require(read.rank() == c.in().layout.rank(), "argument 'input_layout' is '", read.str(),
            "' for an input of ", c.in().layout.rank(), " axes");
  }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand&) const {}  // all of it, whatever later operators want

  void run_cpu(Run& r) const {
    map<uint8_t, uint8_t>(r.outputs[0], Same{}, r.inputs[0]);
    View picture = r.inputs[0];
    picture.layout = read_as(picture.layout);
    const Identity who = r.origin.who;
    const std::string name =
        std::to_string(who.epoch) + "-" + suffix + "-" + std::to_string(who.position);
    if (picture.layout.find('F') < 0) return write(picture, name + ".ppm");
    for (int64_t f = 0; f < picture.full[0]; ++f)
      write(picture.frame(f), name + "-" + std::to_string(f) + ".ppm");
  }

 private:
  Layout read_as(const Layout& own) const { return input_layout.value_or(own); }

  static void write(const View& picture, const std::string& file) {
    const int h = picture.layout.find('H'), w = picture.layout.find('W'),
              c = picture.layout.find('C');
    const int64_t channels = picture.full[c];
    require(channels == 1 || channels == 3, "expects a picture of 1 or 3 channels, got ", channels);
    std::string bytes = (channels == 1 ? "P5\n" : "P6\n") + std::to_string(picture.full[w]) + " " +
                        std::to_string(picture.full[h]) + "\n255\n";
    const auto* first = picture.as<uint8_t>();
    for (int64_t y = 0; y < picture.full[h]; ++y)
      for (int64_t x = 0; x < picture.full[w]; ++x)
        for (int64_t k = 0; k < channels; ++k)
          bytes += static_cast<char>(
              first[y * picture.strides[h] + x * picture.strides[w] + k * picture.strides[c]]);
    std::ofstream out(file, std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
      throw SampleError("cannot write the file '" + file + "': " + std::strerror(errno));
  }
};

}  // namespace stoker::ops::inspect

STOKER_OPERATOR(stoker::ops::inspect::DumpImage)
