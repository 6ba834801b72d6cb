// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for a tar archive, and for an index of one in the layout of WebDataset. What is
// in it must be found or refused with a SampleError. Members lie one behind the other. Every header
// gets a right checksum, which no mutation finds.
#include <cstdio>
#include <cstring>

#include "io/tar.h"
#include "refusals.h"
#include "stores/webdataset.h"

namespace {

void mend_sums(std::string& bytes) {
  constexpr size_t kBlock = 512, kSumAt = 148, kSum = 8;
  for (size_t at = 0; at + kBlock <= bytes.size(); at += kBlock) {
    if (static_cast<unsigned char>(bytes[at]) == 0) continue;
    int sum = static_cast<int>(kSum) * ' ';
    for (size_t i = 0; i < kBlock; ++i)
      if (i < kSumAt || i >= kSumAt + kSum) sum += static_cast<unsigned char>(bytes[at + i]);
    char octal[16];
    (void)std::snprintf(octal, sizeof octal, "%06o", sum);
    std::memcpy(bytes.data() + at + kSumAt, octal, 7);
  }
}

void check(const std::string& bytes) {
  stoker::io::TarReader tar("fuzz", [&](int64_t offset, std::span<uint8_t> into) {
    const size_t at = std::min(static_cast<size_t>(offset), bytes.size());
    const size_t n = std::min(into.size(), bytes.size() - at);
    std::memcpy(into.data(), bytes.data() + at, n);
    return n;
  });
  int64_t end = 0;
  while (const auto m = tar.next()) {
    if (m->offset < end + 512 || m->size < 0) std::abort();
    end = m->offset + m->size;
  }
  const std::span all(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  (void)stoker::stores::webdataset_index(stoker::stores::MemoryRanges("fuzz", all));
}

void check_index(const std::string& text) {
  for (const auto& members : stoker::stores::parse_webdataset_index(text, "fuzz")) {
    if (members.empty()) std::abort();
    for (const auto& m : members)
      if (m.place.offset < 0 || m.place.offset % 512 != 0 || m.place.size < 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = stoker::fuzz::text_of(data, size);
  std::string bytes(text);
  (void)stoker::fuzz::accepts<stoker::SampleError>(text, [&] { check(bytes); });
  (void)stoker::fuzz::accepts<stoker::SampleError>(text, [&] { check_index(bytes); });
  mend_sums(bytes);
  (void)stoker::fuzz::accepts<stoker::SampleError>(text, [&] { check(bytes); });
  return 0;
}
