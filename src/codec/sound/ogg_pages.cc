// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/sound/ogg_pages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace stoker {

// A file is a row of pages:
//
//   "OggS" version flags position:8 stream:4 number:4 checksum:4 n | n sizes, bytes | data
//
// The first pages of all streams of a sound come before any other page.

namespace {

constexpr size_t kHead = 27;
constexpr uint8_t kBegins = 2;  // a flag of the first page of a stream

bool is_page(EncodedSpan rest) {
  constexpr std::string_view kMark = "OggS";
  return rest.size() >= kMark.size() && std::equal(kMark.begin(), kMark.end(), rest.begin());
}

// The size by the page's head, which may be more than there is.
size_t size_of_page(EncodedSpan rest) {
  if (rest.size() < kHead || rest.size() < kHead + rest[kHead - 1]) return rest.size() + 1;
  const EncodedSpan sizes = rest.subspan(kHead, rest[kHead - 1]);
  return std::accumulate(sizes.begin(), sizes.end(), kHead + sizes.size());
}

}  // namespace

void check_ogg_pages(EncodedSpan bytes) {
  bool is_begun = false;  // whether there was a page that begins no stream
  for (size_t at = 0; is_page(bytes.subspan(at));) {
    const size_t size = size_of_page(bytes.subspan(at));
    if (size > bytes.size() - at)
      throw SampleError("Ogg audio ends within the page at byte " + std::to_string(at),
                        static_cast<int64_t>(bytes.size()));
    const bool begins = bytes[at + 5] & kBegins;
    if (begins && is_begun)
      throw SampleError(
          "the Ogg file holds sounds one behind the other; a sample is one sound, so "
          "store them in files of their own",
          static_cast<int64_t>(at));
    is_begun |= !begins;
    at += size;
  }
}

}  // namespace stoker
