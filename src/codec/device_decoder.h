// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded images become pixels in a device's memory, in two parts. Workers prepare pictures on the
// host. The one thread that talks to the device enqueues the rest for a whole batch.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "device/budget.h"
#include "memory/pool.h"

namespace stoker {

// What only decoders of devices heed. The codecs upsample smoothly and have one way to decode.
struct DeviceDecodeOptions {
  bool smooth_upsampling = true;  // of chroma
  float hardware_share = 0.65f;  // share of the pictures that goes to an engine for decoding
  int64_t most_host_huffman = 1'000'000;  // pixels; codes of larger pictures are read on the device
};

// What is wanted of one picture: a window, in displayed coordinates, of the pixels of decode().
struct DecodeRequest {
  EncodedImage image;
  Window window;  // lies inside the picture
  Window judged;  // of the CPU's codecs; a device's decoder judges as it can
  DeviceDecodeOptions device;
};

// What a decoder's host part leaves for its device part. Any thread may destroy it at any time,
// even while the device works on what decode() enqueued: the decoder keeps what that work needs.
class PreparedPicture {
 public:
  virtual ~PreparedPicture() = default;
};

struct DecodeJob {
  const PreparedPicture* prepared;
  View out;  // in device memory, dense; has the shape of the window
};

struct DecoderKind {
  std::string name;  // "nvJPEG", "stand-in", "cpu"
  std::string words;  // for people: which decoder is used, and why no other is
};

class DeviceDecoder {
 public:
  virtual ~DeviceDecoder() = default;  // Requires: the streams that it was given are done
  virtual DecoderKind kind() const = 0;

  // Begins a picture. Returns null when this decoder does not take such pictures, or when its host
  // part failed: then the CPU decodes the picture and only pixels are copied. What is kept beyond
  // the call comes from `pool` as Use::kOutput. Throws Starved. Thread-safe.
  virtual std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& request,
                                                   HostPool& pool) = 0;
  // Enqueues the rest for these pictures. Waits for the device only to get memory for itself.
  // Returns the indices of jobs that it cannot do; the CPU decodes these. A job may be enqueued
  // more than once. Throws DeviceError when the device fails, and BudgetError when there is no
  // memory now; the call may be repeated then. One thread at a time.
  virtual std::vector<size_t> decode(Stream& stream, std::span<const DecodeJob> jobs) = 0;
  // Gives back memory that is kept for coming pictures. Any thread may call it.
  virtual void trim() {}
};

// Makes the decoder for the device of a budget, with memory from that budget. Thread-safe.
std::unique_ptr<DeviceDecoder> make_device_decoder(std::shared_ptr<const DeviceBudget> memory);
// The kind of decoder that make_device_decoder() makes. Thread-safe.
DecoderKind decoder_kind(Device& device);

// Folders of Python packages in which a decoder's library may be installed. They are searched once,
// when the first decoder of a GPU is made. Thread-safe.
void look_for_decoders_in(std::vector<std::string> folders);

// For tests: decoders come from `maker` from now on; null restores the usual ones. Thread-safe.
using DeviceDecoderMaker =
    std::unique_ptr<DeviceDecoder> (*)(std::shared_ptr<const DeviceBudget> memory);
void use_device_decoders(DeviceDecoderMaker maker);

}  // namespace stoker
