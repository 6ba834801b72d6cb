// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads text files with a line "name=value" for each field. The fields that are asked for are the
// outputs, by their names.
#include <cstring>

#include "base/hash.h"
#include "op/op.h"
#include "op/reader.h"

namespace stoker::ops::example {

class RecordStore final : public SampleStore {
 public:
  RecordStore(std::vector<std::string> files, std::vector<std::string> fields)
      : files_(std::move(files)), fields_(std::move(fields)) {}

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  io::Extent extent(int64_t index) const override {
    io::Extent e;
    e.path = name(index);
    return e;
  }
  std::string name(int64_t index) const override { return files_[static_cast<size_t>(index)]; }
  uint64_t fingerprint() const override { return hash64(name(0)); }
  // The lengths of values are not known before the bytes are there, so a value has eight of them.
  void infer(int64_t, size_t, std::vector<TensorType>& outputs) const override {
    outputs.assign(fields_.size(), {DType::kUint8, {}, {8}});
  }
  void write(int64_t, std::span<const uint8_t> bytes,
             std::span<const View> outputs) const override {
    const std::string text = "\n" + std::string(bytes.begin(), bytes.end());
    for (size_t k = 0; k < fields_.size(); ++k) {
      const std::string start = "\n" + fields_[k] + "=";
      const size_t at = text.find(start);
      if (at == std::string::npos) throw SampleError("no field '" + fields_[k] + "'");
      const size_t begin = at + start.size(), end = std::min(text.find('\n', begin), text.size());
      std::memset(outputs[k].data, ' ', 8);
      std::memcpy(outputs[k].data, text.data() + begin, std::min<size_t>(end - begin, 8));
    }
  }

 private:
  std::vector<std::string> files_, fields_;
};

struct Records : ReaderArguments {
  std::vector<std::string> files, fields;

  static constexpr const char* kSkip = "reads files; tests/test_new_operator.py tests it";
  static constexpr auto schema = describe(
      "example.records", "Reads fields of text files.\n\nValues have eight bytes.", ports(),
      ports({.name = "field", .help = "The value.", .for_each = "fields"}),
      arg(&Records::files, "files", "The files.", kRequired),
      arg(&Records::fields, "fields", "The names of the fields.", kRequired), kReaderArguments);

  void check(Checker& c) const {
    for (size_t k = 0; k < fields.size(); ++k) c.out({DType::kUint8, {}, {8}});
  }
  std::unique_ptr<SampleStore> open() const { return std::make_unique<RecordStore>(files, fields); }
  io::OrderSpec order(int64_t size) const { return order_of(*this, size); }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Records)
