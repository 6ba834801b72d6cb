// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Which devices there are, what is known of them, and faults of simulated ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "base/error.h"
#include "bindings.h"
#include "codec/device_decoder.h"
#include "device/nvml/nvml.h"
#include "device/simulated/simulated.h"

namespace stoker::python {

namespace {

// Adds what the driver tells of the device; None for what it does not tell.
void describe_gpu(nb::dict& d, const Nvml& nvml, const Device& device) {
  const bool is_gpu = !device.pci_bus_id().empty();
  const GpuFacts f =
      is_gpu ? nvml.gpu(device.pci_bus_id()) : GpuFacts{.missing = device.name() + " is no GPU"};
  d["pci_bus_id"] = is_gpu ? nb::cast(device.pci_bus_id()) : nb::none();
  d["driver"] = is_gpu ? nvml.driver() : std::nullopt;
  const std::optional<int> cuda = is_gpu ? nvml.cuda() : std::nullopt;
  d["driver_cuda"] = cuda ? nb::cast(cuda_version_in_words(*cuda)) : nb::none();
  d["uuid"] = f.uuid;
  d["memory_total"] = f.memory_total;
  d["memory_used"] = f.memory_used;
  d["utilization"] = f.utilization;
  d["jpeg_utilization"] = f.jpeg_utilization;
  d["near_cpus"] = f.near_cpus;
  d["untold"] = f.missing;
}

nb::dict describe(Device& device, const Nvml& nvml) {
  const DeviceUsage usage = device.usage();
  nb::dict d;
  d["name"] = device.name();
  d["kind"] = std::string(device.kind());
  const DecoderKind decoder = decoder_kind(device);
  d["decoder"] = decoder.name;
  d["decoder_words"] = decoder.words;
  d["memory"] = usage.limit;
  d["in_use"] = usage.in_use;
  d["high_water"] = usage.high_water;
  d["pinned"] = usage.pinned;
  d["pinned_high_water"] = usage.pinned_high_water;
  describe_gpu(d, nvml, device);
  return d;
}

SimulatedDevice& simulated(int index) {
  auto* simulated = dynamic_cast<SimulatedDevice*>(&device(index));
  if (!simulated) throw DeviceError(device(index).name() + " is no simulated device");
  return *simulated;
}

nb::list timeline(int index) {
  nb::list l;
  for (const TimelineEntry& e : simulated(index).timeline())
    l.append(nb::make_tuple(e.name, e.stream, e.start_ns, e.end_ns));
  return l;
}

void fail(int index, const std::string& work, int64_t nth, bool at_once) {
  static const std::map<std::string, DeviceCall> works = {{"allocate", DeviceCall::kAllocate},
                                                          {"pin", DeviceCall::kPin},
                                                          {"copy", DeviceCall::kCopy},
                                                          {"launch", DeviceCall::kLaunch}};
  const auto found = works.find(work);
  if (found == works.end())
    throw DeviceError("a simulated device fails at allocate, pin, copy or launch, not at '" + work +
                      "'");
  at_once ? simulated(index).refuse(found->second, nth) : simulated(index).fail(found->second, nth);
}

void delay(int index, uint64_t seed, int microseconds) {
  simulated(index).delay_all(seed, std::chrono::microseconds(microseconds));
}

// The folders where pip puts packages: nvidia-nvjpeg may be in one of them.
std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  for (nb::handle entry : nb::module_::import_("sys").attr("path"))
    if (nb::isinstance<nb::str>(entry))
      if (const auto path = nb::cast<std::string>(entry); path.ends_with("-packages"))
        folders.push_back(path);
  return folders;
}

}  // namespace

void bind_devices(nb::module_& m) {
  look_for_decoders_in(package_folders());
  m.def(
      "devices",
      [] {
        nb::list l;
        const Nvml nvml;
        for (Device* d : devices()) l.append(describe(*d, nvml));
        return l;
      },
      "A dict for each device, of what stoker.Device names.");
  m.def("simulated_timeline", &timeline, nb::arg("index"),
        "What a simulated device did: (name, stream, start, end) of each piece of work, in virtual "
        "nanoseconds.");
  m.def("simulated_fail", &fail, nb::arg("index"), nb::arg("work"), nb::arg("nth"),
        nb::arg("at_once"),
        "The nth such work from now on fails: \"allocate\", \"pin\", \"copy\" or \"launch\". At "
        "once, so that there is no room for memory, or where it is done.");
  m.def("simulated_delay", &delay, nb::arg("index"), nb::arg("seed"), nb::arg("microseconds"),
        "From now on each stream stands still for up to so long before whatever it does.");
  m.def(
      "simulated_forget", [](int index) { return simulated(index).forget_faults(); },
      nb::arg("index"),
      "Forgets the faults and delays still to come, and failures that nobody was told; how many "
      "faults there were.");
  m.def("missing_gpu", &missing_gpu, "Why there is no GPU; \"\" if there is one.");
}

}  // namespace stoker::python
