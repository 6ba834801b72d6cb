// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: makes JPEG files of every kind, and decodes whole files independently of our code.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace stoker::test {

struct Sampling {
  int h[4] = {1, 1, 1, 1}, v[4] = {1, 1, 1, 1};
};
inline constexpr Sampling k420 = {{2, 1, 1, 1}, {2, 1, 1, 1}};

struct JpegKind {
  int width = 33, height = 21;
  // JCS_GRAYSCALE, JCS_RGB, JCS_YCbCr, JCS_CMYK, JCS_YCCK, JCS_UNKNOWN (2 components)
  J_COLOR_SPACE stored = JCS_YCbCr;
  Sampling sampling = {};
  int quality = 90;
  bool optimized = false;  // its codes are made for it
  bool progressive = false, arithmetic = false, separate_scans = false;
  int restart_interval = 0;  // in MCUs
  int many_scans = 0;  // above 0: progressive, with this many scans for each component
  int orientation = 0;  // as in EXIF; 0: no EXIF
  bool little_endian = true;
  unsigned seed = 1;
  std::vector<jpeg_scan_info> scans = {};  // if there are any, instead of those above

  std::string str() const {
    std::string s = std::to_string(width) + "x" + std::to_string(height) + " stored as " +
                    std::to_string(stored) + " sampled";
    for (int i = 0; i < 4; ++i)
      s += " " + std::to_string(sampling.h[i]) + "x" + std::to_string(sampling.v[i]);
    return s + (progressive ? " progressive" : "") + (arithmetic ? " arithmetic" : "") +
           (separate_scans ? " separate scans" : "") + " restart " +
           std::to_string(restart_interval) + " quality " + std::to_string(quality) + " seed " +
           std::to_string(seed) + " scans " + std::to_string(scans.size());
  }
};

// Smooth colours with noise, so that neighbours differ and upsampling shows.
inline std::vector<uint8_t> make_pixels(int width, int height, int channels, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> p(static_cast<size_t>(width) * height * channels);
  const unsigned a = random() % 9 + 1, b = random() % 9 + 1;
  size_t i = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        p[i++] = static_cast<uint8_t>(x * a + y * b * (c + 1) + 60 * c + random() % 48);
  return p;
}

inline std::vector<uint8_t> exif_segment(int orientation, bool little) {
  std::vector<uint8_t> s = {'E', 'x', 'i', 'f', 0, 0};
  auto u16 = [&](int v) {
    s.push_back(static_cast<uint8_t>(little ? v : v >> 8));
    s.push_back(static_cast<uint8_t>(little ? v >> 8 : v));
  };
  auto u32 = [&](int v) {
    little ? (u16(v & 0xFFFF), u16(v >> 16)) : (u16(v >> 16), u16(v & 0xFFFF));
  };
  s.insert(s.end(), 2, little ? 'I' : 'M');
  u16(42), u32(8), u16(2);
  u16(0x0100), u16(3), u32(1), u16(7), u16(0);  // another tag comes first
  u16(0x0112), u16(3), u32(1), u16(orientation), u16(0);
  u32(0);
  return s;
}

inline int channels_of(J_COLOR_SPACE s) {
  return s == JCS_GRAYSCALE ? 1 : s == JCS_UNKNOWN ? 2 : s == JCS_CMYK || s == JCS_YCCK ? 4 : 3;
}

inline std::vector<jpeg_scan_info> script(const JpegKind& kind, int components) {
  std::vector<jpeg_scan_info> scans = kind.scans;
  auto one = [](int c, int ss, int se, int ah, int al) {
    return jpeg_scan_info{1, {c, 0, 0, 0}, ss, se, ah, al};
  };
  if (kind.separate_scans)
    for (int c = 0; c < components; ++c)
      scans.push_back(one(c, 0, kind.progressive ? 0 : 63, 0, 0));
  if (kind.separate_scans && kind.progressive)
    for (int c = 0; c < components; ++c) scans.push_back(one(c, 1, 63, 0, 0));
  if (kind.many_scans) {
    for (int c = 0; c < components; ++c) scans.push_back(one(c, 0, 0, 0, 0));
    for (int k = 1; k <= kind.many_scans; ++k)
      for (int c = 0; c < components; ++c)
        scans.push_back(one(c, k, k, 0, 1)), scans.push_back(one(c, k, k, 1, 0));
  }
  return scans;
}

