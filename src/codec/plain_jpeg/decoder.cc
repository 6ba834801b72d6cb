// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "codec/color.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "codec/plain_jpeg/frame.h"
#include "codec/plain_jpeg/lane_rows.h"
#include "codec/plain_jpeg/progressive_rows.h"
#include "codec/plain_jpeg/rows.h"
#include "codec/plain_jpeg/scan_reader.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/upsample.h"
#include "kernels/jpeg/ycc.h"

namespace stoker {
namespace {

std::atomic<bool> leaves_all = false;

struct Range {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
};

// The MCUs that hold pixels [begin, end) of `full`, and those next to them in smooth upsampling.
Range mcus_of(int64_t begin, int64_t end, int64_t full, int most_factor) {
  if (begin == end) return {};
  const int64_t margin = most_factor > 1 ? most_factor : 0, size = int64_t{8} * most_factor;
  return {std::max<int64_t>(begin - margin, 0) / size,
          (std::min(end + margin, full) + size - 1) / size};
}

// So many MCUs of a row are read, and become samples while a CPU's first cache still holds their
// coefficients. They fill whole groups of blocks.
constexpr int64_t kMcusAtOnce = 16;
static_assert(kMcusAtOnce % jpeg::kBlocksInGroup == 0);

// What is kept of a component: the coefficients of a few MCUs, the samples of a row of MCUs, as far
// as the window needs it, and the last row of samples of the one above.
struct Plane {
  int16_t* coefficients = nullptr;  // null: nothing of it is needed
  int64_t row_size = 0;  // of coefficients, in a row of blocks
  int64_t stride = 0;  // of samples
  uint8_t* samples = nullptr;  // the one row, and behind it the row of MCUs
  jpeg::Component stored = {};  // the same
  uint8_t* line = nullptr;  // a row of pixels, if samples are not pixels
  int64_t surplus = 0;  // pixels of the line that are left of the view

  int16_t* row_of_blocks(int64_t row) const { return coefficients + row * row_size; }
};

int64_t groups(int64_t blocks) {
  return (blocks + jpeg::kBlocksInGroup - 1) / jpeg::kBlocksInGroup;
}

// Builds a table, unless another component did. Returns whether it was built now.
template <class Table>
bool build(Table*& table, const jpeg::HuffmanCode& code, Arena& scratch) {
  if (table) return false;
  table = scratch.array<Table>(1);
  table->build(code);
  return true;
}

class PlainDecoder {
 public:
  // `index`: of the file, or null. `scans`: of a progressive file, or none.
  PlainDecoder(const EncodedImage& image, const PlainFrame& frame, const View& out,
               int64_t judged_rows, EntropyIndex* index, Arena& scratch,
               std::span<const ProgressiveScan> scans = {})
      : f_(frame),
        is_ycbcr_(image.info.is_ycbcr),
        plan_(plan_color(stored_color(), image.options.output_type)),
        out_(out),
        columns_(mcus_of(out.origin[1], out.origin[1] + width(), f_.width, f_.most_across)),
        rows_(mcus_of(out.origin[0], out.origin[0] + height(), f_.height, f_.most_down)),
        judged_(std::min(f_.mcus_down(), judged_mcu_rows(judged_rows, f_.height, f_.row_factor) *
                                             f_.row_factor / f_.most_down)),
        judges_all_(judged_rows >= f_.height),
        index_(index),
        known_rows_(index ? index->rows_read() : 0),
        scan_(image.bytes, frame, scratch),
        writer_(out, plan_.convert, channels(), scratch) {
    const bool is_progressive = !scans.empty();
    if (!is_progressive) in_lanes_ = find_lanes();
    if (in_lanes_.rows() > 0 || is_progressive)
      columns_.begin -= columns_.begin % jpeg::kBlocksInGroup;  // whole groups
    make_planes(scratch);
    if (is_progressive) {
      progressive_.emplace(image.bytes, f_, scans, end_row(), scratch);
      return;
    }
    make_mcus(scratch);
    if (in_lanes_.rows() > 0) lanes_.emplace(image.bytes, f_, skipped_, in_lanes_, index_, scratch);
  }

