// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes as numbers, as boxes within boxes and as chunks. Numbers must be those that the
// bytes make one by one; boxes and chunks must lie one behind the other, and end. The first byte
// chooses which. Of numbers, the lower half of each byte tells what is taken next.
#include <vector>

#include "codec/boxes.h"
#include "codec/chunks.h"
#include "refusals.h"

namespace stoker {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

uint64_t expected_number(std::span<const uint8_t> bytes, ByteOrder order) {
  uint64_t n = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    n = n * 256 + bytes[order == ByteOrder::kBig ? i : bytes.size() - 1 - i];
  return n;
}

uint64_t take(ForeignBytes& b, size_t size) {
  switch (size) {
    case 1: return b.u8();
    case 2: return b.u16();
    case 3: return b.u24();
    case 4: return b.u32();
    case 8: return b.u64();
    default: return b.number(size);
  }
}

void take_numbers(std::span<const uint8_t> file, ByteOrder order) {
  ForeignBytes b(file, order);
  while (b.left() > 0) {
    const size_t size = (b.rest()[0] & 7) + 1, at = b.at();
    if (b.rest()[0] & 8) b = b.from(at + 1).part(b.left() / 2 + size);
    const std::span<const uint8_t> next = b.rest().first(std::min(size, b.left()));
    try {
      require(take(b, size) == expected_number(next, order) && next.size() == size);
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, file);
      require(next.size() < size && e.offset == static_cast<int64_t>(b.end()));
      return;
    }
    require(b.at() > at && b.at() <= b.end() && b.end() <= file.size());
  }
}

void take_boxes(ForeignBytes bytes, std::span<const uint8_t> file, int depth) {
  size_t at = bytes.at();
  Boxes boxes(bytes);
  for (Box box; boxes.next(box);) {
    require(box.at == at && box.data.at() >= at + 8 && box.data.end() <= bytes.end());
    require(box.is_whole || box.data.end() == bytes.end());
    require(box.type.size() == 4);
    at = box.data.end();
    if (depth == 0) continue;
    take_boxes(box.data, file, depth - 1);
    if (!box.data.has(4)) continue;
    require(take_full_box_head(box.data).flags >> 24 == 0);
    take_boxes(box.data, file, depth - 1);
  }
  try {
    boxes.require_end();
    require(at == bytes.end());
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, file);
    require(at < bytes.end());
  }
}

void take_chunks(std::span<const uint8_t> file, const ChunkShape& shape) {
  size_t at = 0;
  Chunks chunks(file, at, shape);
  for (Chunk c; chunks.next(c);) {
    require(c.at == at && c.end >= at + 8 + c.data.size() && c.data.size() <= c.size);
    require(c.data.data() >= file.data() + at + 8);
    require(c.data.data() + c.data.size() <= file.data() + file.size());
    require(!c.is_whole || at + 8 + c.size + shape.checksum <= file.size());
    at = c.end;
  }
  require(at + 8 > file.size());
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size == 0) return 0;
  const std::vector<uint8_t> file(data + 1, data + size);
  switch (data[0] % 6) {
    case 0: take_numbers(file, ByteOrder::kLittle); break;
    case 1: take_numbers(file, ByteOrder::kBig); break;
    case 2: take_boxes(ForeignBytes(file, ByteOrder::kBig), file, 3); break;
    case 3: take_chunks(file, kRiffChunk); break;
    case 4: take_chunks(file, kIffChunk); break;
    default: take_chunks(file, kPngShape);
  }
  return 0;
}
