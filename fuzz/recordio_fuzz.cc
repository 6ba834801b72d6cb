// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for a file of RecordIO, or for an index. The first byte chooses which.
#include <vector>

#include "refusals.h"
#include "stores/records/recordio.h"

namespace stoker::stores {
namespace {

void take_file(ByteSpan file) {
  int64_t end = 0;
  for (const RecordPlace p : find_recordio(MemoryRanges("fuzz", file))) {
    if (p.offset != end || p.size <= 0) std::abort();
    end += p.size;
    std::vector<uint8_t> joined;
    try {
      const ByteSpan payload =
          recordio_payload(file.subspan(static_cast<size_t>(p.offset), static_cast<size_t>(p.size)),
                           "fuzz", p.offset, joined);
      const PictureRecord r = parse_picture_record(payload);
      if (r.labels.size() + r.picture.size() > payload.size()) std::abort();
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, file);
    }
  }
  if (end != static_cast<int64_t>(file.size())) std::abort();
}

void take_index(ByteSpan text) {
  constexpr int64_t kSize = 1000;
  try {
    for (const RecordPlace p :
         parse_recordio_index(fuzz::text_of(text.data(), text.size()), "fuzz", kSize))
      if (p.offset < 0 || p.size < 0 || (p.size > 0 && p.offset + p.size > kSize)) std::abort();
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, text);
  }
}

}  // namespace
}  // namespace stoker::stores

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  if (data[0] % 2 == 0) stoker::stores::take_file(bytes);
  else stoker::stores::take_index(bytes);
  return 0;
}
