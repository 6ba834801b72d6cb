// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites any bytes as a JPEG file that is read faster. They are refused by a SampleError or kept,
// or the new file holds what the old one holds, and is fast itself.
#include <cstdlib>
#include <vector>

#include "codec/jpeg/rewrite.h"
#include "refusals.h"

namespace {

constexpr size_t kMostMemory = size_t{1} << 26;  // larger pictures are refused

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The copy lets the address sanitizer see any read behind its end.
  const std::vector<uint8_t> file(data, data + size);
  stoker::Arena scratch(kMostMemory, kMostMemory);
  scratch.set_alone(true);
  try {
    const stoker::JpegRewrite made = stoker::rewrite_jpeg(file, scratch);
    if (made.bytes.empty()) return 0;
    if (!stoker::difference_of_jpegs(file, made.bytes, scratch).empty()) std::abort();
    const stoker::JpegRewrite again = stoker::rewrite_jpeg(made.bytes, scratch);
    if (!again.bytes.empty() || !again.obstacle.empty()) std::abort();
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, file);
  }
  return 0;
}
