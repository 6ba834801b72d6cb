// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the driver of NVIDIA's GPUs tells through its management library (NVML), which is opened at
// run time. Nothing depends on it: what it does not tell stays empty, and a text says why.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/nvml/api.h"

namespace stoker {

// Facts of one GPU. What the driver does not tell is empty; `missing` says why, or is "".
struct GpuFacts {
  std::optional<std::string> uuid;
  std::optional<size_t> memory_total, memory_used;  // bytes; used by all processes and the driver
  std::optional<int> utilization;  // percent of the last sample in which kernels ran
  std::optional<int> jpeg_utilization;  // percent of the JPEG engine
  std::optional<std::vector<int>> near_cpus;  // ascending
  std::string missing;
};

// Thread-safe. Does not throw for what is missing.
class Nvml {
 public:
  using Symbol = std::function<void*(const char*)>;

  // Opens the library that the environment variable STOKER_NVML names, or else the system's
  // libnvidia-ml.so.1, and starts it. It stays open.
  Nvml();
  Nvml(const Symbol& symbol, const std::string& place);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Why it tells nothing, with the versions found and needed; "" where it works.
  const std::string& missing() const { return missing_; }
  // The status of its start. Empty where the library is missing or lacks a function.
  std::optional<nvml::Status> status() const { return status_; }

  // "580.65.06". This and the following are empty where the driver does not tell them.
  std::optional<std::string> driver() const;
  // The newest CUDA version that the driver supports: 13010 is 13.1.
  std::optional<int> cuda() const;
  // How many GPUs it sees, whether this process may use them or not.
  std::optional<int> gpus() const;
  // Facts of the GPU at this place ("0000:65:00.0"). A GPU in MIG mode tells none, because a CUDA
  // device is only a part of it then.
  GpuFacts gpu(const std::string& pci_bus_id) const;

 private:
  void start(const Symbol& symbol, const std::string& place);

  nvml::Functions call_;
  std::optional<nvml::Status> status_;
  std::string missing_;
};

// 13010 is "13.1".
std::string cuda_version_in_words(int version);

}  // namespace stoker
