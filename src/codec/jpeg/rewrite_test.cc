// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewritten files hold what the old ones hold, as libjpeg alone reads both, and are fast.
#include "codec/jpeg/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/jpeg/maker_testing.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "codec/plain_jpeg/segments.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::cut;
using test::decode;
using test::File;
using test::is_ours;
using test::JpegKind;
using test::k420;
using test::make_jpeg;
using test::pick;

JpegRewrite rewrite(const File& f) {
  Arena scratch;
  return rewrite_jpeg(f, scratch);
}

std::string difference(const File& a, const File& b) {
  Arena scratch;
  return difference_of_jpegs(a, b, scratch);
}

std::string damage(const File& f) {
  try {
    rewrite(f);
    return "";
  } catch (const SampleError& e) {
    EXPECT_LE(e.offset, static_cast<int64_t>(f.size()));
    return e.what();
  }
}

std::vector<JpegSegment> segments_of(const File& f) {
  std::vector<JpegSegment> all;
  for (size_t at = 2;; at = all.back().end()) {
    all.push_back(next_jpeg_segment(f, at));
    if (all.back().marker == kEoi || !all.back().is_whole) return all;
  }
}

JpegSegment first_segment(const File& f, uint8_t marker) {
  for (const JpegSegment& s : segments_of(f))
    if (s.marker == marker) return s;
  ADD_FAILURE() << "no segment " << int{marker};
  return {};
}

// The APPn and COM segments with their markers, and 0xDA where the first scan begins.
std::vector<File> told(const File& f) {
  std::vector<File> all;
  for (const JpegSegment& s : segments_of(f)) {
    const bool is_first_scan = s.marker == kSos && !std::count(all.begin(), all.end(), File{kSos});
    if (is_first_scan) all.push_back({kSos});
    if (s.marker != kCom && (s.marker < kApp0 || s.marker > kApp15)) continue;
    all.push_back({s.marker});
    all.back().insert(all.back().end(), s.body.begin(), s.body.end());
  }
  return all;
}

void insert(File& f, size_t at, uint8_t marker, const File& body) {
  File s = {0xFF, marker, static_cast<uint8_t>((body.size() + 2) >> 8),
            static_cast<uint8_t>(body.size() + 2)};
  s.insert(s.end(), body.begin(), body.end());
  f.insert(f.begin() + static_cast<long>(at), s.begin(), s.end());
}

std::vector<int16_t> coefficients(const File& f) {
  std::vector<int16_t> all;
  test::take_block_rows(f, [&](jpeg_decompress_struct& c, int i, const JBLOCK* row) {
    const int16_t* first = row[0];
    all.insert(all.end(), first, first + size_t{c.comp_info[i].width_in_blocks} * DCTSIZE2);
  });
  return all;
}

File pixels(const File& f) { return decode(f, {.output_type = ImageType::kAny, .verify = true}); }

// One sequential scan of Huffman codes, with markers behind all rows of MCUs but the last.
void expect_fast(const File& f, const JpegKind& kind, int channels) {
  int h = 1, v = 1;
  for (int c = 0; channels > 1 && c < channels; ++c)
    h = std::max(h, kind.sampling.h[c]), v = std::max(v, kind.sampling.v[c]);
  const int across = (kind.width + 8 * h - 1) / (8 * h), down = (kind.height + 8 * v - 1) / (8 * v);
  int frames = 0, scans = 0;
  for (const JpegSegment& s : segments_of(f)) {
    EXPECT_NE(s.marker, kDac);
    EXPECT_TRUE(!is_jpeg_frame(s.marker) || s.marker <= kSof1);
    if (is_jpeg_frame(s.marker)) ++frames;
    if (s.marker == kSos) ++scans;
  }
  EXPECT_EQ(frames, 1);
  EXPECT_EQ(scans, 1);
  EXPECT_EQ(first_segment(f, kDri).fields().u16(), across);
  int markers = 0;
  for (size_t i = first_segment(f, kSos).end(); i + 1 < f.size(); ++i)
    if (f[i] == 0xFF && f[i + 1] >= kRst0 && f[i + 1] <= kRst7) {
      EXPECT_EQ(f[i + 1], kRst0 + markers % 8);
      ++markers;
    }
  EXPECT_EQ(markers, down - 1);
}

