// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/nvml.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <iterator>
#include <type_traits>

namespace stoker {

namespace {

using nvml::kSuccess;
using nvml::Status;

constexpr const char* kVariable = "STOKER_NVML";
constexpr const char* kSystemName = "libnvidia-ml.so.1";
constexpr int kMostCpus = 1024;  // the most that NVML is asked for
constexpr int kCpusInWord = sizeof(unsigned long) * CHAR_BIT;

// The name of the first function that the library lacks, or "" if it has all.
std::string take(nvml::Functions& call, const Nvml::Symbol& symbol) {
#define STOKER_NVML_TAKE(result, member, name, parameters) \
  call.member = reinterpret_cast<decltype(call.member)>(symbol(#name));
  STOKER_NVML_FUNCTIONS(STOKER_NVML_TAKE)
  STOKER_NVML_NEWER_FUNCTIONS(STOKER_NVML_TAKE)
#undef STOKER_NVML_TAKE
#define STOKER_NVML_CHECK(result, member, name, parameters) \
  if (!call.member) return #name;
  STOKER_NVML_FUNCTIONS(STOKER_NVML_CHECK)
#undef STOKER_NVML_CHECK
  return {};
}

std::vector<int> cpus_of(const unsigned long* words, int count) {
  std::vector<int> cpus;
  for (int i = 0; i < count * kCpusInWord; ++i)
    if (words[i / kCpusInWord] >> i % kCpusInWord & 1) cpus.push_back(i);
  return cpus;
}

class Question {
 public:
  Question(const nvml::Functions& call, nvml::DeviceHandle device) : call_(call), device_(device) {}

  // `name` is the fact's name for users. `function` may be null in older drivers.
  template <class... Parameters>
  bool ask(const char* name, Status (*function)(nvml::DeviceHandle, Parameters...),
           std::type_identity_t<Parameters>... arguments) {
    if (!function) return refuse(name, "the driver is too old to tell");
    const Status status = function(device_, arguments...);
    return status == kSuccess || refuse(name, call_.words(status));
  }
  const std::string& refused() const { return refused_; }

 private:
  bool refuse(const char* name, const std::string& why) {
    refused_ += (refused_.empty() ? "" : "; ") + (name + (": " + why));
    return false;
  }

  const nvml::Functions& call_;
  nvml::DeviceHandle device_;
  std::string refused_;
};

GpuFacts facts(const nvml::Functions& call, nvml::DeviceHandle device) {
  GpuFacts f;
  Question question(call, device);
  char uuid[nvml::kUuidLength] = {};
  if (question.ask("uuid", call.uuid, uuid, nvml::kUuidLength)) f.uuid = uuid;
  nvml::Memory memory = {};
  if (question.ask("memory", call.memory, &memory)) {
    f.memory_total = memory.total;
    f.memory_used = memory.used;
  }
  nvml::Utilization utilization = {};
  if (question.ask("utilization", call.utilization, &utilization))
    f.utilization = static_cast<int>(utilization.gpu);
  unsigned percent = 0, sample_us = 0;
  if (question.ask("jpeg_utilization", call.jpeg_utilization, &percent, &sample_us))
    f.jpeg_utilization = static_cast<int>(percent);
  unsigned long cpus[kMostCpus / kCpusInWord] = {};
  constexpr unsigned kWords = std::size(cpus);
  if (question.ask("near_cpus", call.cpu_affinity, kWords, cpus))
    f.near_cpus = cpus_of(cpus, kWords);
  f.missing = question.refused();
  return f;
}

}  // namespace

Nvml::Nvml() {
  const char* chosen = std::getenv(kVariable);
  const std::string place = chosen && *chosen ? chosen : kSystemName;
  if (void* open = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL))
    start([&](const char* name) { return dlsym(open, name); }, place);
  else
    missing_ = "no NVML was found (" + std::string(dlerror()) + "; the environment variable " +
               kVariable + " names another place)";
}

Nvml::Nvml(const Symbol& symbol, const std::string& place) { start(symbol, place); }

Nvml::~Nvml() {
  if (status_ == kSuccess) (void)call_.stop();
}

void Nvml::start(const Symbol& symbol, const std::string& place) {
  if (const std::string absent = take(call_, symbol); !absent.empty()) {
    missing_ = place + " has no function " + absent + "; NVML of driver 450 or newer is needed";
    return;
  }
  status_ = call_.start();
  if (status_ != kSuccess)
    missing_ = "NVML (" + place + ") does not start: " + call_.words(*status_);
}

std::optional<std::string> Nvml::driver() const {
  char text[nvml::kDriverVersionLength] = {};
  if (status_ != kSuccess || call_.driver_version(text, sizeof text) != kSuccess) return {};
  return text;
}

std::optional<int> Nvml::cuda() const {
  int version = 0;
  if (status_ != kSuccess || call_.cuda_version(&version) != kSuccess) return {};
  return version;
}

std::optional<int> Nvml::gpus() const {
  unsigned count = 0;
  if (status_ != kSuccess || call_.device_count(&count) != kSuccess) return {};
  return static_cast<int>(count);
}

GpuFacts Nvml::gpu(const std::string& pci_bus_id) const {
  const auto untold = [](std::string why) {
    GpuFacts none;
    none.missing = std::move(why);
    return none;
  };
  if (status_ != kSuccess) return untold(missing_);
  nvml::DeviceHandle device = nullptr;
  if (const Status s = call_.device_at(pci_bus_id.c_str(), &device); s != kSuccess)
    return untold("NVML finds no GPU at " + pci_bus_id + ": " + call_.words(s));
  unsigned mode = 0, pending = 0;
  const Status s = call_.mig_mode(device, &mode, &pending);
  if (s != kSuccess && s != nvml::kNotSupported)
    return untold("NVML does not tell whether the GPU at " + pci_bus_id +
                  " is in MIG mode: " + call_.words(s));
  if (s == kSuccess && mode == nvml::kMigEnabled)
    return untold("the GPU at " + pci_bus_id +
                  " is in MIG mode: NVML tells of all of it, and this device is a part");
  return facts(call_, device);
}

std::string cuda_version_in_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace stoker
