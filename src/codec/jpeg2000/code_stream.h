// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What it takes to decode a JPEG 2000 code stream behind its first header, and how far it is whole.
#pragma once
#include <cstring>
#include <string>
#include <utility>

#include "codec/jpeg2000/header.h"
#include "memory/arena.h"

namespace stoker::jpeg2000 {

inline constexpr size_t kNowhere = SIZE_MAX / 2;
inline constexpr size_t kAtOnce = 1 << 16;  // bytes that the library reads at once

// What the library will take, by the code stream's headers.
class Needs {
 public:
  explicit Needs(const Header& h) : h_(h) { smallest_.fill(0xFF); }

  void add_coding(ForeignBytes b) {
    const bool has_precincts = b.u8() & 1;
    b.skip(1);
    layers_ = std::max<double>(layers_, b.u16());
    b.skip(1);
    add_levels(b, has_precincts);
  }
  void add_coding_of_component(ForeignBytes b) {
    b.skip(1);
    const bool has_precincts = b.u8() & 1;
    add_levels(b, has_precincts);
  }

  // To decode an area of this size.
  size_t bytes(int64_t height, int64_t width) const {
    // The tables of each tile and what was read; of one its precincts, code blocks and packets.
    double n = 1 << 20;
    n += static_cast<double>(h_.tiles()) * (14000 + 1200 * components());
    n += 2 * static_cast<double>(h_.stream.size()) + static_cast<double>(kAtOnce);
    double most_precincts = 1;
    for (int r = 0; r <= levels_; ++r) {
      const double precincts =
          count(tile_width(r), precinct(r, 0)) * count(tile_height(r), precinct(r, 4));
      most_precincts = std::max(most_precincts, precincts);
      const int half = r > 0 ? 1 : 0;  // the width of a band is half of that of its resolution
      const double blocks =
          count(tile_width(r) / (1 << half), std::min(block_[0], precinct(r, 0) - half)) *
          count(tile_height(r) / (1 << half), std::min(block_[1], precinct(r, 4) - half));
      n += components() * (r > 0 ? 3 : 1) * (320 * precincts + 720 * blocks);
    }
    n += 2 * (layers_ + 1) * most_precincts * components() * (levels_ + 1);
    // Samples of the area, and of a tile: all of them, or the blocks that the area touches. A
    // single tile becomes the picture without a copy.
    const auto rows = static_cast<double>(height), columns = static_cast<double>(width);
    const double tile =
        std::min(rows, tile_height(levels_)) * std::min(columns, tile_width(levels_));
    double samples = rows * columns;
    if (height != h_.height() || width != h_.width()) {
      samples += 2 * tile;
      for (int r = 0; r <= levels_; ++r) {
        const double scale = static_cast<double>(int64_t{1} << (levels_ - r));
        samples += 2 * std::min(tile_height(r), rows / scale + 160) *
                   std::min(tile_width(r), columns / scale + 160);
      }
    } else if (h_.tiles() > 1) {
      samples += tile;
    }
    n += 4 * components() * samples + 64 * (rows + columns);
    return static_cast<size_t>(std::min(n, 1e18));
  }

 private:
  double components() const { return static_cast<double>(h_.components); }
  // The sides of a tile at a resolution.
  double tile_width(int r) const { return side(std::min(h_.tile_width, h_.width()), r); }
  double tile_height(int r) const { return side(std::min(h_.tile_height, h_.height()), r); }
  double side(int64_t whole, int r) const {
    return static_cast<double>((whole >> (levels_ - r)) + 1);
  }
  // How many precincts or code blocks, with sides of 2^exponent, a side may touch.
  static double count(double side, int exponent) {
    return static_cast<double>(static_cast<int64_t>(side) >> std::max(exponent, 0)) + 2;
  }
  // The exponent of a precinct's side.
  int precinct(int r, int shift) const { return smallest_[static_cast<size_t>(r)] >> shift & 15; }

