// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/device_decoder.h"

#include <atomic>
#include <map>

#include "base/mutex.h"
#ifdef STOKER_CUDA
#include "codec/nvjpeg/nvjpeg.h"
#endif

namespace stoker {

namespace {

// Leaves every picture to the CPU.
class HostDecoder final : public DeviceDecoder {
 public:
  explicit HostDecoder(DecoderKind kind) : kind_(std::move(kind)) {}
  DecoderKind kind() const override { return kind_; }
  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest&, HostPool&) override {
    return nullptr;
  }
  std::vector<size_t> decode(Stream&, std::span<const DecodeJob>) override { return {}; }

 private:
  const DecoderKind kind_;
};

std::unique_ptr<DeviceDecoder> host_decoder(const Device& device, const std::string& missing) {
  const std::string words = ": the CPU decodes, pixels are copied";
  if (device.kind() == "simulated")
    return std::make_unique<HostDecoder>(
        DecoderKind{"stand-in", device.name() + " has a stand-in" + words});
  return std::make_unique<HostDecoder>(DecoderKind{"cpu", missing + words});
}

struct Folders {
  Mutex mutex;  // nvJPEG is looked for and opened under it
  std::vector<std::string> all STOKER_GUARDED_BY(mutex);
};
Folders& package_folders() {
  static Folders& f = *new Folders;
  return f;
}

#ifdef STOKER_CUDA
nvjpeg::FoundLibrary open_nvjpeg() {
  Folders& folders = package_folders();
  MutexLock lock(folders.mutex);
  return nvjpeg::open_library(folders.all);
}

std::unique_ptr<DeviceDecoder> cuda_decoder(std::shared_ptr<const DeviceBudget> memory) {
  static const nvjpeg::FoundLibrary found = open_nvjpeg();
  Device& device = memory->device();
  if (!found.opened) return host_decoder(device, found.missing);
  nvjpeg::FoundDecoder made = nvjpeg::make_decoder(std::move(memory), found.opened);
  return made.decoder ? std::move(made.decoder) : host_decoder(device, made.missing);
}
#endif

std::atomic<DeviceDecoderMaker> other_maker{nullptr};

}  // namespace

std::unique_ptr<DeviceDecoder> make_device_decoder(std::shared_ptr<const DeviceBudget> memory) {
  if (const DeviceDecoderMaker maker = other_maker) return maker(std::move(memory));
  Device& device = memory->device();
#ifdef STOKER_CUDA
  if (device.kind() == "cuda") return cuda_decoder(std::move(memory));
#endif
  return host_decoder(device, "this build has no decoder for " + device.name());
}

DecoderKind decoder_kind(Device& device) {
  const auto kind = [&] {
    return make_device_decoder(std::make_shared<DeviceBudget>(device, SIZE_MAX))->kind();
  };
  if (other_maker || device.kind() != "cuda") return kind();
  // Finding out takes a while, and the result never changes.
  static Mutex mutex;  // decoders are made under it; taken before that of the folders
  static std::map<const Device*, DecoderKind> kinds STOKER_GUARDED_BY(mutex);
  MutexLock lock(mutex);
  auto it = kinds.find(&device);
  if (it == kinds.end()) it = kinds.emplace(&device, kind()).first;
  return it->second;
}

void look_for_decoders_in(std::vector<std::string> folders) {
  Folders& known = package_folders();
  MutexLock lock(known.mutex);
  known.all = std::move(folders);
}

void use_device_decoders(DeviceDecoderMaker maker) { other_maker = maker; }

}  // namespace stoker
