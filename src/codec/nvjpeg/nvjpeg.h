// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG as the decoder of an NVIDIA GPU.
//
// Note [Who decodes a picture]
// nvJPEG's pixels are not the CPU's. So the choice depends only on the picture's bytes and on what
// is asked for, never on time, memory or the rest of the batch. Of the pictures that a hardware
// engine can decode, it gets the share `hardware_share`, which a hash of the bytes chooses: a file
// has the same pixels in every epoch. The rest go the hybrid way: the host reads their Huffman
// codes and the GPU does what follows. For pictures of more than `most_host_huffman` pixels that
// are not progressive, the GPU reads the codes as well. The CPU gets what neither does: colours
// other than gray and YCbCr, pictures that are to become YCbCr or to be turned, files without an
// end marker, and files that are to be verified or tolerated.
//
// Note [Windows of nvJPEG]
// A window is decoded in the way of the whole picture. The whole picture is decoded into memory of
// the stream, and the window copied from it, where the window's border could have other pixels
// (smooth upsampling before 13.3), or where that way does not support the window.
//
// Note [What pictures hold]
// A picture has its own bitstream, parameters, decoder state and pinned buffer, which come back
// when the stream has passed them and the PreparedPicture is gone. Memory bounds how many there
// are: a picture takes memory of the host pool for its bytes, and the pool also counts about as
// much as the picture's pinned buffer will hold, which is the device's own. Both are released last,
// so that whoever waits for memory finds the objects free. Objects on which nvJPEG failed are not
// used again.
// Note [Memory of nvJPEG]
// All device memory that nvJPEG takes by itself comes from the budget: the buffer that the pictures
// of a stream share, one after the other, and the states of calls for the hardware engine. A lack
// of memory must not change who decodes a picture. So decode() throws BudgetError then and may be
// called again, while enqueued work keeps its objects until the stream has passed it; prepare()
// throws Starved. Idle objects keep their memory until trim().
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