  void add_levels(ForeignBytes b, bool has_precincts) {
    const int levels = b.u8();
    if (levels > 32) b.fail("it has " + std::to_string(levels) + " levels", b.at() - 1);
    levels_ = std::max(levels_, levels);
    for (int& exponent : block_) exponent = std::min(exponent, b.u8() + 2);
    b.skip(2);
    for (int r = 0; has_precincts && r <= levels; ++r) {
      const uint32_t sides = b.u8();
      uint8_t& smallest = smallest_[static_cast<size_t>(r)];
      smallest = static_cast<uint8_t>(std::min(smallest & 15u, sides & 15u) |
                                      std::min(smallest & 0xF0u, sides & 0xF0u));
    }
  }

  const Header& h_;
  double layers_ = 1;
  int levels_ = 0;
  std::array<int, 2> block_{6, 6};  // the exponents of a code block's sides
  std::array<uint8_t, 33> smallest_;  // of each resolution, the exponents of a precinct's sides
};

// Goes through the headers of a code stream, and over its data.
class Walk {
 public:
  Walk(EncodedSpan file, const Header& h, Needs& needs, Arena& scratch)
      : b_(foreign(file).from(h.stream_at).part(h.stream.size())),
        tiles_(h.tiles()),
        needs_(needs),
        has_tile_(scratch.array<uint8_t>(static_cast<size_t>(tiles_))) {
    std::memset(has_tile_, 0, static_cast<size_t>(tiles_));
    begin_ = h.stream_at;
    b_.skip(2);  // the marker that begins it
    take_segments(kSot);
    intact_end_ = b_.at();
    while (take_tile_part()) {
    }
    if (what_.empty() && std::memchr(has_tile_, 0, static_cast<size_t>(tiles_)))
      what_ = "it lacks a tile";
  }

  // How much of the code stream may be decoded.
  size_t intact_size() const { return intact_end_ - begin_; }
  // What is wrong behind that; "" if nothing is.
  const std::string& what() const { return what_; }
  size_t at() const { return b_.at(); }
  // Where the code stream tells the length of a part that was cut, if there is one.
  size_t wrong_length() const { return wrong_length_; }

 private:
  static constexpr uint32_t kCod = 0xFF52, kCoc = 0xFF53, kSot = 0xFF90, kSod = 0xFF93,
                            kEoc = 0xFFD9;

  // Segments up to a marker, which is taken as well.
  void take_segments(uint32_t end) {
    while (true) {
      const uint32_t marker = b_.u16();
      if (marker == end) return;
      if (marker < 0xFF00 || marker == kSot || marker == kSod || marker == kEoc)
        b_.fail("expected a segment", b_.at() - 2);
      const uint32_t size = b_.u16();
      if (size < 2 || !b_.has(size - 2)) b_.fail("a segment is too long", b_.at() - 2);
      const ForeignBytes data = b_.part(size - 2);
      if (marker == kCod) needs_.add_coding(data);
      if (marker == kCoc) needs_.add_coding_of_component(data);
    }
  }

  // Behind the marker SOT. False if it is the last one.
  bool take_tile_part() {
    if (b_.left() < 10) return stop("it ends prematurely");
    const size_t begin = b_.at() - 2;
    b_.skip(2);
    const uint32_t tile = b_.u16();
    const uint64_t size = b_.u32();
    b_.skip(2);
    if (tile >= tiles_) return stop("a tile's number is " + std::to_string(tile));
    try {
      take_segments(kSod);
    } catch (const SampleError&) {
      return stop("the header of a tile's part is damaged");
    }
    has_tile_[tile] = 1;
    const uint64_t head = b_.at() - begin;
    if (size != 0 && size < head) return stop("a tile's part is smaller than its header");
    const uint64_t data = size == 0 ? b_.left() : size - head;
    const bool is_cut = !b_.has(data);
    b_.part(data);
    intact_end_ = b_.at();
    if (is_cut) {
      wrong_length_ = begin + 6 - begin_;
      return stop("it ends prematurely");
    }
    if (!b_.has(2)) return false;
    const uint32_t marker = b_.u16();
    if (marker != kSot && marker != kEoc) return stop("expected the marker SOT or EOC");
    intact_end_ = b_.at();
    return marker == kSot;
  }
  bool stop(std::string what) {
    what_ = std::move(what);
    return false;
  }

  ForeignBytes b_;
  int64_t tiles_;
  Needs& needs_;
  uint8_t* has_tile_;
  size_t begin_ = 0, intact_end_ = 0, wrong_length_ = kNowhere;
  std::string what_;
};

}  // namespace stoker::jpeg2000
