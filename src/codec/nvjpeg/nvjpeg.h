// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG as the decoder of an NVIDIA GPU. Thread-safe as DeviceDecoder is: decode() is for one
// thread at a time.
//
// Note [Who decodes a picture]
// That follows from its bytes and what is asked for, never from time, memory or what else is in the
// batch, as nvJPEG's pixels are not the CPU's. The hardware engine, where the GPU has one, gets the
// share `hardware_share` of the pictures that it can do, chosen by a hash of their bytes; so a file
// has the same pixels in every epoch. The rest go the hybrid way: the host reads their Huffman
// codes, for pictures of more than `most_host_huffman` pixels the GPU unless they are progressive,
// and the GPU does what follows. The CPU gets what neither does: other colours than gray and YCbCr,
// YCbCr wanted, pictures to be turned, files that have no end or that are to be judged or
// tolerated.
//
// Note [Windows of nvJPEG]
// It decodes a window of a picture, by whoever would decode the whole. Where the pixels at its
// border could differ from those of the whole picture (smooth upsampling before 13.3), or who
// decodes the whole does not do that window, the whole is decoded into memory of the stream, and
// the window copied.
//
// Note [What pictures hold]
// A picture has its own bitstream, parameters, decoder state and page-locked buffer, which come
// back when the stream has passed them and its PreparedPicture is gone. They are as many as
// pictures are under way at once, which memory bounds: a picture takes a block of the host pool for
// its bytes, and is charged there for about what the page-locked buffer will hold, which is the
// device's own. Both are let go last, so that who waits for memory finds the others. Objects on
// which nvJPEG failed are not used again.
//
// Note [Memory of nvJPEG]
// All of the device that nvJPEG takes by itself is the budget's, as batches are: the buffer that
// the pictures of a stream share, one after the other, and the states of calls for the hardware
// engine. Where there is no memory, decode() throws BudgetError and may be called again, as who
// decodes a picture must not depend on that; what was enqueued already keeps its objects until the
// stream has passed it. prepare() throws Starved. Objects that no picture uses keep their memory
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
