// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo behind C++: rows of a window of one JPEG image, errors as SampleError. One thread
// at a time.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include <jpeglib.h>

namespace stoker {

// Note [A decompressor per image]
// libjpeg keeps quantisation and Huffman tables from image to image, so that a file without tables
// would be decoded with those of whatever the thread decoded before. Making the object anew costs
// a fraction of a microsecond and leaves nothing behind, errors included.
//
// Note [Which warnings lose data]
// Premature end, bad code, resync, a bogus progression and any warning not named here are errors.
// Harmless are: unknown Adobe transform, JFIF version, odd scan parameters that baseline ignores, a
// broken ICC profile, bytes between header segments, and up to kPadding bytes that precede a marker
// once scans have begun (encoders pad); more of them mean that a code went wrong and ate less than
// it should. A missing end marker alone is harmless too, where the pixels do not depend on what
// should have come before it.
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

  // Begins to deliver rows of at least the columns [begin, end), as `color`. Requires:
  // read_header() was called, 0 <= begin < end <= width().
  void start(J_COLOR_SPACE color, bool fast_idct, int64_t begin, int64_t end);
  int64_t first_column() const { return first_column_; }  // of the rows delivered
  int64_t columns() const { return c_.output_width; }
  int channels() const { return c_.output_components; }

  // Passes over `count` rows. `line` has space for one row. Requires: nothing was read since
  // start().
  void skip(int64_t count, uint8_t* line);
  // Reads as many rows as there are pointers. Requires: so many are left.
  void read(std::span<uint8_t*> rows);
  // Reads all that is left, so that it is judged.
  void finish(uint8_t* line);

 private:
  // Of a progressive file; each of them costs a pass over the picture.
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
  bool in_picture_ = false;  // the header is done
  bool at_end_ = false;  // the bytes are used up; an end marker of our own follows
  bool out_of_memory_ = false;
  int64_t first_column_ = 0;
  int64_t error_offset_ = -1;
  char message_[JMSG_LENGTH_MAX] = {};
};

}  // namespace stoker
