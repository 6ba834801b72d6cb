// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/device_decoder.h"

#include <atomic>

namespace stoker {

namespace {

// Leaves every picture to the CPU.
class HostDecoder final : public DeviceDecoder {
 public:
  explicit HostDecoder(const Device& device)
      : kind_(device.kind() == "simulated" ? stand_in(device) : without(device)) {}
  DecoderKind kind() const override { return kind_; }
  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest&, int, HostPool&) override {
    return nullptr;
  }
  std::vector<size_t> decode(Stream&, std::span<const DecodeJob>) override { return {}; }

 private:
  static DecoderKind stand_in(const Device& device) {
    return {"stand-in", device.name() + " has a stand-in: the CPU decodes, pixels are copied"};
  }
  static DecoderKind without(const Device& device) {
    return {"cpu", "this build has no decoder for " + device.name() +
                       ": the CPU decodes, pixels are copied"};
  }
  const DecoderKind kind_;
};

std::atomic<DeviceDecoderMaker> other_maker{nullptr};

}  // namespace

std::unique_ptr<DeviceDecoder> make_device_decoder(Device& device, int threads) {
  if (const DeviceDecoderMaker maker = other_maker) return maker(device, threads);
  return std::make_unique<HostDecoder>(device);
}

DecoderKind decoder_kind(Device& device) { return make_device_decoder(device, 1)->kind(); }

void use_device_decoders(DeviceDecoderMaker maker) { other_maker = maker; }

}  // namespace stoker
