// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/context.h"

namespace stoker {

// The samples of a list of files, for readers that say what is in a value. Files, such as
// stores::LmdbFiles, tells where values lie. Thread-safe.
template <class Files>
class FilesStore : public SampleStore {
 public:
  int64_t size() const final { return files_.size(); }
  std::string name(int64_t i) const final { return files_.name(i); }
  uint64_t fingerprint() const final { return files_.fingerprint(); }
  std::vector<int64_t> block_begins() const final { return files_.begins(); }
  io::Place place(int64_t i) const final { return io::Place::at(files_.extent(i)); }

 protected:
  explicit FilesStore(const std::vector<std::string>& paths) : files_(paths) {}

  template <class Parse>
  auto parsed(const Reading& r, Parse parse) const {
    return files_.parsed(r.index, files_.value(r.index, r.parts[0]), parse);
  }

 private:
  Files files_;
};

}  // namespace stoker
