// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites any bytes as a JPEG file that is read faster. They are refused by a SampleError or kept,
// or the new file holds what the old one holds, and is fast itself.
#include <cstdlib>
#include <vector>

#include "codec/codec.h"
#include "codec/jpeg/rewrite.h"
#include "foreign.h"

namespace {

constexpr size_t kMostMemory = size_t{1} << 30;  // libFuzzer allows four times as much

bool is_small(const std::vector<uint8_t>& file) {
  try {
    stoker::peek(file, {.output_type = stoker::ImageType::kAny, .max_pixels = 1 << 18});
    return true;
  } catch (const stoker::SampleError&) {
    return file.size() < 4096;  // what cannot be read is refused at once, or kept
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The copy lets the address sanitizer see any read behind its end.
  const std::vector<uint8_t> file(data, data + size);
  if (!is_small(file)) return 0;
  stoker::Arena scratch(kMostMemory, kMostMemory);
  scratch.set_alone(true);
  try {
    const stoker::JpegRewrite made = stoker::rewrite_jpeg(file, scratch);
    if (made.bytes.empty()) return 0;
    if (!stoker::difference_of_jpegs(file, made.bytes, scratch).empty()) std::abort();
    const stoker::JpegRewrite again = stoker::rewrite_jpeg(made.bytes, scratch);
    if (!again.bytes.empty() || !again.obstacle.empty()) std::abort();
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check(e, file);
  }
  return 0;
}
