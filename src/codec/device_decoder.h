// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded images become pixels in a device's memory. Two halves: workers prepare pictures (the part
// of the host), the one thread that talks to the device enqueues the rest for a whole batch.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "device/budget.h"
#include "memory/pool.h"

namespace stoker {

// What is wanted of one picture: the window of it, in displayed coordinates, as decode() of a codec
// would fill it.
struct DecodeRequest {
  EncodedSpan bytes;
  DecodeOptions options;
  TensorType type;  // of the whole picture: decoded_type()
  Window window;  // lies in it
};

// What a decoder's host part left for its device part. It may be destroyed at any time by any
// thread, also while the device still works on what decode() enqueued: the decoder keeps what that
// needs.
class PreparedPicture {
 public:
  virtual ~PreparedPicture() = default;
};

struct DecodeJob {
  const PreparedPicture* prepared;
  View out;  // in device memory: dense, of the window that was asked for
};

// Who decodes.
struct DecoderKind {
  std::string name;  // "nvJPEG", "stand-in", "cpu"
  std::string words;  // who decodes, and why no other, for people
};

class DeviceDecoder {
 public:
  virtual ~DeviceDecoder() = default;  // the streams that it was given are done by then
  virtual DecoderKind kind() const = 0;

  // Begins a picture; null when this decoder does not do such ones, or the host's part already
  // failed: then the CPU decodes it and only pixels are copied. What is kept beyond the call comes
  // from `pool` as Use::kOutput. Throws Starved. Thread-safe.
  virtual std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& request,
                                                   HostPool& pool) = 0;
  // Enqueues the rest for these pictures; waits for the device at most where memory for itself is
  // to be made. Returns the jobs, by index, that cannot be done: these the CPU decodes. One job may
  // be asked for again. Throws DeviceError when the device fails, and BudgetError when there is no
  // memory now; then all of it may be asked for again. One thread at a time.
  virtual std::vector<size_t> decode(Stream& stream, std::span<const DecodeJob> jobs) = 0;
  // Gives memory back that it keeps for pictures to come. Any thread.
  virtual void trim() {}
};

// The decoder for the device of a budget, from which it takes that device's memory. Thread-safe.
std::unique_ptr<DeviceDecoder> make_device_decoder(std::shared_ptr<const DeviceBudget> memory);
// Its kind. Thread-safe.
DecoderKind decoder_kind(Device& device);

// Folders of Python packages, where a decoder's library may lie as one of them. It is looked for
// once, when the first decoder of a GPU is made. Thread-safe.
void look_for_decoders_in(std::vector<std::string> folders);

// Decoders of another make from now on, for tests; null: those of before. Thread-safe.
using DeviceDecoderMaker =
    std::unique_ptr<DeviceDecoder> (*)(std::shared_ptr<const DeviceBudget> memory);
void use_device_decoders(DeviceDecoderMaker maker);

}  // namespace stoker
