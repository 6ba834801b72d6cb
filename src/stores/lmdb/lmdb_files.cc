// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb/lmdb_files.h"

namespace stoker::stores {

LmdbFiles::LmdbFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string file = lmdb_file(path);
    // Walking through the pages is fast, so the places are not kept beside the file.
    std::vector<RecordPlace> places;
    const ObjectRanges ranges(io::open(file));
    page_sizes_.push_back(
        find_lmdb_values(ranges, [&](ByteSpan, RecordPlace p) { places.push_back(p); }));
    files_.add(file, std::make_shared<const io::RecordTable>(std::move(places)));
  }
  fingerprint_ = files_.fingerprint();
}

}  // namespace stoker::stores
