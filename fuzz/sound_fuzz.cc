// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes any bytes as an encoded sound. The result must be samples or a SampleError, and what is
// read in two parts must equal what is read at once. The first byte chooses the dtype and the place
// where the second part begins, and the rest is the file.
#include <algorithm>
#include <vector>

#include "codec/sound/sound.h"
#include "refusals.h"

namespace stoker {
namespace {

constexpr int64_t kMostNumbers = 1 << 18;

std::vector<uint8_t> read(OpenSound& sound, int64_t begin, int64_t end, DType dtype) {
  const int64_t frame = int64_t{size_of(dtype)} * sound.info().channels;
  std::vector<uint8_t> made(static_cast<size_t>((end - begin) * frame));
  sound.read(begin, end - begin, dtype, made.data());
  return made;
}

void compare(EncodedSpan file, uint8_t choice) {
  static constexpr DType kTypes[] = {DType::kFloat32, DType::kInt16, DType::kInt32};
  const auto sound = open_sound(file);
  const DType dtype = sound->info().is_integer ? kTypes[choice % 3] : DType::kFloat32;
  const int64_t frames = sound->info().frames;
  if (frames > kMostNumbers / sound->info().channels) return;
  const int64_t middle = frames * choice / 256;
  const std::vector<uint8_t> whole = read(*sound, 0, frames, dtype);
  // From the middle on, then from the front again.
  const std::vector<uint8_t> second = read(*sound, middle, frames, dtype);
  const std::vector<uint8_t> first = read(*sound, 0, middle, dtype);
  if (!std::equal(first.begin(), first.end(), whole.begin())) std::abort();
  if (!std::equal(second.rbegin(), second.rend(), whole.rbegin())) std::abort();
}

}  // namespace
}  // namespace stoker

// Debian's libsndfile leaves 6 kB of libvorbis behind where it refuses the headers of a file.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libvorbis.so"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> file(data + 1, data + size);
  try {
    stoker::compare(file, data[0]);
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, file);
  }
  return 0;
}