JpegKind kind_to_rewrite(std::mt19937& random, unsigned seed) {
  constexpr J_COLOR_SPACE kStored[] = {JCS_YCbCr, JCS_YCbCr,   JCS_YCbCr, JCS_GRAYSCALE,
                                       JCS_RGB,   JCS_UNKNOWN, JCS_CMYK,  JCS_YCCK};
  JpegKind k;
  k.seed = seed;
  k.width = 1 + static_cast<int>(pick(random, seed % 8 == 0 ? 200 : 60));
  k.height = 1 + static_cast<int>(pick(random, seed % 8 == 0 ? 200 : 60));
  k.stored = kStored[random() % std::size(kStored)];
  const int channels = test::channels_of(k.stored);
  int blocks = 0;
  do {
    blocks = 0;
    for (int c = 0; c < channels; ++c) {
      k.sampling.h[c] = 1 << pick(random, 3);
      k.sampling.v[c] = 1 << pick(random, 3);
      blocks += k.sampling.h[c] * k.sampling.v[c];
    }
  } while (channels > 1 && blocks > 10);
  k.quality = 20 + static_cast<int>(pick(random, 81));
  k.optimized = random() % 2;
  k.progressive = random() % 2;
  k.arithmetic = !k.optimized && random() % 2;
  k.separate_scans = random() % 4 == 0;
  k.restart_interval = random() % 3 ? 0 : 1 + static_cast<int>(pick(random, 9));
  k.orientation = static_cast<int>(pick(random, 9));
  return k;
}

TEST(JpegRewrite, RandomFilesKeepAllThatTheyHold) {
  std::mt19937 random(5);
  int plain = 0, large = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const JpegKind kind = kind_to_rewrite(random, seed);
    SCOPED_TRACE(kind.str());
    const int channels = test::channels_of(kind.stored);
    const File f = make_jpeg(kind);
    const JpegRewrite made = rewrite(f);
    ASSERT_EQ(made.obstacle, "");
    if (made.bytes.empty()) {  // one row of MCUs, or as many in a row as in an interval
      EXPECT_FALSE(kind.progressive || kind.arithmetic || (kind.separate_scans && channels > 1));
      continue;
    }
    ++large;
    EXPECT_EQ(coefficients(made.bytes), coefficients(f));
    EXPECT_EQ(told(made.bytes), told(f));
    EXPECT_EQ(pixels(made.bytes), pixels(f));
    EXPECT_EQ(difference(made.bytes, f), "");
    expect_fast(made.bytes, kind, channels);
    const JpegRewrite again = rewrite(made.bytes);
    EXPECT_TRUE(again.bytes.empty() && again.obstacle.empty());
    if (channels != 1 && channels != 3) continue;
    EXPECT_TRUE(is_ours(made.bytes, {}, Window::all(test::shape_of(made.bytes))));
    plain += kind.progressive || kind.arithmetic;
  }
  EXPECT_GT(large, 400);
  EXPECT_GT(plain, 150);
}

TEST(JpegRewrite, SegmentsStayByteForByte) {
  std::mt19937 random(6);
  for (const bool progressive : {false, true}) {
    File f = make_jpeg({.width = 70, .height = 50, .progressive = progressive, .orientation = 6});
    const size_t behind_exif = first_segment(f, kApp1).end();
    for (const size_t size : {0, 1, 12, 300, 65533})
      for (const uint8_t marker : {kApp0, kApp1, kApp14, kApp15, kCom, kApp0}) {
        File body(size);
        for (uint8_t& b : body) b = static_cast<uint8_t>(random());
        insert(f, behind_exif, marker, body);
      }
    insert(f, behind_exif, 0xE2,
           {'I', 'C', 'C', '_', 'P', 'R', 'O', 'F', 'I', 'L', 'E', 0, 1, 1, 9});
    const JpegRewrite made = rewrite(f);
    ASSERT_FALSE(made.bytes.empty()) << made.obstacle;
    EXPECT_EQ(told(made.bytes), told(f));
    EXPECT_EQ(told(f).size(), 1u + 30 + 1 + 1 + 1);  // with JFIF, EXIF and the scan
    EXPECT_EQ(pixels(made.bytes), pixels(f));
  }
}

