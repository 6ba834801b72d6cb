// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The one thing that a decoder wants of EXIF. A pure function; thread-safe.
#pragma once
#include <cstdint>
#include <span>

namespace stoker {

// The orientation, 1..8, that a TIFF structure (what follows "Exif\0\0") holds; 1 when it is
// absent, damaged or out of range.
int exif_orientation(std::span<const uint8_t> tiff);

}  // namespace stoker
