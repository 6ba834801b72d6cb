// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codec/codec.h"
#include "op/context.h"

namespace stoker {

// Note [Annotated pictures]
// An annotation and a picture both state the picture's extents. Where they differ, neither is
// believed, because boxes and masks would lie beside what they mark. They differ where EXIF turns a
// picture that was annotated as it is stored, and where a picture was scaled or cropped later on. A
// reader leaves what the annotation says in Reading::annotated, and the decoder, which reads the
// picture's header anyway, compares that with the picture as it delivers it. A difference fails the
// sample. Where extents cannot tell, as after half a turn, the decoder remarks on it.

// Throws SampleError, which names both and the way out, if they differ.
void compare_with_annotation(const EncodedImage& image, Inference& i);

// For readers: remarks on the first box that reaches out of the annotated extents by more than a
// rounding. `boxes`: left, top, right and bottom of each, in pixels. Requires: r.annotated is set.
void remark_on_boxes_outside(Reading& r, std::span<const float> boxes);

}  // namespace stoker