inline std::vector<uint8_t> make_jpeg(const JpegKind& kind,
                                      const std::vector<uint8_t>* given = nullptr) {
  jpeg_compress_struct c = {};
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &data, &size);
  const int channels = channels_of(kind.stored);
  c.image_width = kind.width;
  c.image_height = kind.height;
  c.input_components = channels;
  c.in_color_space = channels == 1   ? JCS_GRAYSCALE
                     : channels == 2 ? JCS_UNKNOWN
                     : channels == 4 ? JCS_CMYK
                                     : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_colorspace(&c, kind.stored);
  jpeg_set_quality(&c, kind.quality, TRUE);
  for (int i = 0; i < channels; ++i) {
    c.comp_info[i].h_samp_factor = kind.sampling.h[i];
    c.comp_info[i].v_samp_factor = kind.sampling.v[i];
  }
  c.restart_interval = kind.restart_interval;
  c.arith_code = kind.arithmetic;
  c.optimize_coding = kind.optimized;
  const auto scans = script(kind, channels);
  if (kind.progressive) jpeg_simple_progression(&c);
  if (!scans.empty()) {
    c.scan_info = scans.data();
    c.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&c, TRUE);
  if (kind.orientation) {
    const auto exif = exif_segment(kind.orientation, kind.little_endian);
    jpeg_write_marker(&c, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  const auto pixels = given ? *given : make_pixels(kind.width, kind.height, channels, kind.seed);
  while (c.next_scanline < c.image_height) {
    JSAMPROW row =
        const_cast<uint8_t*>(pixels.data()) + size_t{c.next_scanline} * kind.width * channels;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  std::vector<uint8_t> out(data, data + size);
  std::free(data);
  return out;
}

// Decodes the whole picture with plain calls of libjpeg. Requires: an undamaged header.
inline std::vector<uint8_t> plain_decode(const std::vector<uint8_t>& jpeg, J_COLOR_SPACE color,
                                         bool fast = false) {
  jpeg_decompress_struct c = {};
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_decompress(&c);
  jpeg_mem_src(&c, jpeg.data(), jpeg.size());
  jpeg_read_header(&c, TRUE);
  c.out_color_space = color;
  if (fast) c.dct_method = JDCT_IFAST;
  jpeg_start_decompress(&c);
  const size_t pitch = size_t{c.output_width} * c.output_components;
  std::vector<uint8_t> out(pitch * c.output_height);
  while (c.output_scanline < c.output_height) {
    JSAMPROW row = out.data() + pitch * c.output_scanline;
    jpeg_read_scanlines(&c, &row, 1);
  }
  jpeg_finish_decompress(&c);
  jpeg_destroy_decompress(&c);
  return out;
}

// Calls take(file, component, row) for each row of blocks, which libjpeg reads.
template <class Take>
void take_block_rows(const std::vector<uint8_t>& file, const Take& take) {
  jpeg_decompress_struct c = {};
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&c);
  jpeg_mem_src(&c, file.data(), file.size());
  jpeg_read_header(&c, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&c);
  for (int i = 0; i < c.num_components; ++i)
    for (JDIMENSION y = 0; y < c.comp_info[i].height_in_blocks; ++y)
      take(
          c, i,
          c.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&c), arrays[i], y, 1, FALSE)[0]);
  jpeg_finish_decompress(&c);
  jpeg_destroy_decompress(&c);
}

}  // namespace stoker::test
