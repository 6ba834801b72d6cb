// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg's memory for one picture, taken from its sample's scratch memory and so counted there:
// rows on their way, and the coefficients of a picture whose data passes over it more than once.
#pragma once
#include <cstddef>
#include <cstdio>
#include <exception>

#include <jpeglib.h>

#include "memory/arena.h"

namespace stoker {

// Takes the place of a decompressor's own memory, `before`, which gets its place back before the
// decompressor is destroyed. What is allocated here is freed with the scratch memory.
class JpegMemory : public jpeg_memory_mgr {
 public:
  // Requires: both outlive this.
  JpegMemory(jpeg_memory_mgr& before, Arena& scratch);
  jpeg_memory_mgr& before() const { return before_; }
  // What the scratch memory threw. libjpeg, through which it cannot pass, gets JERR_OUT_OF_MEMORY.
  const std::exception_ptr& error() const { return error_; }

 private:
  template <class Take>
  static auto taken(j_common_ptr c, Take take);
  template <class Row>
  static Row* rows(j_common_ptr c, size_t row_bytes, JDIMENSION count);
  static void realize(j_common_ptr c);
  static JBLOCKARRAY access(j_common_ptr c, jvirt_barray_ptr array, JDIMENSION begin,
                            JDIMENSION count, boolean writable);

  jpeg_memory_mgr& before_;
  Arena& scratch_;
  jvirt_barray_ptr arrays_ = nullptr;  // requested, a list
  std::exception_ptr error_;
};

}  // namespace stoker
