// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found out about a file, once, and is kept beside it.
//
// Note [Kept beside files]
// It lies in FILE.stoker-index, or where that folder cannot be written in the user's cache folder
// ($XDG_CACHE_HOME/stoker or ~/.cache/stoker), or else in memory. $STOKER_INDEX_DIR names a folder
// that takes the place of both. Only local files have it: Note [Origins] (io/origin.h). It is
// written under another name and then renamed, so that nobody ever sees half of it. It is made
// again where it has a wrong checksum, or was made in another way or of a file with another size or
// time of change. Anyone may have written it, so its user checks it against the file.
//
// Up to kMostCopied bytes are copied into memory, so that later changes of its file do not matter.
// More are mapped, and cost no memory until they are used. Stoker only replaces such a file, which
// leaves the old one to whoever has mapped it; a program that truncates it in place ends this one
// by SIGBUS.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stoker::io {

inline constexpr size_t kMostCopied = size_t{64} << 20;

struct KeptBytes {
  std::shared_ptr<const void> owner = nullptr;  // of the bytes
  std::span<const uint8_t> bytes = {};  // aligned for numbers of 8 bytes
  uint32_t sum = 0;  // of the bytes: CRC-32C
  std::string kept_in = {};  // the file's name; empty where it is only in memory
  bool may_be_kept = true;
};

// What `make` has found out about a file. `kind`: what it is and how it was found, as "tfrecord 1".
// `names`: it is kept under the first that can be written; none: as the note says. Throws what
// `make` throws, and SampleError for a file that is not there.
KeptBytes kept_bytes(const std::string& path, const std::string& kind,
                     const std::function<KeptBytes()>& make,
                     const std::vector<std::string>& names = {});

}  // namespace stoker::io
