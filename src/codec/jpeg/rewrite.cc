// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/rewrite.h"

#include <algorithm>
#include <string_view>

#include "base/content.h"
#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/codec.h"
#include "codec/jpeg/reader.h"
#include "codec/jpeg/writer.h"
#include "codec/plain_jpeg/segments.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

// Why no frame of this kind can be rewritten; empty for the others.
std::string obstacle_of_frame(const JpegSegment& s) {
  switch (s.marker) {
    case kSof0:
    case kSof1:
    case kSof2:
    case kSof9:
    case kSof10: break;
    case kSof3:
    case kSof11: return "it is lossless JPEG";
    default: return "it is hierarchical JPEG";
  }
  return !s.body.empty() && s.body[0] == 12 ? "it has 12 bits a sample" : "";
}

bool is_fill(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0xFF; });
}

// What would be lost or cannot be kept, as far as the segments up to the first scan tell.
std::string obstacle_of_header(Bytes file) {
  constexpr uint8_t kApp2 = kApp0 + 2;
  constexpr uint8_t kMpf[] = {'M', 'P', 'F', 0};
  for (size_t at = 2;;) {
    const JpegSegment s = next_jpeg_segment(file, at);
    if (s.marker == kSos || s.marker == kEoi || !s.is_whole) return "";
    if (is_jpeg_frame(s.marker))
      if (const std::string obstacle = obstacle_of_frame(s); !obstacle.empty()) return obstacle;
    if (s.marker == kApp2 && s.body.size() >= 4 && std::equal(kMpf, kMpf + 4, s.body.begin()))
      return "a list of further pictures (MPF) tells where in the file they begin";
    at = s.end();
  }
}

// Whether something stands between the segments up to the first scan, which libjpeg passes over.
bool has_loose_bytes(Bytes file) {
  for (size_t at = 2;;) {
    const JpegSegment s = next_jpeg_segment(file, at);
    if (!is_fill(file.subspan(at, s.at - at))) return true;
    if (s.marker == kSos || s.marker == kEoi || !s.is_whole) return false;
    at = s.end();
  }
}

// One file, of which libjpeg reads everything.
class Parts {
 public:
  explicit Parts(Bytes file) : file_(file), reader_(file, false) {
    reader_.read_header(true);
    // The list grows at its end as the scans are read.
    for (const auto* s = reader_.segments(); s; s = s->next) ++segments_of_header_;
  }

  // See Note [Fast files]. One row needs no marker.
  bool is_fast() {
    const jpeg_decompress_struct& c = reader_.decompressor();
    const auto mcus = [&c](JDIMENSION extent, int factor) {
      const auto size = static_cast<JDIMENSION>(DCTSIZE * (c.num_components > 1 ? factor : 1));
      return (extent + size - 1) / size;
    };
    return !c.progressive_mode && !c.arith_code && c.comps_in_scan == c.num_components &&
           (c.restart_interval == mcus(c.image_width, c.max_h_samp_factor) ||
            mcus(c.image_height, c.max_v_samp_factor) == 1);
  }

  void read(Arena& scratch) { arrays_ = reader_.read_coefficients(scratch); }

  // Requires of the rest: read() was called.
  bool lacks_scans() const { return reader_.lacks_scans(); }

