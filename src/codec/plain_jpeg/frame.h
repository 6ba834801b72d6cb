// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What our own decoder needs to know of a JPEG file, and which files are its.
//
// Note [Plain files]
// Our own decoder is for files as cameras and most programs write them: baseline, or sequential
// with 8 bits, Huffman codes, one scan, and one component or three that hold Y, Cb, Cr or R, G, B.
// It gives the bytes that libjpeg-turbo gives, in less time. Whatever is unusual in such a file, be
// it damage or only bytes between two segments, it leaves to libjpeg-turbo, which decodes the file
// from its beginning and decides what damage means: Note [Which warnings lose data] of
// codec/jpeg/reader.h. So it must notice all that libjpeg-turbo would warn of, in all rows that are
// judged: Note [Judged rows] there.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/jpeg/huffman.h"

namespace stoker {

struct PlainFrame {
  struct Component {
    int across = 1, down = 1;  // blocks in an MCU
    int dc_code = 0, ac_code = 0;  // numbers of codes
    std::array<uint16_t, 64> quanta;  // in natural order
  };

  int64_t height = 0, width = 0;
  int count = 0;  // of components
  Component components[3];
  jpeg::HuffmanCode dc_codes[4], ac_codes[4];  // those that components have; they lie in the file
  int most_across = 1, most_down = 1;  // blocks of a component in an MCU
  // The largest vertical factor as the header has it, which for one component is not most_down.
  int row_factor = 1;
  int64_t restart_interval = 0;  // in MCUs; 0: none
  size_t data = 0;  // offset of the scan's data

  int64_t mcu_width() const { return 8 * most_across; }
  int64_t mcu_height() const { return 8 * most_down; }
  int64_t mcus_across() const { return (width + mcu_width() - 1) / mcu_width(); }
  int64_t mcus_down() const { return (height + mcu_height() - 1) / mcu_height(); }
};

// Reads the segments up to the data of the first scan. None if the file is not plain.
std::optional<PlainFrame> read_plain_frame(std::span<const uint8_t> bytes);

}  // namespace stoker
