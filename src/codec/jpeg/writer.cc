// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/writer.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <jpeglib.h>

#include "base/error.h"

namespace stoker {
namespace {

struct Writer {
  jpeg_compress_struct c = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf failed;
  char message[JMSG_LENGTH_MAX] = {};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  Writer() {
    c.err = jpeg_std_error(&errors);
    c.client_data = this;
    errors.output_message = [](j_common_ptr) {};
    errors.error_exit = [](j_common_ptr common) {
      auto& self = *static_cast<Writer*>(common->client_data);
      common->err->format_message(common, self.message);
      std::longjmp(self.failed, 1);
    };
  }
  ~Writer() {
    jpeg_destroy_compress(&c);
    std::free(bytes);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False where libjpeg fails. No object with a destructor lives here, as longjmp() skips those.
  bool write(const JpegPicture& p, int quality, bool subsampled) {
    if (setjmp(failed)) return false;
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &size);
    c.image_height = static_cast<JDIMENSION>(p.height);
    c.image_width = static_cast<JDIMENSION>(p.width);
    c.input_components = static_cast<int>(p.channels);
    c.in_color_space = p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, quality, TRUE);
    const int factor = subsampled && p.channels == 3 ? 2 : 1;
    c.comp_info[0].h_samp_factor = c.comp_info[0].v_samp_factor = factor;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
      const auto row = static_cast<size_t>(c.next_scanline) * static_cast<size_t>(p.width) *
                       static_cast<size_t>(p.channels);
      auto* line = const_cast<JSAMPROW>(p.pixels.data() + row);
      jpeg_write_scanlines(&c, &line, 1);
    }
    jpeg_finish_compress(&c);
    return true;
  }
};

}  // namespace

std::vector<uint8_t> write_jpeg(const JpegPicture& picture, int quality, bool subsampled) {
  const auto writer = std::make_unique<Writer>();
  if (!writer->write(picture, quality, subsampled))
    throw Error(std::string("cannot write a JPEG: ") + writer->message);
  return {writer->bytes, writer->bytes + writer->size};
}

}  // namespace stoker
