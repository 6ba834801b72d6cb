// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Which devices there are.
#include <nanobind/stl/string.h>

#include "codec/device_decoder.h"
#include "parts.h"

namespace stoker::python {

namespace {

nb::dict describe(Device& device) {
  const DeviceUsage usage = device.usage();
  nb::dict d;
  d["name"] = device.name();
  d["kind"] = std::string(device.kind());
  d["decoder"] = decoder_kind(device).name;
  d["memory"] = usage.limit;
  d["in_use"] = usage.in_use;
  d["high_water"] = usage.high_water;
  d["pinned"] = usage.pinned;
  d["pinned_high_water"] = usage.pinned_high_water;
  return d;
}

}  // namespace

void bind_devices(nb::module_& m) {
  m.def(
      "devices",
      [] {
        nb::list l;
        for (Device* d : devices()) l.append(describe(*d));
        return l;
      },
      "name, kind, decoder, memory, in_use, high_water, pinned and pinned_high_water of each "
      "device.");
  m.def("missing_gpu", &missing_gpu, "Why there is no GPU; \"\" if there is one.");
}

}  // namespace stoker::python
