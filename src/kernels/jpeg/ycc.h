// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The colours of JPEG files become RGB, bit for bit as by libjpeg-turbo.
#pragma once
#include <cstdint>

namespace stoker::jpeg {

// Makes exactly n pixels: red, green and blue, or with `blue_first` in the other order.
void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out, int64_t n,
                bool blue_first);

}  // namespace stoker::jpeg
