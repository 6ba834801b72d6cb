// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/context.h"
#include "op/schema.h"

namespace stoker {

struct RandomWindowArguments {
  static constexpr auto kDrawsAs = "random_window";
  Small<float> random_area = {0.08f, 1.0f};
  Small<float> random_aspect_ratio = {0.75f, 1.333333f};
  int num_attempts = 10;
};
inline constexpr auto kRandomWindowArguments = std::tuple{
    arg(&RandomWindowArguments::random_area, "random_area",
        "Range of the window's area as a fraction of the picture's, (least, most).", between(0, 1)),
    arg(&RandomWindowArguments::random_aspect_ratio, "random_aspect_ratio",
        "Range of the window's width divided by its height, (least, most).", at_least(0)),
    arg(&RandomWindowArguments::num_attempts, "num_attempts",
        "How often to draw an area and a ratio until a window fits. If none does, the largest "
        "window that fits is taken.",
        at_least(1)),
};

struct PlaneWindow {
  int64_t y = 0, x = 0, height = 0, width = 0;
  bool operator==(const PlaneWindow&) const = default;
};

// Throws WrongCall when a range is not two growing numbers.
void check_random_window(const RandomWindowArguments& a);

// Areas are drawn evenly, ratios evenly in their logarithm, places evenly over all that fit. If
// rounding takes a window's ratio out of the range, it is drawn again. Each attempt takes four
// draws, and the place takes four. Requires: height, width > 0.
PlaneWindow random_window(const RandomWindowArguments& a, int64_t height, int64_t width,
                          Chance chance);

}  // namespace stoker