// A segment behind the first scan tells nothing of colours and of how the picture is turned. In
// front of it, it would.
TEST(JpegRewrite, SegmentsBehindTheFirstScanStayThere) {
  File f = make_jpeg({.width = 70, .height = 50, .progressive = true});
  const std::vector<JpegSegment> all = segments_of(f);
  const JpegSegment last = *std::find_if(all.rbegin(), all.rend(),
                                         [](const JpegSegment& s) { return s.marker == kSos; });
  f.erase(f.begin() + 2, f.begin() + static_cast<long>(first_segment(f, kApp0).end()));
  const size_t at = last.at - (first_segment(make_jpeg({}), kApp0).end() - 2);
  ASSERT_EQ(f[at + 1], kSos);
  const File before = pixels(f);
  insert(f, at, kApp1, test::exif_segment(6, true));
  insert(f, at, kApp14, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0});  // RGB
  EXPECT_EQ(pixels(f), before);
  const JpegRewrite made = rewrite(f);
  ASSERT_FALSE(made.bytes.empty()) << made.obstacle;
  EXPECT_EQ(told(made.bytes), told(f));
  EXPECT_EQ(told(f)[0], File{kSos});
  EXPECT_EQ(pixels(made.bytes), before);
  File front = make_jpeg({.width = 70, .height = 50, .progressive = true});
  insert(front, 2, kApp1, test::exif_segment(6, true));
  EXPECT_NE(pixels(front), before);
}

TEST(JpegRewrite, WhatFollowsThePictureStays) {
  const File rest = {'m', 'o', 't', 'i', 'o', 'n', 0xFF, 0xD8, 0xFF, 0, 1, 2};
  for (const bool progressive : {false, true}) {
    File f = make_jpeg({.width = 70, .height = 50, .progressive = progressive});
    f.insert(f.end(), rest.begin(), rest.end());
    const JpegRewrite made = rewrite(f);
    ASSERT_GT(made.bytes.size(), rest.size());
    EXPECT_TRUE(std::equal(rest.rbegin(), rest.rend(), made.bytes.rbegin()));
    EXPECT_EQ(pixels(made.bytes), pixels(f));
  }
}

TEST(JpegRewrite, DamagedFilesAreRefused) {
  for (const bool progressive : {false, true})
    for (const bool arithmetic : {false, true}) {
      const File f = make_jpeg({.width = 120,
                                .height = 90,
                                .sampling = k420,
                                .progressive = progressive,
                                .arithmetic = arithmetic});
      for (const double part : {0.99, 0.9, 0.5, 0.1, 0.01}) {
        const auto size = static_cast<size_t>(part * static_cast<double>(f.size()));
        EXPECT_NE(damage(cut(f, size)).find("ends prematurely"), std::string::npos) << size;
      }
      File padded = f;
      padded.insert(padded.end() - 2, 40, 0x11);
      EXPECT_NE(damage(padded).find("extraneous bytes"), std::string::npos) << damage(padded);
    }
}

// Whatever one byte becomes, the file is refused or stays the same picture.
TEST(JpegRewrite, AnyWrongByteIsRefusedOrKept) {
  std::mt19937 random(12);
  int errors = 0, made = 0;
  for (const bool progressive : {false, true}) {
    const File f = make_jpeg(
        {.sampling = k420, .progressive = progressive, .restart_interval = 2, .orientation = 5});
    for (size_t at = 0; at < f.size(); ++at) {
      File g = f;
      g[at] ^= static_cast<uint8_t>(1 + random() % 255);
      try {
        const JpegRewrite r = rewrite(g);
        if (r.bytes.empty()) continue;
        ++made;
        ASSERT_EQ(difference(g, r.bytes), "") << at;
      } catch (const SampleError& e) {
        ++errors;
        EXPECT_FALSE(std::string(e.what()).empty());
      }
    }
  }
  EXPECT_GT(errors, 100);
  EXPECT_GT(made, 100);
}

std::string obstacle(const File& f) {
  const JpegRewrite made = rewrite(f);
  EXPECT_TRUE(made.bytes.empty());
  return made.obstacle;
}

TEST(JpegRewrite, KindsThatCannotBeRewrittenAreKept) {
  const File f = make_jpeg({.progressive = true});
  const size_t frame = first_segment(f, kSof2).at;
  File g = f;
  g[frame + 4] = 12;
  EXPECT_EQ(obstacle(g), "it has 12 bits a sample");
  g = f, g[frame + 1] = kSof3;
  EXPECT_EQ(obstacle(g), "it is lossless JPEG");
  g = f, g[frame + 1] = 0xC5;
  EXPECT_EQ(obstacle(g), "it is hierarchical JPEG");
  g = f;
  insert(g, frame, 0xE2, {'M', 'P', 'F', 0, 1, 2, 3});
  EXPECT_NE(obstacle(g).find("MPF"), std::string::npos);
  g = f;
  g.insert(g.begin() + static_cast<long>(frame), 3, 0x11);
  EXPECT_EQ(obstacle(g), "bytes between its segments would be lost");
  g.resize(g.size() / 2);
  EXPECT_NE(damage(g).find("ends prematurely"), std::string::npos);
  g = f, g[frame + 4] = 1;
  EXPECT_NE(damage(g).find("1 bits per sample"), std::string::npos);
  g = f;
  g.insert(g.begin() + static_cast<long>(frame), 3, 0xFF);  // fill bytes tell nothing
  EXPECT_FALSE(rewrite(g).bytes.empty());
}

