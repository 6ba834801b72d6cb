// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads text files with a line "name=value" for each field. The fields that are asked for are the
// outputs, by their names.
#include <cstring>

#include "base/hash.h"
#include "op/reader.h"
#include "op/type_of.h"

namespace stoker::ops::example {

class RecordStore final : public SampleStore {
 public:
  RecordStore(std::vector<std::string> files, std::vector<std::string> fields)
      : files_(std::move(files)), fields_(std::move(fields)) {}

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  io::Place place(int64_t index) const override { return io::Place::at({name(index)}); }
  std::string name(int64_t index) const override { return files_[static_cast<size_t>(index)]; }
  uint64_t fingerprint() const override { return hash64(name(0)); }
  // A value has eight bytes, whatever its length.
  void read(Reading& r) const override {
    const std::string text = "\n" + std::string(r.parts[0].begin(), r.parts[0].end());
    for (size_t k = 0; k < fields_.size(); ++k) {
      const std::string start = "\n" + fields_[k] + "=";
      const size_t at = text.find(start);
      if (at == std::string::npos) throw SampleError("no field '" + fields_[k] + "'");
      const size_t begin = at + start.size(), end = std::min(text.find('\n', begin), text.size());
      void* to = r.make(k, {DType::kUint8, {}, {8}}).data;
      std::memset(to, ' ', 8);
      std::memcpy(to, text.data() + begin, std::min<size_t>(end - begin, 8));
    }
  }

 private:
  std::vector<std::string> files_, fields_;
};

struct Records : ReaderArguments {
  std::vector<std::string> files, fields;

  static constexpr const char* kSkip =
      "reads files; tests/new_operators/test_new_operator.py tests it";
  static constexpr auto schema = describe(
      "example.records", "Reads fields of text files.\n\nValues have eight bytes.", ports(),
      ports({.name = "field", .help = "The value.", .for_each = "fields"}),
      arg(&Records::files, "files", "The files.", kRequired),
      arg(&Records::fields, "fields", "The names of the fields.", kRequired), kReaderArguments);

  void check(Checker& c) const {
    for (size_t k = 0; k < fields.size(); ++k) c.out({DType::kUint8, {}, {8}});
  }
  std::unique_ptr<SampleStore> open() const { return std::make_unique<RecordStore>(files, fields); }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Records)
