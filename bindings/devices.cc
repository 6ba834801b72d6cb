// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Lists the devices and what is known of them, and puts faults into simulated ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "base/error.h"
#include "bindings.h"
#include "codec/device_decoder.h"
#include "device/nvml/nvml.h"
#include "device/simulated/simulated.h"
#include "text.h"

namespace stoker::python {

namespace {

// Adds what the driver tells about the device; None for what it does not tell.
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

void fail_work(int index, const std::string& work, int64_t nth, bool at_once) {
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

// Where pip puts packages: nvidia-nvjpeg may be there.
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
      "A dict for each device, with the fields of stoker.Device as keys.");
  m.def("simulated_timeline", &timeline, nb::arg("index"),
        "The work that a simulated device has done, as (name, stream, start, end). Times are "
        "nanoseconds of the device's virtual clock.");
  m.def("simulated_fail", &fail_work, nb::arg("index"), nb::arg("work"), nb::arg("nth"),
        nb::arg("at_once"),
        "Makes the nth piece of work of a kind fail, counted from 1 and from now on. `work` is "
        "\"allocate\", \"pin\", \"copy\" or \"launch\". With `at_once` the call that asks for the "
        "work fails; for memory this means that there is no room. Otherwise the work fails when "
        "it runs.");
  m.def("simulated_delay", &delay, nb::arg("index"), nb::arg("seed"), nb::arg("microseconds"),
        "From now on each stream pauses before each piece of work, for at most so many "
        "microseconds. `seed` decides how long the pauses are.");
  m.def(
      "simulated_forget", [](int index) { return simulated(index).forget_faults(); },
      nb::arg("index"),
      "Cancels the faults and delays that are still to come, and drops unreported failures. "
      "Returns how many faults were cancelled.");
  m.def("missing_gpu", &missing_gpu, "Why there is no GPU; \"\" if there is one.");
}

}  // namespace stoker::python