// What decoders would show of such a file depends on how they smooth it.
TEST(JpegRewrite, ProgressiveFilesWithoutTheirLastScansAreKept) {
  const File f = make_jpeg({.width = 90, .height = 60, .progressive = true});
  const std::vector<JpegSegment> all = segments_of(f);
  int kept = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i].marker != kDht || all[i - 1].marker != kSos) continue;
    File g = cut(f, all[i].at);
    g.insert(g.end(), {0xFF, kEoi});
    EXPECT_NE(obstacle(g).find("scans are missing"), std::string::npos);
    ++kept;
  }
  EXPECT_GT(kept, 3);
}

// Arithmetic codes hold coefficients for which there are no Huffman codes.
File with_coefficient(const File& f, JCOEF value) {
  jpeg_decompress_struct from = {};
  jpeg_compress_struct to = {};
  jpeg_error_mgr errors;
  from.err = to.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  jpeg_mem_src(&from, f.data(), f.size());
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&from);
  from.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&from), arrays[0], 1, 1,
                               TRUE)[0][1][7] = value;
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&to, &data, &size);
  jpeg_copy_critical_parameters(&from, &to);
  to.arith_code = TRUE;
  jpeg_write_coefficients(&to, arrays);
  jpeg_finish_compress(&to);
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  File made(data, data + size);
  std::free(data);
  return made;
}

TEST(JpegRewrite, WhatOneScanCannotHoldIsKept) {
  const std::string why = "one sequential scan cannot hold it: cannot write a JPEG: ";
  const File f = make_jpeg({.width = 60, .height = 40});
  EXPECT_FALSE(rewrite(with_coefficient(f, 1023)).bytes.empty());
  EXPECT_EQ(obstacle(with_coefficient(f, 1024)), why + "DCT coefficient out of range");

  File g = make_jpeg({.separate_scans = true});
  std::vector<JpegSegment> all = segments_of(g);
  std::erase_if(all, [](const JpegSegment& s) { return s.marker != kSos; });
  File other_table(65, 3);
  other_table[0] = 1;  // its number; component 1 has used one of this number
  insert(g, all.at(2).at, kDqt, other_table);
  EXPECT_NE(obstacle(g).find(why), std::string::npos);

  const File many = make_jpeg({.sampling = {{4, 1, 1}, {4, 1, 1}}, .separate_scans = true});
  EXPECT_NE(obstacle(many).find(why), std::string::npos);
}

TEST(JpegRewrite, OtherFilesAreRefused) {
  EXPECT_EQ(damage({}), "expected a JPEG file, found an empty file");
  EXPECT_EQ(damage({0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}),
            "expected a JPEG file, found a PNG image");
}

TEST(JpegRewrite, MemoryIsCounted) {
  const File f = make_jpeg({.width = 600, .height = 400, .progressive = true});
  Arena enough(8 << 20, 8 << 20), little(1 << 20, 1 << 20);
  EXPECT_FALSE(rewrite_jpeg(f, enough).bytes.empty());
  little.set_alone(true);
  EXPECT_THROW(rewrite_jpeg(f, little), TooLarge);
  EXPECT_FALSE(rewrite_jpeg(make_jpeg({.progressive = true}), little).bytes.empty());
}

TEST(JpegRewrite, DifferencesAreFound) {
  const File f = make_jpeg({.width = 60, .height = 40});
  EXPECT_EQ(difference(f, make_jpeg({.width = 60, .height = 40, .progressive = true})), "");
  EXPECT_EQ(difference(f, make_jpeg({.width = 61, .height = 40})), "the frame header");
  EXPECT_EQ(difference(f, make_jpeg({.width = 60, .height = 40, .sampling = k420})),
            "the frame header");
  EXPECT_EQ(difference(f, make_jpeg({.width = 60, .height = 40, .quality = 89})),
            "the quantisation of component 0");
  const auto one = difference(with_coefficient(f, 5), with_coefficient(f, 6));
  EXPECT_EQ(one, "the coefficients of component 0");
  File g = f;
  g.push_back(1);
  EXPECT_EQ(difference(f, g), "what follows the picture");
  g = f;
  insert(g, 2, kCom, {'a'});
  EXPECT_EQ(difference(f, g), "the APPn and COM segments");
}

}  // namespace
}  // namespace stoker
