// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For the cases of decoders: a JPEG file of one row of 9 gray pixels, eight of value 40 and one of
// 200.
#pragma once

namespace stoker {

inline constexpr const char* kTinyJpeg =
    "uint8 [255, 216, 255, 219, 0, 67, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, "
    "8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, "
    "8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 255, 192, 0, 11, 8, 0, 1, 0, 9, 1, 1, 17, 0, "
    "255, 196, 0, 21, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 255, 196, 0, 20, "
    "16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 218, 0, 8, 1, 1, 0, 0, 63, 0, 39, "
    "84, 15, 255, 217]";

}  // namespace stoker