  std::vector<uint8_t> as_fast(Arena& scratch) {
    const auto* late = reader_.segments();
    for (int i = 0; i < segments_of_header_; ++i) late = late->next;
    std::vector<uint8_t> bytes =
        write_one_scan({reader_.decompressor(), arrays_, reader_.segments(), late}, scratch);
    bytes.erase(bytes.end() - 2, bytes.end());  // the end marker
    for (const auto* s = late; s; s = s->next) {
      const unsigned size = s->data_length + 2;
      bytes.insert(bytes.end(),
                   {0xFF, s->marker, static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)});
      bytes.insert(bytes.end(), s->data, s->data + s->data_length);
    }
    bytes.insert(bytes.end(), {0xFF, kEoi});
    const Bytes rest = behind_picture();
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
  }

  std::string difference(Parts& b) {
    if (!has_same_frame(b)) return "the frame header";
    if (!has_same_segments(b)) return "the APPn and COM segments";
    const Bytes rest = behind_picture(), other_rest = b.behind_picture();
    if (!std::equal(rest.begin(), rest.end(), other_rest.begin(), other_rest.end()))
      return "what follows the picture";
    for (int i = 0; i < reader_.decompressor().num_components; ++i) {
      if (!has_same_quanta(b, i)) return "the quantisation of component " + std::to_string(i);
      if (!has_same_coefficients(b, i)) return "the coefficients of component " + std::to_string(i);
    }
    return "";
  }

 private:
  Bytes behind_picture() const { return file_.subspan(static_cast<size_t>(reader_.offset())); }

  bool has_same_frame(Parts& other) {
    const jpeg_decompress_struct &a = reader_.decompressor(), &b = other.reader_.decompressor();
    return a.image_width == b.image_width && a.image_height == b.image_height &&
           a.jpeg_color_space == b.jpeg_color_space &&
           std::equal(a.comp_info, a.comp_info + a.num_components, b.comp_info,
                      b.comp_info + b.num_components, [](const auto& x, const auto& y) {
                        return x.component_id == y.component_id &&
                               x.h_samp_factor == y.h_samp_factor &&
                               x.v_samp_factor == y.v_samp_factor;
                      });
  }

  bool has_same_segments(const Parts& other) const {
    const auto *a = reader_.segments(), *b = other.reader_.segments();
    for (; a && b; a = a->next, b = b->next)
      if (a->marker != b->marker ||
          !std::equal(a->data, a->data + a->data_length, b->data, b->data + b->data_length))
        return false;
    return !a && !b && segments_of_header_ == other.segments_of_header_;
  }

  bool has_same_quanta(Parts& other, int component) {
    const JQUANT_TBL* a = reader_.decompressor().comp_info[component].quant_table;
    const JQUANT_TBL* b = other.reader_.decompressor().comp_info[component].quant_table;
    return a && b && std::equal(a->quantval, a->quantval + DCTSIZE2, b->quantval);
  }

  // Blocks that only fill the last MCUs are no part of the picture.
  bool has_same_coefficients(Parts& other, int component) {
    const jpeg_component_info& info = reader_.decompressor().comp_info[component];
    for (JDIMENSION y = 0; y < info.height_in_blocks; ++y) {
      const JCOEF *a = blocks(component, y), *b = other.blocks(component, y);
      if (!std::equal(a, a + size_t{info.width_in_blocks} * DCTSIZE2, b)) return false;
    }
    return true;
  }

  const JCOEF* blocks(int component, JDIMENSION row) {
    jpeg_decompress_struct& c = reader_.decompressor();
    return c.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&c), arrays_[component], row, 1,
                                     FALSE)[0][0];
  }

  Bytes file_;
  JpegReader reader_;
  jvirt_barray_ptr* arrays_ = nullptr;
  int segments_of_header_ = 0;
};

// As a training gets them, turned as EXIF says. Judges all data.
Bytes pixels_of(Bytes file, Arena& scratch) {
  DecodeOptions options;
  options.output_type = ImageType::kAny;
  options.verify = true;
  const EncodedImage image = peek(file, options);
  const Shape shape = image.type().shape;
  const auto size = static_cast<size_t>(shape.volume());
  auto* const pixels = scratch.array<uint8_t>(size);
  const View all = View::dense(pixels, DType::kUint8, shape, "HWC");
  image.codec->decode(image, all, all.covers(), scratch);
  return {pixels, size};
}

// The new file, or an obstacle.
JpegRewrite rewritten(Bytes file, Arena& scratch) {
  Parts before(file);
  if (before.is_fast()) return {};
  before.read(scratch);
  if (before.lacks_scans())
    return {.bytes = {}, .obstacle = "scans are missing, and decoders smooth what is there"};
  JpegRewrite made;
  try {
    made.bytes = before.as_fast(scratch);
  } catch (const JpegRefusal& e) {
    return {.bytes = {},
            .obstacle = std::string("one sequential scan cannot hold it: ") + e.what()};
  }
  Parts after(made.bytes);
  const bool is_fast = after.is_fast();
  after.read(scratch);
  const std::string difference = before.difference(after);
  if (!is_fast || !difference.empty())
    throw Error("a JPEG file was rewritten wrongly: " +
                (is_fast ? difference + " would change" : "it would not be read faster"));
  return made;
}

}  // namespace

JpegRewrite rewrite_jpeg(Bytes file, Arena& scratch) {
  if (!begins_as("JPEG", file))
    throw SampleError("expected a JPEG file, found " + describe_content(file), 0);
  if (std::string obstacle = obstacle_of_header(file); !obstacle.empty())
    return {.bytes = {}, .obstacle = std::move(obstacle)};
  peek(file, {.output_type = ImageType::kAny});  // refuses what is too large
  scratch.reset();
  if (has_loose_bytes(file)) {
    Parts(file).read(scratch);  // most often it is damaged
    return {.bytes = {}, .obstacle = "bytes between its segments would be lost"};
  }
  JpegRewrite made = rewritten(file, scratch);
  if (made.bytes.empty()) return made;
  scratch.reset();
  const Bytes before = pixels_of(file, scratch), after = pixels_of(made.bytes, scratch);
  if (!std::equal(before.begin(), before.end(), after.begin(), after.end()))
    throw Error("a JPEG file was rewritten wrongly: its pixels would change");
  return made;
}

std::string difference_of_jpegs(Bytes a, Bytes b, Arena& scratch) {
  scratch.reset();
  Parts parts(a), others(b);
  parts.read(scratch);
  others.read(scratch);
  return parts.difference(others);
}

}  // namespace stoker
