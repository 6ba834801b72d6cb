// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/sound/sound.h"

#include "codec/choose.h"

namespace stoker {

std::unique_ptr<OpenSound> open_sound(EncodedSpan bytes) {
  return codec_for<SoundCodec>(bytes, "a sound").open(bytes);
}

}  // namespace stoker
