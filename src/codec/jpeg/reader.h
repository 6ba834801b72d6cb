// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo behind C++: gives rows of a window of one JPEG image, and errors as SampleError.
// One thread at a time.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include <jpeglib.h>

namespace stoker {

// Note [A decompressor per image]
// A decompressor of libjpeg keeps quantisation and Huffman tables from one image to the next, so a
// file without tables would be decoded with those of whatever the thread decoded before. A new
// object for each image costs a fraction of a microsecond and carries nothing over, not even
// errors.
//
// Note [Which warnings lose data]
// These are errors: a premature end, a bad code, a resync, a wrong progression, and any warning
// that is not named here. These are harmless: an unknown Adobe transform or JFIF version, odd scan
// parameters that baseline ignores, a broken ICC profile, bytes between header segments, and up to
// kPadding bytes before a marker once scans have begun (encoders pad). More such bytes mean that a
// wrong code consumed less than it should. A missing end marker alone is harmless too, where the
// pixels do not depend on what should have come before it.
class JpegReader {
 public:
  JpegReader(std::span<const uint8_t> bytes, bool tolerate_corrupt);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Reads up to the first scan.
  void read_header();
  int64_t height() const { return c_.image_height; }
  int64_t width() const { return c_.image_width; }
  J_COLOR_SPACE stored_color() const { return c_.jpeg_color_space; }
  bool is_progressive() const { return c_.progressive_mode; }

  // Starts delivering rows as `color`, with at least the columns [begin, end). Requires:
  // read_header() was called, 0 <= begin < end <= width().
  void start(J_COLOR_SPACE color, bool fast_idct, int64_t begin, int64_t end);
  int64_t first_column() const { return first_column_; }  // of the delivered rows
  int64_t columns() const { return c_.output_width; }
  int channels() const { return c_.output_components; }

  // Skips `count` rows. `line` has space for one row. Requires: nothing was read since start().
  void skip(int64_t count, uint8_t* line);
  // Reads one row for each pointer. Requires: that many rows are left.
  void read(std::span<uint8_t*> rows);
  // Reads the rest of the data in order to judge it.
  void finish(uint8_t* line);

 private:
  // The most scans of a progressive file. Each one costs a pass over the picture.
  static constexpr int kMaxScans = 256;
  static constexpr int kPadding = 8;

  template <class Step>
  void guarded(Step step);
  [[noreturn]] void fail(const char* text);
  [[noreturn]] void raise() const;
  int64_t offset() const;
  bool loses_data() const;
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
  std::jmp_buf escape_;
  std::span<const uint8_t> bytes_;
  bool tolerate_corrupt_;
  bool in_picture_ = false;  // the header was read
  bool at_end_ = false;  // all bytes are used; our own end marker follows
  bool out_of_memory_ = false;
  int64_t first_column_ = 0;
  int64_t error_offset_ = -1;
  char message_[JMSG_LENGTH_MAX] = {};
};

}  // namespace stoker
