// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for the index of a JPEG file. As they are, they are refused with a SampleError or
// are an index, which then is that of no file. With a right checksum and as an index of the file,
// which nobody but an adversary gives them, the decoder does not leave its memory: it finds that
// the index is wrong, or decodes some picture. The first byte chooses which.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "codec/jpeg/writer.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "refusals.h"

namespace stoker {
namespace {

constexpr int64_t kHeight = 90, kWidth = 130;

const std::vector<uint8_t>& file() {
  static const std::vector<uint8_t> one = [] {
    std::vector<uint8_t> pixels(kHeight * kWidth * 3);
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<uint8_t>(i * i / 7 + i / 390);
    return write_jpeg({pixels, kHeight, kWidth, 3}, 92, true);
  }();
  return one;
}

std::vector<uint8_t> decoded(EntropyIndexes* indexes) {
  EncodedImage image = peek(file(), {});
  image.jpeg.indexes = indexes;
  const Window w{{2, 50, 0}, {88, 110, 3}};  // with enough rows for lanes
  std::vector<uint8_t> out(static_cast<size_t>(w.shape().volume()));
  Arena scratch;
  image.codec->decode(image, View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC"),
                      w, scratch);
  return out;
}

// As they are: one index, or the indexes of many files.
void take_any(std::span<const uint8_t> bytes) {
  const EntropyIndex index = EntropyIndex::of_saved(bytes);
  if (index.saved().size() != bytes.size()) std::abort();
}
void take_many(std::span<const uint8_t> bytes) {
  EntropyIndexes indexes(size_t{1} << 20);
  indexes.add_saved(bytes);
  static const std::vector<uint8_t> want = decoded(nullptr);
  if (decoded(&indexes) != want) std::abort();
}

// The bytes change those of the file's own index.
void take_changed(std::span<const uint8_t> bytes, int every) {
  Arena scratch;
  std::vector<uint8_t> saved = build_entropy_index(file(), every, scratch).value().saved();
  const size_t end = saved.size() - 8;
  constexpr size_t kPlaces = 33;  // behind what ties the index to the file
  for (size_t i = 0; i < bytes.size() && kPlaces + i < end; ++i) saved[kPlaces + i] ^= bytes[i];
  const uint64_t hash = hash_of_file(std::span(saved).first(end));
  for (size_t i = 0; i < 8; ++i) saved[end + i] = static_cast<uint8_t>(hash >> 8 * i);
  EntropyIndexes indexes(size_t{1} << 20, every);
  indexes.keep(EntropyIndex::of_saved(saved));
  (void)decoded(&indexes);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size == 0) return 0;
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  (void)fuzz::accepts<SampleError>(fuzz::text_of(data, size), [&] {
    switch (data[0] % 5) {
      case 0: return take_any(bytes);
      case 1: return take_many(bytes);
      default: return take_changed(bytes, 4 * (data[0] % 5 - 2));
    }
  });
  return 0;
}
