// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for a database of LMDB, or for a value that Caffe or Caffe2 keep in one. The
// first byte chooses which.
#include <vector>

#include "refusals.h"
#include "stores/lmdb/datum.h"
#include "stores/lmdb/lmdb.h"

namespace stoker::stores {
namespace {

void take_database(ByteSpan file) {
  std::vector<RecordPlace> places;
  const int64_t page_size =
      find_lmdb_values(MemoryRanges("fuzz", file), [&](ByteSpan key, RecordPlace p) {
        if (key.size() > file.size()) std::abort();
        places.push_back(p);
      });
  for (const RecordPlace p : places) {
    if (p.offset < 0 || p.size < 0 || p.offset + p.size > static_cast<int64_t>(file.size()))
      std::abort();
    const ByteSpan bytes = file.subspan(static_cast<size_t>(p.offset), static_cast<size_t>(p.size));
    try {
      (void)lmdb_value(bytes, p, page_size, "fuzz");
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, file);
    }
  }
}

void take_datum(ByteSpan value) {
  const Datum d = parse_datum(value);
  if (!d.encoded && d.channels * d.height * d.width !=
                        static_cast<int64_t>(d.data.empty() ? d.floats.size() : d.data.size()))
    std::abort();
  if (!d.data.empty() && !d.floats.empty()) std::abort();
}

void take_tensors(ByteSpan value) {
  for (const TensorProto& t : parse_tensor_protos(value)) {
    int64_t volume = 1;
    for (const int64_t e : t.shape()) volume *= e;
    std::vector<int64_t> to(static_cast<size_t>(volume * size_of(t.dtype())) / 8 + 1);
    copy_tensor(t, to.data());
    try {
      (void)tensor_floats(t, "the label");
    } catch (const SampleError& e) {
      fuzz::check_refusal(e, value);
    }
  }
}

}  // namespace
}  // namespace stoker::stores

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  try {
    if (data[0] % 3 == 0) stoker::stores::take_database(bytes);
    else if (data[0] % 3 == 1) stoker::stores::take_datum(bytes);
    else stoker::stores::take_tensors(bytes);
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, bytes);
  }
  return 0;
}
