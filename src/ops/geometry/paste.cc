// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Paste {
  Small<float> fill_value;
  float min_canvas_size = 0, paste_x = 0.5f, paste_y = 0.5f, ratio = 1;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { require_class_fill(c, "fill_value", fill_value); }

  static constexpr const char* kIgnored[] = {"n_channels"};
  static constexpr auto schema = describe(
      "paste",
      "Puts an image onto a larger canvas.\n\n"
      "The canvas has 'ratio' times the height and width, and at least 'min_canvas_size' of both, "
      "cut down to whole pixels. Accepts any dtype.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"}),
      ports({.name = "output", .help = "The canvas."}),
      arg(&Paste::fill_value, "fill_value", "Colour of the canvas: one value, or one per channel.",
          kRequired),
      arg(&Paste::min_canvas_size, "min_canvas_size", "The least height and width in pixels.",
          between(0, 1 << 20), kPerSample),
      arg(&Paste::paste_x, "paste_x", "Place of the image, from 0 at the left to 1.", between(0, 1),
          kPerSample),
      arg(&Paste::paste_y, "paste_y", "Place of the image, from 0 at the top to 1.", between(0, 1),
          kPerSample),
      arg(&Paste::ratio, "ratio", "How much larger than the image the canvas is.",
          between(1, 1 << 20), kRequiredPerSample));

  void require_fill(const TensorType& in) const {
    const int c = in.layout.find('C');
    if (c >= 0 && in.shape[c] < 0) return;
    require_count("argument 'fill_value'", fill_value.size(), {1, c < 0 ? 1 : in.shape[c]},
                  "one for all channels or one per channel");
  }
  int64_t canvas(int64_t extent) const {
    const double size = shortest(ratio) * static_cast<double>(extent);
    return std::max<int64_t>(static_cast<int64_t>(std::max(size, shortest(min_canvas_size))),
                             extent);
  }

  void check(Checker& c) const {
    TensorType t = c.in();
    require_fill(t);
    const bool is_known = !c.is_computed("ratio") && !c.is_computed("min_canvas_size");
    for (int a : {t.layout.find('H'), t.layout.find('W')})
      t.shape[a] = is_known && t.shape[a] >= 0 ? canvas(t.shape[a]) : -1;
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    require_fill(in);
    Gather g = Gather::identity(in.shape);
    g.fill = fill_value;
    const auto place = [&](int a, float share) {
      const int64_t size = canvas(in.shape[a]);
      const double room = static_cast<double>(size - in.shape[a]);
      g.axis[a] = {-static_cast<int64_t>(shortest(share) * room), 1, size};
    };
    place(in.layout.find('H'), paste_y);
    place(in.layout.find('W'), paste_x);
    l.add(g, in.dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"ratio=2.0, fill_value=9", {"uint8 HW [[1, 2]]"}, {"uint8 [[9, 1, 2, 9], [9, 9, 9, 9]]"}},
        {"ratio=1.5, fill_value=[7, 8], paste_x=1.0",
         {"float32 CHW [[[1, 2]], [[3, 4]]]"},
         {"float32 [[[7, 1, 2]], [[8, 3, 4]]]"}},
        {"ratio=1.0, min_canvas_size=2.9, fill_value=0",
         {"uint8 HWC [[[1], [2], [3]]]"},
         {"uint8 [[[1], [2], [3]], [[0], [0], [0]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Paste)
