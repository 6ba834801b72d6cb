// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/memory.h"

#include <jerror.h>

#include <cstring>
#include <new>

// libjpeg leaves this type to its memory manager. Here it holds the coefficients of one component,
// which are zero before they are written. A row is set to zero when it is first asked for, so that
// a damaged file costs no more than what there is of it.
struct jvirt_barray_control {
  JDIMENSION width, height;  // in blocks
  JBLOCKARRAY rows;  // null until realize()
  JDIMENSION zeroed;  // rows
  jvirt_barray_ptr next;
};

namespace stoker {

// Calls take(scratch). An exception is kept, and libjpeg's way out of an error is taken.
template <class Take>
auto JpegMemory::taken(j_common_ptr c, Take take) {
  auto& m = static_cast<JpegMemory&>(*c->mem);
  try {
    return take(m.scratch_);
  } catch (...) {
    m.error_ = std::current_exception();
  }
  ERREXIT1(c, JERR_OUT_OF_MEMORY, 0);
  return decltype(take(m.scratch_)){};  // not reached
}

// SIMD code of libjpeg-turbo writes up to 63 bytes beyond the end of a row.
template <class Row>
Row* JpegMemory::rows(j_common_ptr c, size_t row_bytes, JDIMENSION count) {
  return taken(c, [=](Arena& scratch) {
    const size_t pitch = (row_bytes + 63) / 64 * 64;
    auto* const rows = scratch.array<Row>(count);
    auto* const data = scratch.array<std::byte>(pitch * count);
    for (JDIMENSION y = 0; y < count; ++y) rows[y] = reinterpret_cast<Row>(data + y * pitch);
    return rows;
  });
}

JpegMemory::JpegMemory(jpeg_memory_mgr& before, Arena& scratch)
    : jpeg_memory_mgr(before), before_(before), scratch_(scratch) {
  alloc_small = alloc_large = [](j_common_ptr c, int, size_t bytes) {
    return taken(c, [=](Arena& scratch) { return scratch.allocate(bytes); });
  };
  alloc_sarray = [](j_common_ptr c, int, JDIMENSION width, JDIMENSION height) {
    return rows<JSAMPROW>(c, width, height);
  };
  alloc_barray = [](j_common_ptr c, int, JDIMENSION width, JDIMENSION height) {
    return rows<JBLOCKROW>(c, width * sizeof(JBLOCK), height);
  };
  request_virt_barray = [](j_common_ptr c, int, boolean, JDIMENSION width, JDIMENSION height,
                           JDIMENSION) {
    auto& m = static_cast<JpegMemory&>(*c->mem);
    void* const place = c->mem->alloc_small(c, JPOOL_IMAGE, sizeof(jvirt_barray_control));
    return m.arrays_ = new (place) jvirt_barray_control{width, height, nullptr, 0, m.arrays_};
  };
  realize_virt_arrays = realize;
  access_virt_barray = access;
  // Only colour quantisation, which nothing here asks for, has such arrays of samples.
  request_virt_sarray = nullptr;
  access_virt_sarray = nullptr;
  free_pool = [](j_common_ptr, int) {};
  self_destruct = [](j_common_ptr) {};
}

void JpegMemory::realize(j_common_ptr c) {
  for (jvirt_barray_ptr a = static_cast<JpegMemory&>(*c->mem).arrays_; a; a = a->next)
    if (!a->rows) a->rows = c->mem->alloc_barray(c, JPOOL_IMAGE, a->width, a->height);
}

JBLOCKARRAY JpegMemory::access(j_common_ptr c, jvirt_barray_ptr array, JDIMENSION begin,
                               JDIMENSION count, boolean) {
  if (!array->rows || begin > array->height || count > array->height - begin)
    ERREXIT(c, JERR_BAD_VIRTUAL_ACCESS);
  for (JDIMENSION& y = array->zeroed; y < begin + count; ++y)
    std::memset(array->rows[y], 0, array->width * sizeof(JBLOCK));
  return array->rows + begin;
}

}  // namespace stoker
