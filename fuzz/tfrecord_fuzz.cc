// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for a file of TFRecord, for a record's payload, or for an index. The first byte
// chooses which.
#include <vector>

#include "refusals.h"
#include "stores/records/example.h"
#include "stores/records/tfrecord.h"

namespace stoker::stores {
namespace {

const std::vector<FeatureSpec>& specs() {
  static const std::vector<FeatureSpec> all = [] {
    std::vector<FeatureSpec> s;
    for (const char* text : {"fixed bytes - one - image/encoded",
                             "fixed int64 - one xffffffffffffffff id", "varying int64 - one - ids",
                             "varying float32 2 one - weights", "fixed bytes - many - names",
                             "fixed float32 2,3 one - matrix", "sequence bytes - many - frames",
                             "sequence float32 - one - times", "varying bytes - one x6162 names"})
      s.push_back(parse_feature_spec(text));
    return s;
  }();
  return all;
}

void take_payload(ByteSpan payload) {
  try {
    const Example example(payload);
    if (example.names().empty()) std::abort();
    for (const FeatureSpec& spec : specs()) {
      try {
        const FeatureResult r = resolve(spec, example);
        std::vector<int64_t> to(static_cast<size_t>(r.bytes) / 8 + 1), sizes(r.strings.size());
        copy_result(spec, r, payload, reinterpret_cast<uint8_t*>(to.data()), sizes.data());
      } catch (const SampleError& e) {
        fuzz::check_refusal(e, payload);
      }
    }
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, payload);
  }
}

void take_file(ByteSpan file) {
  int64_t end = 0;
  for (const RecordPlace p : find_tfrecords(MemoryRanges("fuzz", file))) {
    if (p.offset != end || p.size <= 0) std::abort();
    end += p.size;
    const ByteSpan record =
        file.subspan(static_cast<size_t>(p.offset), static_cast<size_t>(p.size));
    try {
      take_payload(tfrecord_payload(record, "fuzz", p.offset, true));
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, file);
    }
  }
  if (end != static_cast<int64_t>(file.size())) std::abort();
}

void take_index(ByteSpan text) {
  try {
    const std::vector<RecordPlace> places =
        parse_tfrecord_index(fuzz::text_of(text.data(), text.size()), "fuzz");
    if (parse_tfrecord_index(tfrecord_index(places), "again") != places) std::abort();
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, text);
  }
}

}  // namespace
}  // namespace stoker::stores

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  if (data[0] % 3 == 0) stoker::stores::take_file(bytes);
  else if (data[0] % 3 == 1) stoker::stores::take_payload(bytes);
  else stoker::stores::take_index(bytes);
  return 0;
}
