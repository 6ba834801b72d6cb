// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/record_files.h"

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "io/crc32c.h"

namespace stoker::stores {

void RecordFiles::add(std::string path, std::shared_ptr<const io::RecordIndex> index) {
  begins_.push_back(begins_.back() + static_cast<int64_t>(index->entries().size()));
  paths_.push_back(std::move(path));
  indexes_.push_back(std::move(index));
}

RecordFiles::At RecordFiles::at(int64_t i) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), i);
  const auto file = static_cast<size_t>(next - begins_.begin()) - 1;
  const io::IndexEntry e = entries(file)[static_cast<size_t>(i - begins_[file])];
  return {file, {e.offset, e.size}};
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
  for (size_t file = 0; file < paths_.size(); ++file) {
    const auto bytes = std::as_bytes(entries(file));
    h = mix(h, hash64(std::filesystem::path(paths_[file]).filename().string()),
            static_cast<uint64_t>(entries(file).size()),
            uint64_t{io::crc32c({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})});
  }
  return h;
}

std::shared_ptr<const io::RecordIndex> index_of(
    const std::string& path, const std::string& kind,
    const std::function<std::vector<RecordPlace>(const Ranges&)>& find) {
  return io::RecordIndex::of(path, kind, [&] {
    const ObjectRanges file(std::make_shared<const io::File>(path));
    std::vector<io::IndexEntry> entries;
    for (const RecordPlace p : find(file)) entries.push_back({p.offset, p.size});
    return entries;
  });
}

}  // namespace stoker::stores
