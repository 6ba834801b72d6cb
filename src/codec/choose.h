// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which codec some bytes are for.
#pragma once
#include <string>

#include "base/content.h"
#include "base/error.h"
#include "codec/codec.h"

namespace stoker {

// The first codec that recognises the bytes. Throws SampleError, which says what the bytes are and
// what is supported; `what` is "an image" or the like.
template <class Codec>
const Codec& codec_for(EncodedSpan bytes, const char* what) {
  for (const Known<Codec>& k : known_codecs<Codec>())
    if (k.built && k.built()->recognises(bytes) && k.codec()) return *k.built();
  std::string supported, missing;
  const std::string content = describe_content(bytes);
  for (const Known<Codec>& k : known_codecs<Codec>())
    if (k.codec()) supported += (supported.empty() ? "" : ", ") + std::string(k.format);
    else if (content.find(k.format) != content.npos)
      missing = "; " + std::string(k.format) + " needs Debian's " + k.package +
                (k.built ? ", which is not there" : ", which was not there when Stoker was built");
  throw SampleError("not " + std::string(what) + " that can be decoded: found " + content +
                        missing + "; expected " + supported,
                    0);
}

}  // namespace stoker
