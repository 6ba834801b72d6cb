// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG as the decoder of an NVIDIA GPU. As thread-safe as DeviceDecoder: decode() is for one
// thread at a time.
//
// Note [Who decodes a picture]
// nvJPEG's pixels are not the CPU's. So the choice depends only on the picture's bytes and on what
// is asked for, never on time, memory or the rest of the batch. Of the pictures that the hardware
// engine can decode, it gets the share `hardware_share`, where the GPU has such an engine. A hash
// of the bytes chooses them, so a file has the same pixels in every epoch. The rest go the hybrid
// way: the host reads their Huffman codes and the GPU does what follows. For pictures of more than
// `most_host_huffman` pixels that are not progressive, the GPU reads the codes as well. The CPU
// gets what neither does: colours other than gray and YCbCr, pictures that are to become YCbCr,
// pictures to be turned, files without an end marker, and files that are to be verified or
// tolerated.
//
// Note [Windows of nvJPEG]
// nvJPEG decodes a window in the same way as it would decode the whole picture. The whole picture
// is decoded into memory of the stream, and the window is copied from it, in two cases: the pixels
// at the window's border could differ from those of the whole picture (smooth upsampling before
// 13.3), or the way chosen for the whole picture does not support the window.
//
// Note [What pictures hold]
// A picture has its own bitstream, parameters, decoder state and pinned buffer. These come back
// when the stream has passed them and the PreparedPicture is gone. There are as many of them as
// pictures are unfinished at once, and memory bounds that number: a picture takes memory of the
// host pool for its bytes, and the pool also counts about as much as the picture's pinned buffer
// will hold, which is the device's own. Both are released last, so that whoever waits for memory
// finds the objects free. Objects on which nvJPEG failed are not used again.
// Note [Memory of nvJPEG]
// All device memory that nvJPEG takes by itself comes from the budget, as batches do: the buffer
// that the pictures of a stream share, one after the other, and the states of calls for the
// hardware engine. A lack of memory must not change who decodes a picture. So decode() throws
// BudgetError then and may be called again, while work that is enqueued keeps its objects until the
// stream has passed it; prepare() throws Starved. Objects that no picture uses keep their memory
// until trim().
#pragma once
#include <memory>

#include "codec/device_decoder.h"
#include "codec/nvjpeg/library.h"

namespace stoker::nvjpeg {

struct FoundDecoder {
  std::unique_ptr<DeviceDecoder> decoder;
  std::string missing;  // why there is none
};

// Requires: the kind of the budget's device is "cuda". Throws DeviceError.
FoundDecoder make_decoder(std::shared_ptr<const DeviceBudget> memory,
                          std::shared_ptr<const Library> library);

}  // namespace stoker::nvjpeg
