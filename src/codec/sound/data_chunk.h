// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the samples of a WAV, AIFF or AU lie, and how many bytes of them its header promises.
#pragma once
#include <optional>

#include "codec/sound/bytes_as_file.h"

namespace stoker {

struct DataChunk {
  const char* format = "";  // "WAV"
  size_t begin = 0;  // of the samples
  // From `begin` on; none where the writer of the file did not know it.
  std::optional<uint64_t> size;
  // The file goes on behind these, with what is neither a chunk nor padding.
  bool is_amid_others = false;
  // Makes a reader that believes the header read all there is. None where `size` is known.
  std::optional<Patch> patch;
};

// None if the bytes are of another format, or have no samples.
std::optional<DataChunk> find_data_chunk(EncodedSpan bytes);

}  // namespace stoker
