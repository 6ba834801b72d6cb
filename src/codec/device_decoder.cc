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
      : is_simulated_(device.kind() == "simulated"), name_(device.name()) {}
  std::string_view kind() const override { return is_simulated_ ? "stand-in" : "cpu"; }
  std::string words() const override {
    return is_simulated_
               ? "on " + name_ + " a stand-in decodes: the CPU does it, pixels are copied"
               : "this build has no decoder for " + name_ + ": the CPU does it, pixels are copied";
  }
  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest&, int, HostPool&) override {
    return nullptr;
  }
  std::vector<size_t> decode(Stream&, std::span<const DecodeJob>) override { return {}; }

 private:
  const bool is_simulated_;
  const std::string name_;
};

std::atomic<DeviceDecoderMaker> other_maker{nullptr};

}  // namespace

std::unique_ptr<DeviceDecoder> make_device_decoder(Device& device, int threads) {
  if (const DeviceDecoderMaker maker = other_maker) return maker(device, threads);
  return std::make_unique<HostDecoder>(device);
}

void use_device_decoders(DeviceDecoderMaker maker) { other_maker = maker; }

}  // namespace stoker