  bool decode() {
    if (progressive_) return decode_progressive();
    scan_.start({.offset = f_.data});
    for (int64_t row = first_row(); row < end_row(); ++row) {
      if (row >= in_lanes_.row && row < in_lanes_.end_row) {
        if (!decode_row_in_lanes(row)) return false;
        continue;
      }
      if (row >= rows_.begin && row < rows_.end) {
        if (!decode_row(row)) return false;
      } else if (row >= known_rows_) {
        pass_to(row, 0);
        if (!read(skipped_, row, {0, f_.mcus_across()}, 0)) return false;
      }
      if (!has_usual_predictors()) return false;
    }
    if (!judges_all_ || (index_ && index_->is_whole())) return true;
    if (lanes_ && !index_) return lanes_->is_at_end();
    if (!scan_.is_at_end()) return false;
    if (index_ && index_->has_all_places()) index_->set_whole();
    return true;
  }
  // Whether decode() came to a place of the index that is not what the file has there.
  bool has_wrong_index() const { return has_wrong_index_; }

 private:
  J_COLOR_SPACE stored_color() const {
    return f_.count == 1 ? JCS_GRAYSCALE : is_ycbcr_ ? JCS_YCbCr : JCS_RGB;
  }
  int channels() const { return plan_.decoded == JCS_GRAYSCALE ? 1 : 3; }
  int64_t height() const { return out_.shape.volume() ? out_.shape[0] : 0; }
  int64_t width() const { return out_.shape.volume() ? out_.shape[1] : 0; }
  // Gray of YCbCr is Y.
  bool needs(int component) const {
    return rows_.size() > 0 && (component == 0 || !is_ycbcr_ || plan_.decoded != JCS_GRAYSCALE);
  }
  int across(int c) const { return f_.most_across / f_.components[c].across; }
  int down(int c) const { return f_.most_down / f_.components[c].down; }
  // The last row of pixels of a row of MCUs waits for the samples below it.
  bool waits() const {
    for (int c = 0; c < f_.count; ++c)
      if (needs(c) && down(c) == 2) return true;
    return false;
  }

  void make_planes(Arena& scratch);
  void make_mcus(Arena& scratch);
  int64_t first_row() const;
  // What the index knows to be undamaged is not read only to be judged.
  int64_t end_row() const { return std::max(rows_.end, judged_ > known_rows_ ? judged_ : 0); }
  void pass_to(int64_t row, int64_t column);
  bool read(const jpeg::Mcu& mcu, int64_t row, Range columns, int64_t first);
  bool meet(int64_t row, int64_t column);
  McuArea find_lanes() const;
  bool decode_row_in_lanes(int64_t row);
  bool decode_progressive();
  template <class Groups>
  bool show_row(int64_t row, const Groups& groups_of);
  void keep_last_samples();
  bool decode_row(int64_t row);
  bool read_rest(int64_t row);
  bool decode_mcus(int64_t row, Range mcus);
  void write_rows(int64_t row);
  const uint8_t* pixels(int component, int64_t row, int64_t y);
  void write_colors(const uint8_t* const (&from)[3], uint8_t* to) const;
  bool has_usual_predictors();

