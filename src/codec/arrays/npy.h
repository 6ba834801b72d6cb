// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The header of NumPy's file format, as numpy.lib.format describes it.
//
//   93 "NUMPY" 1:1 0:1 size:2 | text | data          the size is little-endian
//   93 "NUMPY" 2:1 0:1 size:4 | text | data          3: the same, and the text is UTF-8
#pragma once
#include "codec/codec.h"

namespace stoker {

struct NpyHeader {
  DType dtype = DType::kNone;
  Shape shape;
  bool is_fortran = false;  // the first axis is the one whose elements are neighbours
  bool is_swapped = false;  // in the other byte order than this machine's
  size_t data_at = 0;

  int64_t data_bytes() const { return shape.volume() * size_of(dtype); }
};

// How many bytes the header takes, as the first 12 bytes say. Throws SampleError where these do not
// begin an array, and for more than 1 MiB.
size_t npy_header_bytes(EncodedSpan bytes);
// Reads the header of versions 1 to 3; the bytes may end behind it. Throws SampleError where it is
// damaged, or of a dtype that is not among ours.
NpyHeader read_npy_header(EncodedSpan bytes);

// The array that lies behind the header, in the order of its axes. It lies in `bytes`, or in
// `scratch` where its elements are not aligned or not in this machine's byte order. Throws
// SampleError where the bytes end too soon or go on behind it, and what `scratch` throws.
View npy_array(EncodedSpan bytes, const NpyHeader& header, Arena& scratch);
// Throws SampleError where npy_array() would.
void check_npy_size(EncodedSpan bytes, const NpyHeader& header);

}  // namespace stoker
