// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codec/codec.h"

namespace stoker {

// Throws SampleError where an Ogg file ends within a page, or holds sounds one behind the other:
// libsndfile takes both for a shorter sound.
void check_ogg_pages(EncodedSpan bytes);

}  // namespace stoker
