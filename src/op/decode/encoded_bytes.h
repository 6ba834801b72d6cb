// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codec/codec.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

constexpr Port encoded_port(const char* help) {
  return {.name = "encoded", .help = help, .dtypes = "uint8", .is_value = true};
}

// Throws WrongCall unless input 0, the first of all decoders, can be the bytes of a file.
inline void require_encoded(const Checker& c) {
  require(c.in().shape.rank == 1 || c.in().shape.rank < 0,
          "input 'encoded' has one axis, the bytes of a file; got ", c.in().str());
}
inline EncodedSpan bytes_of(const View& encoded) {
  require(encoded.shape.rank == 1, "the encoded bytes have one axis, got the shape ",
          encoded.shape);
  return {encoded.as<const uint8_t>(), static_cast<size_t>(encoded.shape[0])};
}

}  // namespace stoker
