// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the driver of NVIDIA's GPUs tells through its management library (NVML), which is opened at
// run time. Nothing needs it: what it does not tell is empty, and words say why.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/nvml/api.h"

namespace stoker {

// Of one GPU. What is not told is empty, and `missing` says why; "" where all is told.
struct GpuFacts {
  std::optional<std::string> uuid;
  std::optional<size_t> memory_total, memory_used;  // bytes; by all processes and the driver
  std::optional<int> utilization;  // percent of the last sample in which kernels ran
  std::optional<int> jpeg_utilization;  // percent of the JPEG engine
  std::optional<std::vector<int>> near_cpus;  // ascending
  std::string missing;
};

// Thread-safe. Does not throw for what is missing.
class Nvml {
 public:
  // Takes the functions of an open library: `symbol` gives an address or null.
  using Symbol = std::function<void*(const char*)>;

  // Starts the library that the environment variable STOKER_NVML names, without it the system's
  // libnvidia-ml.so.1. It stays open.
  Nvml();
  Nvml(const Symbol& symbol, const std::string& place);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Why it tells nothing, "" where it does: what is missing, versions found and needed.
  const std::string& missing() const { return missing_; }
  // What its start gave; none where it is missing or lacks a function.
  std::optional<nvml::Status> status() const { return status_; }

  // "580.65.06"; none where it is not told, as those below.
  std::optional<std::string> driver() const;
  // The newest CUDA that the driver is for: 13010 is 13.1.
  std::optional<int> cuda() const;
  // GPUs that it sees, whether or not this process may use them.
  std::optional<int> gpus() const;
  // Of the GPU at this place ("0000:65:00.0"). One in MIG mode is not taken: a CUDA device is a
  // part of it then.
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
