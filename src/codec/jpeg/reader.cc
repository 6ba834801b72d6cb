// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/reader.h"

#include <jerror.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "codec/plain_jpeg/rows.h"

namespace stoker {

// Runs everything that may call back into on_error. longjmp leaves the frames of libjpeg and `step`
// without unwinding them, so `step` must hold nothing with a destructor.
template <class Step>
void JpegReader::guarded(Step step) {
  if (setjmp(escape_)) raise();
  step();
}

JpegReader::JpegReader(std::span<const uint8_t> bytes, bool tolerate_corrupt)
    : bytes_(bytes), tolerate_corrupt_(tolerate_corrupt) {
  c_.err = jpeg_std_error(&errors_);
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
  c_.client_data = this;
}

JpegReader::~JpegReader() {
  if (memory_) c_.mem = &memory_->before();
  jpeg_destroy_decompress(&c_);
}

void JpegReader::read_header(bool keeps_segments) {
  guarded([=, this] {
    jpeg_create_decompress(&c_);
    constexpr unsigned kWhole = 0xFFFF;
    if (keeps_segments) jpeg_save_markers(&c_, JPEG_COM, kWhole);
    for (int n = 0; keeps_segments && n < 16; ++n) jpeg_save_markers(&c_, JPEG_APP0 + n, kWhole);
    source_.next_input_byte = bytes_.data();
    source_.bytes_in_buffer = bytes_.size();
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = on_fill;
    source_.skip_input_data = on_skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
    c_.src = &source_;
    progress_.progress_monitor = on_progress;
    c_.progress = &progress_;
    jpeg_read_header(&c_, TRUE);
    in_picture_ = true;
  });
}

void JpegReader::judge(int64_t rows) {
  judges_all_ = rows >= height();
  judged_mcu_rows_ = static_cast<JDIMENSION>(judged_mcu_rows(rows, height(), c_.max_v_samp_factor));
}

void JpegReader::start(J_COLOR_SPACE color, bool fast_idct, int64_t begin, int64_t end,
                       Arena& scratch) {
  c_.mem = &memory_.emplace(*c_.mem, scratch);
  guarded([=, this] {
    c_.out_color_space = color;
    c_.dct_method = fast_idct ? JDCT_IFAST : JDCT_ISLOW;
    jpeg_start_decompress(&c_);
    if (has_tolerated_ && lacks_scans()) std::longjmp(escape_, 1);
    if (!smooths_blocks()) crop(begin, end);
  });
}

jvirt_barray_ptr* JpegReader::read_coefficients(Arena& scratch) {
  c_.mem = &memory_.emplace(*c_.mem, scratch);
  guarded([this] { coefficients_ = jpeg_read_coefficients(&c_); });
  return coefficients_;
}

// Smooth upsampling reads one chroma sample on either side, so this asks for that much more.
// libjpeg itself then widens the range to the left to a whole block.
void JpegReader::crop(int64_t begin, int64_t end) {
  const int64_t margin = c_.max_h_samp_factor > 1 ? c_.max_h_samp_factor : 0;
  begin = std::max<int64_t>(begin - margin, 0);
  end = std::min<int64_t>(end + margin, c_.output_width);
  if (end - begin == c_.output_width) return;
  JDIMENSION first = static_cast<JDIMENSION>(begin), count = static_cast<JDIMENSION>(end - begin);
  jpeg_crop_scanline(&c_, &first, &count);
  first_column_ = first;
}

// libjpeg smooths over block borders where a progressive file lacks coefficients. It does so
// correctly only for whole rows and without skipping.
bool JpegReader::smooths_blocks() const {
  if (!c_.progressive_mode || !c_.coef_bits) return false;
  for (int i = 0; i < c_.num_components; ++i)
    if (!std::all_of(c_.coef_bits[i] + 1, c_.coef_bits[i] + DCTSIZE2,
                     [](int bits) { return bits == 0; }))
      return true;
  return false;
}

bool JpegReader::lacks_scans() const {
  for (int i = 0; i < c_.num_components; ++i)
    if (!c_.comp_info[i].quant_table ||
        (c_.coef_bits && std::any_of(c_.coef_bits[i], c_.coef_bits[i] + DCTSIZE2,
                                     [](int bits) { return bits != 0; })))
      return true;
  return false;
}

void JpegReader::skip(int64_t count, uint8_t* line) {
  if (count == 0) return;
  guarded([=, this] {
    if (!smooths_blocks()) {
      jpeg_skip_scanlines(&c_, static_cast<JDIMENSION>(count));
      return;
    }
    JSAMPROW row = line;
    while (c_.output_scanline < count) jpeg_read_scanlines(&c_, &row, 1);
  });
}

void JpegReader::read(std::span<uint8_t*> rows) {
  guarded([=, this] {
    for (size_t i = 0; i < rows.size();)
      i += jpeg_read_scanlines(&c_, rows.data() + i, static_cast<JDIMENSION>(rows.size() - i));
  });
}

void JpegReader::finish(uint8_t* line) {
  guarded([=, this] {
    JSAMPROW row = line;
    while (c_.output_scanline < c_.output_height &&
           (judges_all_ || c_.input_iMCU_row < judged_mcu_rows_))
      jpeg_read_scanlines(&c_, &row, 1);
    if (judges_all_) jpeg_finish_decompress(&c_);
  });
}

int64_t JpegReader::offset() const {
  return static_cast<int64_t>(at_end_ ? bytes_.size() : bytes_.size() - source_.bytes_in_buffer);
}

void JpegReader::note(const char* text) {
  std::snprintf(message_, sizeof message_, "%s", text);
  error_offset_ = offset();
}

void JpegReader::fail(const char* text) {
  note(text);
  std::longjmp(escape_, 1);
}

// Whether what is read now is behind all that is judged: Note [Judged rows].
bool JpegReader::is_behind() const {
  return in_picture_ && !judges_all_ && c_.input_iMCU_row >= judged_mcu_rows_;
}

void JpegReader::lose(const char* text) {
  if (tolerate_corrupt_) return;
  if (!is_behind()) fail(text);
  if (!std::exchange(has_tolerated_, true)) note(text);
}

void JpegReader::raise() const {
  if (memory_ && memory_->error()) std::rethrow_exception(memory_->error());
  if (out_of_memory_) throw BudgetError("the system has no memory left to decode a JPEG image");
  throw SampleError(message_, error_offset_);
}

void JpegReader::on_error(j_common_ptr c) {
  JpegReader& r = self(c);
  char reason[JMSG_LENGTH_MAX], text[JMSG_LENGTH_MAX + 32];
  c->err->format_message(c, reason);
  r.out_of_memory_ = c->err->msg_code == JERR_OUT_OF_MEMORY;
  if (r.has_tolerated_) std::longjmp(r.escape_, 1);  // what was lost before is the cause
  std::snprintf(text, sizeof text, "JPEG cannot be decoded: %s", reason);
  r.fail(text);
}

void JpegReader::on_message(j_common_ptr c, int level) {
  JpegReader& r = self(c);
  const bool is_tolerated = r.tolerate_corrupt_ || (r.has_tolerated_ && r.is_behind());
  if (level >= 0 || is_tolerated || !r.loses_data()) return;
  if (r.at_end_) return r.lose("JPEG data ends prematurely");
  char reason[JMSG_LENGTH_MAX], text[JMSG_LENGTH_MAX + 32];
  c->err->format_message(c, reason);
  std::snprintf(text, sizeof text, "JPEG data is damaged: %s", reason);
  r.lose(text);
}

// See Note [Which warnings lose data].
bool JpegReader::loses_data() const {
  switch (errors_.msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_BOGUS_ICC: return false;
    case JWRN_EXTRANEOUS_DATA: return in_picture_ && errors_.msg_parm.i[0] > kPadding;
    default: return true;
  }
}

void JpegReader::on_progress(j_common_ptr c) {
  const auto* d = reinterpret_cast<j_decompress_ptr>(c);
  if (d->input_scan_number > kMaxScans) self(c).fail("JPEG has more than 256 scans: refused");
}

// Puts an end marker in the place of missing data, of which a Huffman decoder that needs more
// warns. Where nothing would warn (headers, arithmetic coding, missing scans), the end is the
// error.
boolean JpegReader::on_fill(j_decompress_ptr c) {
  static constexpr JOCTET kEnd[] = {0xFF, JPEG_EOI};
  JpegReader& r = self(reinterpret_cast<j_common_ptr>(c));
  r.at_end_ = true;
  const bool warns = r.in_picture_ && !c->arith_code && !jpeg_has_multiple_scans(c);
  if (!warns) r.lose("JPEG data ends prematurely");
  r.source_.next_input_byte = kEnd;
  r.source_.bytes_in_buffer = sizeof kEnd;
  return TRUE;
}

void JpegReader::on_skip(j_decompress_ptr c, long count) {
  jpeg_source_mgr& s = *c->src;
  const size_t n =
      std::min<size_t>(s.bytes_in_buffer, static_cast<size_t>(std::max<long>(count, 0)));
  s.next_input_byte += n;
  s.bytes_in_buffer -= n;
}

}  // namespace stoker
