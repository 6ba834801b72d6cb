// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/inflate/inflate.h"

#include <string>

#include "base/error.h"

namespace stoker {

const char* name_of(Compression kind) {
  static constexpr const char* kNames[] = {"LZ4", "zstd", "zlib", "gzip", "deflate"};
  return kNames[static_cast<int>(kind)];
}

std::unique_ptr<InflatingStream> Inflater::stream(Compression kind, const More&) const {
  throw Error(std::string(name_of(kind)) + " cannot be read piece by piece");
}

const Inflater& inflater_of(Compression kind) {
  for (const Known<Inflater>& k : known_codecs<Inflater>())
    if (std::string_view(k.format) == name_of(kind)) {
      if (k.codec()) return *k.codec();
      throw SampleError(std::string(k.format) + " needs Debian's " + k.package +
                        ", which was not there when Stoker was built");
    }
  throw Error(std::string("no codec says that it knows ") + name_of(kind));
}

}  // namespace stoker
