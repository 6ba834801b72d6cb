// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/mutex.h"
#include "device/simulated/simulated.h"
#ifdef STOKER_CUDA
#include "device/cuda/cuda.h"
#endif

namespace stoker {
namespace {

constexpr const char* kVariable = "STOKER_SIMULATED_DEVICES";
constexpr int kMostSimulated = 64;
#ifdef STOKER_CUDA
constexpr const char* kForGpus = "";
#else
constexpr const char* kForGpus = "; for a GPU, install Stoker with CUDA (docs/guide/installing.md)";
#endif

int count_asked_for() {
  const char* text = std::getenv(kVariable);
  if (!text || !*text) return 0;
  const std::string_view s = text;
  int count = -1;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), count);
  if (error != std::errc() || end != s.data() + s.size() || count < 0 || count > kMostSimulated)
    throw DeviceError(std::string(kVariable) + " takes a count from 0 to " +
                      std::to_string(kMostSimulated) + ", got '" + text + "'");
  return count;
}

struct Registry {
  Mutex mutex;  // drivers start and devices are made under it, so these ask for no devices
  // Empty before the first call.
  std::optional<std::vector<Device*>> current STOKER_GUARDED_BY(mutex);
  // These and those that were replaced.
  std::vector<std::unique_ptr<Device>> all STOKER_GUARDED_BY(mutex);
  std::string missing STOKER_GUARDED_BY(mutex);  // why there is no GPU

  void ask() STOKER_REQUIRES(mutex) {
    if (current) return;
    if (const int simulated = count_asked_for()) return replace(simulated, {});
#ifdef STOKER_CUDA
    CudaFound found = find_cuda_devices();
    missing = found.missing;
    current.emplace();
    for (auto& d : found.devices) {
      current->push_back(d.get());
      all.push_back(std::move(d));
    }
#else
    missing = "this build is without CUDA";
    current.emplace();
#endif
  }

  void replace(int count, const SimulatedOptions& options) STOKER_REQUIRES(mutex) {
    std::vector<Device*> next;
    for (int i = 0; i < count; ++i) {
      all.push_back(std::make_unique<SimulatedDevice>(options, i));
      next.push_back(all.back().get());
    }
    missing = "simulated devices were asked for";
    current = std::move(next);
  }
};

// Never destroyed, because other static objects may hold buffers and streams to the end.
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

}  // namespace

std::vector<Device*> devices() {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  r.ask();
  return *r.current;
}

std::string missing_gpu() {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  r.ask();
  return r.missing;
}

Device& device(int index) {
  const std::vector<Device*> all = devices();
  if (index >= 0 && index < static_cast<int>(all.size())) return *all[index];
  const std::string problem = "there is no device " + std::to_string(index);
  if (all.empty())
    throw DeviceError(problem + ": " + missing_gpu() +
                      ". Leave out device= and .gpu() to run on the CPU" + kForGpus);
  std::string have;
  for (const Device* d : all) have += (have.empty() ? "" : ", ") + d->name();
  throw DeviceError(problem + ". Devices: " + have);
}

void use_simulated_devices(int count, const SimulatedOptions& options) {
  if (count < 0 || count > kMostSimulated)
    throw DeviceError("simulated devices: from 0 to " + std::to_string(kMostSimulated) + ", got " +
                      std::to_string(count));
  Registry& r = registry();
  MutexLock lock(r.mutex);
  r.replace(count, options);
}

}  // namespace stoker
