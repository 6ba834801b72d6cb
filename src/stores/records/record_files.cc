// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/record_files.h"

#include <algorithm>
#include <filesystem>

#include "base/hash.h"

namespace stoker::stores {

void RecordFiles::add(std::string path, std::shared_ptr<const io::RecordTable> table) {
  begins_.push_back(begins_.back() + static_cast<int64_t>(table->places().size()));
  paths_.push_back(std::move(path));
  tables_.push_back(std::move(table));
}

RecordFiles::At RecordFiles::at(int64_t i) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), i);
  const auto file = static_cast<size_t>(next - begins_.begin()) - 1;
  return {file, places(file)[static_cast<size_t>(i - begins_[file])]};
}

io::Extent RecordFiles::extent(int64_t i) const {
  const At at = this->at(i);
  auto file = open_.open(paths_[at.file]);
  const auto [offset, size] = at.place;
  if (offset < 0 || size < 0 || offset > file->size() || size > file->size() - offset)
    refuse(paths_[at.file], offset,
           "the index has a record of " + std::to_string(size) + " bytes here, and the file has " +
               std::to_string(file->size()) + " bytes");
  return {"", offset, size, std::move(file)};
}

std::string RecordFiles::name(int64_t i) const {
  const At at = this->at(i);
  return paths_[at.file] + " at byte " + std::to_string(at.place.offset);
}

uint64_t RecordFiles::fingerprint() const {
  uint64_t h = mix(paths_.size());
  for (size_t file = 0; file < paths_.size(); ++file)
    h = mix(h, hash64(std::filesystem::path(paths_[file]).filename().string()),
            static_cast<uint64_t>(places(file).size()), uint64_t{tables_[file]->sum()});
  return h;
}

std::shared_ptr<const io::RecordTable> record_table_of(
    const std::string& path, const std::string& kind,
    const std::function<std::vector<RecordPlace>(const Ranges&)>& find) {
  return io::RecordTable::of(path, kind, [&] { return find(ObjectRanges(io::open(path))); });
}

}  // namespace stoker::stores
