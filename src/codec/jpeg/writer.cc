// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/writer.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <jpeglib.h>

#include <jerror.h>

#include "codec/jpeg/memory.h"

namespace stoker {
namespace {

class Writer {
 public:
  Writer() {
    c_.err = jpeg_std_error(&errors_);
    c_.client_data = this;
    errors_.output_message = [](j_common_ptr) {};
    errors_.error_exit = [](j_common_ptr common) {
      auto& self = *static_cast<Writer*>(common->client_data);
      common->err->format_message(common, self.message_);
      std::longjmp(self.failed_, 1);
    };
  }
  ~Writer() {
    if (memory_) c_.mem = &memory_->before();
    jpeg_destroy_compress(&c_);
    std::free(bytes_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const JpegPicture& p, int quality, bool subsampled) {
    if (!succeeds([&] { write_pixels(p, quality, subsampled); })) raise();
  }
  void write(const JpegCoefficients& from, Arena& scratch) {
    if (!succeeds([this] { create(); })) raise();
    c_.mem = &memory_.emplace(*c_.mem, scratch);
    if (!succeeds([&] { write_coefficients(from); })) raise();
  }
  std::vector<uint8_t> bytes() const { return {bytes_, bytes_ + size_}; }

 private:
  // False where libjpeg fails. `step` must hold nothing with a destructor, as longjmp() skips
  // those.
  template <class Step>
  bool succeeds(const Step& step) {
    if (setjmp(failed_)) return false;
    step();
    return true;
  }

  [[noreturn]] void raise() const {
    if (memory_ && memory_->error()) std::rethrow_exception(memory_->error());
    if (errors_.msg_code == JERR_OUT_OF_MEMORY)
      throw BudgetError("the system has no memory left to write a JPEG image");
    throw JpegRefusal(std::string("cannot write a JPEG: ") + message_);
  }

  void create() {
    jpeg_create_compress(&c_);
    jpeg_mem_dest(&c_, &bytes_, &size_);
  }

  void write_pixels(const JpegPicture& p, int quality, bool subsampled) {
    create();
    c_.image_height = static_cast<JDIMENSION>(p.height);
    c_.image_width = static_cast<JDIMENSION>(p.width);
    c_.input_components = static_cast<int>(p.channels);
    c_.in_color_space = p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c_);
    jpeg_set_quality(&c_, quality, TRUE);
    const int factor = subsampled && p.channels == 3 ? 2 : 1;
    c_.comp_info[0].h_samp_factor = c_.comp_info[0].v_samp_factor = factor;
    jpeg_start_compress(&c_, TRUE);
    while (c_.next_scanline < c_.image_height) {
      const auto row = static_cast<size_t>(c_.next_scanline) * static_cast<size_t>(p.width) *
                       static_cast<size_t>(p.channels);
      auto* line = const_cast<JSAMPROW>(p.pixels.data() + row);
      jpeg_write_scanlines(&c_, &line, 1);
    }
    jpeg_finish_compress(&c_);
  }

  void write_coefficients(const JpegCoefficients& from) {
    jpeg_copy_critical_parameters(&from.file, &c_);
    c_.write_JFIF_header = c_.write_Adobe_marker = FALSE;
    c_.arith_code = FALSE;
    c_.optimize_coding = TRUE;
    c_.restart_in_rows = 1;
    jpeg_write_coefficients(&c_, from.arrays);
    for (const auto* s = from.segments; s != from.segments_end; s = s->next)
      jpeg_write_marker(&c_, s->marker, s->data, s->data_length);
    jpeg_finish_compress(&c_);
  }

  jpeg_compress_struct c_ = {};
  jpeg_error_mgr errors_ = {};
  std::optional<JpegMemory> memory_;  // for coefficients
  std::jmp_buf failed_;
  char message_[JMSG_LENGTH_MAX] = {};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::vector<uint8_t> write_jpeg(const JpegPicture& picture, int quality, bool subsampled) {
  const auto writer = std::make_unique<Writer>();
  writer->write(picture, quality, subsampled);
  return writer->bytes();
}

std::vector<uint8_t> write_one_scan(const JpegCoefficients& from, Arena& scratch) {
  const auto writer = std::make_unique<Writer>();
  writer->write(from, scratch);
  return writer->bytes();
}

}  // namespace stoker