  const PlainFrame& f_;
  bool is_ycbcr_;
  ColorPlan plan_;
  const View& out_;
  Range columns_, rows_;  // MCUs that are decoded
  int64_t judged_;  // rows of MCUs
  bool judges_all_;
  EntropyIndex* const index_;
  const int64_t known_rows_;  // of MCUs: the index knew from the beginning that they are undamaged
  bool has_wrong_index_ = false;
  ScanReader scan_;
  McuArea in_lanes_;  // rows that lanes read; perhaps none
  std::optional<LaneRows> lanes_;
  std::optional<ProgressiveRows> progressive_;
  RowWriter writer_;
  Plane planes_[3];
  int16_t* coefficients_ = nullptr;  // of all planes
  size_t coefficients_size_ = 0;
  jpeg::Mcu decoded_, skipped_;
  int64_t written_ = 0;  // rows of pixels
};

void PlainDecoder::make_planes(Arena& scratch) {
  size_t size = 0;
  for (int c = 0; c < f_.count; ++c) {
    if (!needs(c)) continue;
    Plane& p = planes_[c];
    const PlainFrame::Component& of = f_.components[c];
    p.row_size = kMcusAtOnce * of.across * 64;
    p.stride = 8 * jpeg::kBlocksInGroup * groups(columns_.size() * of.across);
    p.samples = scratch.array<uint8_t>(static_cast<size_t>(p.stride * (8 * of.down + 1)));
    p.stored = {.samples = p.samples,
                .stride = p.stride,
                .first_row = 0,
                .first_column = columns_.begin * 8 * of.across,
                .rows = (f_.height + down(c) - 1) / down(c),
                .columns = (f_.width + across(c) - 1) / across(c),
                .down = down(c),
                .across = across(c)};
    p.surplus = out_.origin[1] % across(c);
    if (across(c) > 1 || down(c) > 1)
      p.line = scratch.array<uint8_t>(static_cast<size_t>(columns_.size() * f_.mcu_width()));
    size += static_cast<size_t>(of.down * p.row_size);
  }
  coefficients_size_ = size;
  int16_t* at = coefficients_ = scratch.array<int16_t>(size);
  for (int c = 0; c < f_.count; ++c)
    if (needs(c)) {
      planes_[c].coefficients = at;
      at = planes_[c].row_of_blocks(f_.components[c].down);
    }
}

void PlainDecoder::make_mcus(Arena& scratch) {
  const bool all_in_lanes = in_lanes_.row <= first_row() && in_lanes_.end_row >= end_row();
  const bool skips = !all_in_lanes && (columns_.size() < f_.mcus_across() || rows_.begin > 0 ||
                                       rows_.end < judged_ || !needs(f_.count - 1));
  jpeg::DcTable* dc[4] = {};
  jpeg::AcTable* ac[4] = {};
  for (int c = 0; c < f_.count; ++c) {
    const PlainFrame::Component& of = f_.components[c];
    build(dc[of.dc_code], f_.dc_codes[of.dc_code], scratch);
    if (build(ac[of.ac_code], f_.ac_codes[of.ac_code], scratch) && skips)
      ac[of.ac_code]->build_skips();
    for (int y = 0; y < of.down; ++y)
      for (int x = 0; x < of.across; ++x) {
        jpeg::McuBlock block{.dc = dc[of.dc_code],
                             .ac = ac[of.ac_code],
                             .predictor = scan_.predictor(c),
                             .row = nullptr,
                             .across = of.across,
                             .first = x};
        skipped_.blocks[skipped_.count++] = block;
        if (needs(c)) block.row = planes_[c].row_of_blocks(y);
        decoded_.blocks[decoded_.count++] = block;
      }
  }
}

// The last row from which on all is read that is needed, and to which the index leads.
int64_t PlainDecoder::first_row() const {
  if (known_rows_ == 0) return 0;
  const int64_t last = std::min(known_rows_, f_.mcus_down() - 1);
  return rows_.size() > 0 ? std::min(rows_.begin, last) : last;
}

// Goes to the last known place before an MCU, or stays where that is behind it.
void PlainDecoder::pass_to(int64_t row, int64_t column) {
  if (!index_ || index_->count() == 0) return;
  const ScanPlace place =
      index_->place(std::min(index_->number_of(row, column), index_->count() - 1));
  if (place.mcu > scan_.mcu()) scan_.start(place);
}

// Reads MCUs of a row. The MCU in column `first` is the first one of the rows of coefficients.
bool PlainDecoder::read(const jpeg::Mcu& mcu, int64_t row, Range columns, int64_t first) {
  if (!index_) return scan_.read(mcu, columns.begin - first, columns.end - first);
  for (int64_t x = columns.begin; x < columns.end;) {
    if (index_->has_place(x) && !meet(row, x)) return false;
    const int64_t end = std::min(columns.end, index_->column_behind(x));
    if (!scan_.read(mcu, x - first, end - first)) return false;
    x = end;
  }
  return true;
}

// Compares the place of the next MCU with that of the index, or adds it there.
bool PlainDecoder::meet(int64_t row, int64_t column) {
  const int64_t number = index_->number_of(row, column);
  if (number > index_->count()) return true;  // the one before it could not be kept
  ScanPlace place;
  if (!scan_.find_place(place)) return false;
  if (number < index_->count()) {
    has_wrong_index_ = index_->place(number) != place;
    return !has_wrong_index_;
  }
  index_->add(place);
  return true;
}

// The rows to be read many at once, with the columns that are read of them.
McuArea PlainDecoder::find_lanes() const {
  const McuArea all{0, std::max(rows_.end, judged_), 0, f_.mcus_across()};
  if (!index_) return LaneRows::can_read(f_, all.end_row) ? all : McuArea{};
  if (columns_.size() == 0) return {};
  McuArea area{rows_.begin, std::min(rows_.end, known_rows_), columns_.begin, columns_.end};
  area = LaneRows::widened(*index_, area);
  // Otherwise the first row is read as without lanes, to its next place.
  if (area.rows() > 0 && !LaneRows::proves(f_, *index_, area)) ++area.row;
  return LaneRows::can_read(f_, *index_, area) ? area : McuArea{};
}

bool PlainDecoder::decode_row_in_lanes(int64_t row) {
  const bool is_shown = row >= rows_.begin && row < rows_.end;
  const int64_t skipped = columns_.begin - in_lanes_.column;
  if (!lanes_->read_next(is_shown ? skipped + columns_.size() : 0)) {
    has_wrong_index_ = index_ != nullptr;
    return false;
  }
  return !is_shown || show_row(row, [&](int component, int row_of_blocks) {
    return lanes_->blocks(component, row_of_blocks) +
           skipped * f_.components[component].across * 64;
  });
}

bool PlainDecoder::decode_progressive() {
  for (int64_t row = 0; row < end_row(); ++row) {
    const bool is_shown = row >= rows_.begin && row < rows_.end;
    if (!progressive_->read_next(is_shown ? columns_.end : 0)) return false;
    if (is_shown && !show_row(row, [&](int component, int row_of_blocks) {
          const int64_t across = f_.components[component].across;
          return progressive_->groups(component, row_of_blocks, groups(columns_.begin * across),
                                      groups(columns_.size() * across));
        }))
      return false;
  }
  return !judges_all_ || progressive_->is_at_end();
}

// Makes pixels of a row of MCUs that was read as a whole. groups_of(component, row of blocks) are
// its groups of blocks, from the first column on.
template <class Groups>
bool PlainDecoder::show_row(int64_t row, const Groups& groups_of) {
  keep_last_samples();
  for (int c = 0; c < f_.count; ++c) {
    if (!needs(c)) continue;
    const Plane& p = planes_[c];
    const PlainFrame::Component& of = f_.components[c];
    for (int r = 0; r < of.down; ++r)
      if (!jpeg::inverse_transform(groups_of(c, r), groups(columns_.size() * of.across),
                                   of.quanta.data(), p.samples + (8 * r + 1) * p.stride, p.stride))
        return false;
  }
  write_rows(row);
  return true;
}

void PlainDecoder::keep_last_samples() {
  for (int c = 0; c < f_.count; ++c)
    if (const Plane& p = planes_[c]; needs(c))
      std::memcpy(p.samples, p.samples + 8 * f_.components[c].down * p.stride,
                  static_cast<size_t>(p.stride));
}

bool PlainDecoder::decode_row(int64_t row) {
  keep_last_samples();
  pass_to(row, columns_.begin);
  if (!read(skipped_, row, {scan_.mcu() % f_.mcus_across(), columns_.begin}, 0)) return false;
  for (int64_t x = 0; x < columns_.size(); x += kMcusAtOnce)
    if (!decode_mcus(row, {x, std::min(x + kMcusAtOnce, columns_.size())})) return false;
  if (!read_rest(row)) return false;
  write_rows(row);
  return true;
}

// Reads what is right of the window, where that is needed.
bool PlainDecoder::read_rest(int64_t row) {
  const int64_t all = f_.mcus_across();
  if (row >= known_rows_) {
    const bool is_last = row + 1 == rows_.end && row >= judged_;
    return is_last || read(skipped_, row, {columns_.end, all}, 0);
  }
  if (row > rows_.begin) return true;
  // The first row tells whether the index is right.
  const int64_t end = index_->column_behind(columns_.end - 1);
  if (!read(skipped_, row, {columns_.end, end}, 0)) return false;
  return end < all ? meet(row, end) : row + 1 == f_.mcus_down() || meet(row + 1, 0);
}

// MCUs by their places in the window.
bool PlainDecoder::decode_mcus(int64_t row, Range mcus) {
  std::memset(coefficients_, 0, coefficients_size_ * sizeof *coefficients_);
  const Range columns{columns_.begin + mcus.begin, columns_.begin + mcus.end};
  if (!read(decoded_, row, columns, columns.begin)) return false;
  for (int c = 0; c < f_.count; ++c) {
    if (!needs(c)) continue;
    const Plane& p = planes_[c];
    const PlainFrame::Component& of = f_.components[c];
    uint8_t* const to = p.samples + p.stride + 8 * of.across * mcus.begin;
    for (int r = 0; r < of.down; ++r)
      if (!jpeg::inverse_transform(p.row_of_blocks(r), groups(mcus.size() * of.across),
                                   of.quanta.data(), to + 8 * r * p.stride, p.stride))
        return false;
  }
  return true;
}

// Writes the rows of pixels that have become ready.
void PlainDecoder::write_rows(int64_t row) {
  const bool is_last = row + 1 == f_.mcus_down();
  const int64_t ready = is_last ? f_.height : (row + 1) * f_.mcu_height() - waits();
  const int64_t end = std::min(ready - out_.origin[0], out_.shape[0]);
  for (; written_ < end; ++written_) {
    const uint8_t* from[3] = {};
    for (int c = 0; c < f_.count; ++c)
      if (needs(c)) from[c] = pixels(c, row, out_.origin[0] + written_);
    write_colors(from, writer_.next());
    writer_.written();
  }
}

// The component in the row y of pixels, at the columns of the view, while `row` is in the planes.
const uint8_t* PlainDecoder::pixels(int component, int64_t row, int64_t y) {
  Plane& p = planes_[component];
  p.stored.first_row = row * 8 * f_.components[component].down - 1;
  const int64_t begin = out_.origin[1];
  if (!p.line) return p.stored.row(y) + begin;
  jpeg::upsample(p.stored, y, begin - p.surplus, begin + out_.shape[1], p.line);
  return p.line + p.surplus;
}

void PlainDecoder::write_colors(const uint8_t* const (&from)[3], uint8_t* to) const {
  const int64_t n = out_.shape[1];
  const bool is_bgr = plan_.decoded == JCS_EXT_BGR, is_gray = plan_.decoded == JCS_GRAYSCALE;
  if (is_gray && (f_.count == 1 || is_ycbcr_)) {
    std::memcpy(to, from[0], static_cast<size_t>(n));
  } else if (is_gray) {
    for (int64_t x = 0; x < n; ++x) to[x] = luma(from[0][x], from[1][x], from[2][x]);
  } else if (is_ycbcr_) {
    jpeg::ycc_to_rgb(from[0], from[1], from[2], to, n, is_bgr);
  } else {
    const int next = f_.count == 1 ? 0 : 1;  // gray is the same in all three
    const uint8_t *a = from[0], *b = from[next], *c = from[2 * next];
    if (is_bgr) std::swap(a, c);
    for (int64_t x = 0; x < n; ++x) to[3 * x] = a[x], to[3 * x + 1] = b[x], to[3 * x + 2] = c[x];
  }
}

// Whether all predictors fit into 16 bits, as those of pictures do; so they cannot overflow either.
bool PlainDecoder::has_usual_predictors() {
  for (int c = 0; c < f_.count; ++c)
    if (*scan_.predictor(c) != static_cast<int16_t>(*scan_.predictor(c))) return false;
  return true;
}

std::optional<EntropyIndex> find_index(EntropyIndexes& indexes, EncodedSpan file,
                                       const PlainFrame& frame) {
  const FileKey key = FileKey::of(file);
  return EntropyIndex::can_hold(key) ? indexes.find(key, frame) : std::nullopt;
}

bool has_size_of(const PlainFrame& frame, const EncodedImage& image) {
  return frame.height == image.info.stored_height && frame.width == image.info.stored_width;
}

bool decode_progressive(const EncodedImage& image, const View& stored, int64_t judged_rows,
                        Arena& scratch) {
  const std::optional<ProgressiveFrame> p = read_progressive_frame(image.bytes);
  return p && has_size_of(p->frame, image) &&
         PlainDecoder(image, p->frame, stored, judged_rows, nullptr, scratch, p->scans).decode();
}

}  // namespace

bool decode_plain_jpeg(const EncodedImage& image, const View& stored, int64_t judged_rows,
                       Arena& scratch) {
  if (image.jpeg.use_fast_idct || leaves_all.load(std::memory_order_relaxed)) return false;
  if (image.info.is_progressive) return decode_progressive(image, stored, judged_rows, scratch);
  const std::optional<PlainFrame> frame = read_plain_frame(image.bytes);
  if (!frame || !has_size_of(*frame, image)) return false;
  std::optional<EntropyIndex> index;
  // Whole pictures have no use of an index, and may never need one.
  const bool is_part = stored.shape[0] < frame->height || stored.shape[1] < frame->width;
  if (image.jpeg.indexes && is_part) index = find_index(*image.jpeg.indexes, image.bytes, *frame);
  if (!index) return PlainDecoder(image, *frame, stored, judged_rows, nullptr, scratch).decode();
  const auto [known, was_whole] = std::pair(index->count(), index->is_whole());
  PlainDecoder decoder(image, *frame, stored, judged_rows, &*index, scratch);
  if (!decoder.decode()) {
    if (decoder.has_wrong_index()) image.jpeg.indexes->drop(index->key());
    return false;
  }
  if (index->count() > known || index->is_whole() != was_whole)
    image.jpeg.indexes->keep(*std::move(index));
  return true;
}

std::optional<EntropyIndex> build_entropy_index(EncodedSpan file, int every, Arena& scratch) {
  const FileKey key = FileKey::of(file);
  const std::optional<PlainFrame> frame = read_plain_frame(file);
  if (!frame || !EntropyIndex::can_hold(key)) return std::nullopt;
  EntropyIndex index(key, *frame, every);
  EncodedImage image;
  image.bytes = file;
  image.options.output_type = ImageType::kGray;
  const View none = View::window(nullptr, DType::kUint8, {{0, 0, 0}, {0, 1, 1}},
                                 {frame->height, frame->width, 1}, "HWC");
  if (!PlainDecoder(image, *frame, none, frame->height, &index, scratch).decode() ||
      !index.is_whole())
    return std::nullopt;
  return index;
}

void leave_plain_jpeg_to_libjpeg(bool all) { leaves_all = all; }

}  // namespace stoker
