// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/progressive_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/jpeg/idct.h"

namespace stoker {
namespace {

// As many coefficients are kept as a CPU's second cache has room for, and scans load little, as
// there are many of them.
constexpr int64_t kKeptBytes = 256 << 10, kLoaded = 4 << 10;

}  // namespace

ProgressiveRows::ProgressiveRows(std::span<const uint8_t> bytes, const PlainFrame& frame,
                                 std::span<const ProgressiveScan> scans, int64_t end,
                                 Arena& scratch)
    : f_(frame), end_(end) {
  make_planes(scratch);
  scans_.reserve(scans.size());
  for (const ProgressiveScan& scan : scans) add_scan(bytes, scan, scratch);
}

void ProgressiveRows::make_planes(Arena& scratch) {
  int64_t blocks = 0, widest = 0;
  for (int c = 0; c < f_.count; ++c) {
    const PlainFrame::Component& of = f_.components[c];
    Plane& p = planes_[c];
    const auto count = [](int64_t pixels, int own, int most) {
      return (pixels * own + 8 * most - 1) / (8 * most);
    };
    p.across = count(f_.width, of.across, f_.most_across);
    p.down = count(f_.height, of.down, f_.most_down);
    constexpr int64_t kGroup = jpeg::kBlocksInGroup;
    p.stride = (f_.mcus_across() * of.across + kGroup - 1) / kGroup * kGroup;
    blocks += p.stride * of.down;
    widest = std::max(widest, p.stride);
  }
  kept_ = std::clamp<int64_t>(kKeptBytes / (128 * blocks), 1, std::max<int64_t>(end_, 1));
  for (int c = 0; c < f_.count; ++c) {
    const int64_t size = kept_ * f_.components[c].down * planes_[c].stride;
    planes_[c].coefficients = scratch.array<int16_t>(static_cast<size_t>(64 * size));
    planes_[c].dc = scratch.array<int16_t>(static_cast<size_t>(size));
    std::memset(planes_[c].dc, 0, static_cast<size_t>(size) * sizeof(int16_t));
  }
  groups_ = scratch.array<int16_t>(static_cast<size_t>(64 * widest));
}

void ProgressiveRows::add_scan(std::span<const uint8_t> bytes, const ProgressiveScan& scan,
                               Arena& scratch) {
  Scan& to = scans_.emplace_back(
      Scan{&scan, ScanReader(bytes, scan.restart_interval, kLoaded, scratch), {}});
  to.reader.start({.offset = scan.data});
  if (!scan.is_dc()) {
    to.table = scratch.array<jpeg::BandTable>(1);
    to.table->build(scan.codes[0], scan.refines);
    return;
  }
  for (int i = 0; i < scan.count; ++i) {
    jpeg::DcTable* table = nullptr;
    if (!scan.refines) {
      table = scratch.array<jpeg::DcTable>(1);
      table->build(scan.codes[i]);
    }
    const PlainFrame::Component& of = f_.components[scan.components[i]];
    const int across = scan.count > 1 ? of.across : 1, down = scan.count > 1 ? of.down : 1;
    for (int y = 0; y < down; ++y)
      for (int x = 0; x < across; ++x)
        to.mcu.blocks[to.mcu.count++] = {.dc = table,
                                         .ac = nullptr,
                                         .predictor = nullptr,
                                         .row = nullptr,
                                         .across = across,
                                         .first = x};
  }
}

bool ProgressiveRows::read_next(int64_t) {
  if (next_ == behind_ && !read_rows()) return false;
  ++next_;
  return true;
}

bool ProgressiveRows::read_rows() {
  begin_ = behind_;
  behind_ = std::min(begin_ + kept_, end_);
  for (int c = 0; c < f_.count; ++c)
    std::memset(
        coefficients(c, 0), 0,
        static_cast<size_t>((behind_ - begin_) * f_.components[c].down * planes_[c].stride * 64) *
            sizeof(int16_t));
  for (Scan& scan : scans_)
    for (int64_t row = begin_; row < behind_; ++row)
      if (!read_row(scan, row)) return false;
  return true;
}

bool ProgressiveRows::read_row(Scan& scan, int64_t row) {
  if (!(scan.of->is_dc() ? read_mcus(scan, row) : read_blocks(scan, row))) return false;
  // Predictors fit into 16 bits behind each row, as those of pictures do; so they cannot overflow
  // in the next one.
  for (int i = 0; i < scan.of->count && scan.of->is_dc(); ++i) {
    const int64_t value = int64_t{*scan.reader.predictor(i)} << scan.of->shift;
    if (value != static_cast<int16_t>(value)) return false;
  }
  return true;
}

// DC coefficients of a row of MCUs, or in rows of blocks where the scan is of one component.
bool ProgressiveRows::read_mcus(Scan& scan, int64_t row) {
  const ProgressiveScan& of = *scan.of;
  const auto read = [&](int64_t mcus) {
    return scan.reader.read_by(
        0, mcus, [&](int64_t begin, int64_t end, const uint8_t* limit, jpeg::BitReader& reader) {
          return (of.refines ? jpeg::refine_dc : jpeg::read_dc)(scan.mcu, of.shift, begin, end,
                                                                limit, reader);
        });
  };
  jpeg::McuBlock* block = scan.mcu.blocks;
  if (of.count > 1) {
    for (int i = 0; i < of.count; ++i) {
      const int c = of.components[i];
      const int across = f_.components[c].across, down = f_.components[c].down;
      for (int b = 0; b < across * down; ++b, ++block) {
        block->predictor = scan.reader.predictor(i);
        block->row = dc(c, (row - begin_) * down + b / across);
      }
    }
    return read(f_.mcus_across());
  }
  const int c = of.components[0];
  const int64_t down = f_.components[c].down;
  block->predictor = scan.reader.predictor(0);
  for (int64_t y = row * down; y < std::min((row + 1) * down, planes_[c].down); ++y) {
    block->row = dc(c, y - begin_ * down);
    if (!read(planes_[c].across)) return false;
  }
  return true;
}

bool ProgressiveRows::read_blocks(Scan& scan, int64_t row) {
  const ProgressiveScan& of = *scan.of;
  const int c = of.components[0];
  const int64_t down = f_.components[c].down;
  // A restart ends a run as it forgets predictors.
  jpeg::Band band{scan.table, of.first, of.last, of.shift, scan.reader.predictor(0), nullptr};
  for (int64_t y = row * down; y < std::min((row + 1) * down, planes_[c].down); ++y) {
    band.row = coefficients(c, y - begin_ * down);
    if (!scan.reader.read_by(
            0, planes_[c].across,
            [&](int64_t begin, int64_t end, const uint8_t* limit, jpeg::BitReader& reader) {
              return jpeg::read_band(band, begin, end, limit, reader);
            }))
      return false;
  }
  return true;
}

const int16_t* ProgressiveRows::groups(int component, int row, int64_t first, int64_t count) {
  const int64_t y = (next_ - 1 - begin_) * f_.components[component].down + row;
  constexpr int64_t kGroup = jpeg::kBlocksInGroup;
  jpeg::make_groups(coefficients(component, y) + first * jpeg::kGroupSize,
                    dc(component, y) + first * kGroup, count * kGroup, groups_);
  return groups_;
}

bool ProgressiveRows::is_at_end() {
  for (Scan& scan : scans_)
    if (!scan.reader.is_at_end(scan.of->next)) return false;
  return true;
}

}  // namespace stoker
