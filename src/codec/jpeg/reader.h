// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo behind C++: gives rows of a window of one JPEG image, and errors as SampleError.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>

#include <jpeglib.h>

#include "codec/jpeg/memory.h"

namespace stoker {

// Note [A decompressor per image]
// A decompressor of libjpeg keeps its tables from one image to the next, so a file without tables
// would be decoded with those of another. A new object for each image costs a fraction of a
// microsecond and carries nothing over, not even errors.
//
// Note [Which warnings lose data]
// These are errors: a premature end, a bad code, a resync, a wrong progression, and any warning
// that is not named here. These are harmless: an unknown Adobe transform or JFIF version, odd scan
// parameters that baseline ignores, a broken ICC profile, bytes between header segments, and up to
// kPadding bytes before a marker once scans have begun (encoders pad). More such bytes mean that a
// wrong code consumed less than it should. A missing end marker alone is harmless too, where the
// pixels do not depend on what should have come before it.
//
// Note [Judged rows]
// libjpeg reads one row of MCUs after the other, in each scan, and warns while it reads the row
// that is damaged. So a warning counts if that row holds judged rows of pixels, or those below them
// that smooth upsampling looks at. It does not matter why the row is read. A file of several scans
// is read to its end before the first pixel. If it then turns out that scans are missing behind
// tolerated damage, that damage counts, and so it does if an error follows: errors, unlike
// warnings, count wherever they stand.
class JpegReader {
 public:
  JpegReader(std::span<const uint8_t> bytes, bool tolerate_corrupt);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Reads up to the first scan. `keeps_segments`: segments() has all APPn and COM segments.
  void read_header(bool keeps_segments = false);
  int64_t height() const { return c_.image_height; }
  int64_t width() const { return c_.image_width; }
  J_COLOR_SPACE stored_color() const { return c_.jpeg_color_space; }

  // The segments that were met so far, in their order, as a list.
  jpeg_saved_marker_ptr segments() const { return c_.marker_list; }
  // Bytes that were read so far.
  int64_t offset() const;
  // Whether a component or the last bits of some coefficients have not come.
  bool lacks_scans() const;

  // Instead of start(): reads all scans to the end of the picture, and judges them. Returns an
  // array of coefficients for each component; they lie in `scratch`. Throws what that throws.
  // Requires: read_header() was called; `scratch` is not reset while this lives.
  jvirt_barray_ptr* read_coefficients(Arena& scratch);
  // libjpeg's own, to look at or to be copied from.
  jpeg_decompress_struct& decompressor() { return c_; }

  // Judges so many rows from the top, and all data if these are all rows or judge() is not called.
  // Requires: read_header() was called, start() was not.
  void judge(int64_t rows);
  // Starts delivering rows as `color`, with at least the columns [begin, end). All memory that
  // grows with the picture comes from `scratch`; throws what that throws. Requires: read_header()
  // was called, 0 <= begin < end <= width(); `scratch` is not reset while this lives.
  void start(J_COLOR_SPACE color, bool fast_idct, int64_t begin, int64_t end, Arena& scratch);
  int64_t first_column() const { return first_column_; }  // of the delivered rows
  int64_t columns() const { return c_.output_width; }
  int channels() const { return c_.output_components; }

  // Skips `count` rows. `line` has space for one row. Requires: nothing was read since start().
  void skip(int64_t count, uint8_t* line);
  // Reads one row for each pointer. Requires: that many rows are left.
  void read(std::span<uint8_t*> rows);
  // Reads on until all that judge() asked for was read. `line` has space for one row.
  void finish(uint8_t* line);

 private:
  // Each scan goes over the whole picture.
  static constexpr int kMaxScans = 256;
  static constexpr int kPadding = 8;

  template <class Step>
  void guarded(Step step);
  [[noreturn]] void fail(const char* text);
  void lose(const char* text);
  void note(const char* text);
  [[noreturn]] void raise() const;
  bool loses_data() const;
  bool is_behind() const;
  bool smooths_blocks() const;
  void crop(int64_t begin, int64_t end);

  static JpegReader& self(j_common_ptr c) { return *static_cast<JpegReader*>(c->client_data); }
  static void on_error(j_common_ptr c);
  static void on_message(j_common_ptr c, int level);
  static void on_progress(j_common_ptr c);
  static boolean on_fill(j_decompress_ptr c);
  static void on_skip(j_decompress_ptr c, long count);

  jpeg_decompress_struct c_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  std::optional<JpegMemory> memory_;  // from start() on
  std::jmp_buf escape_;
  std::span<const uint8_t> bytes_;
  bool tolerate_corrupt_;
  bool in_picture_ = false;  // the header was read
  bool at_end_ = false;  // all bytes are used; our own end marker follows
  bool out_of_memory_ = false;
  bool judges_all_ = true;
  JDIMENSION judged_mcu_rows_ = 0;  // unless all is judged
  bool has_tolerated_ = false;  // the message tells of the first time
  jvirt_barray_ptr* coefficients_ = nullptr;
  int64_t first_column_ = 0;
  int64_t error_offset_ = -1;
  char message_[JMSG_LENGTH_MAX + 32] = {};
};

}  // namespace stoker
