// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/affinity.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <system_error>

#include "base/error.h"
#include "device/nvml/nvml.h"

namespace stoker {

namespace {

constexpr const char* kVariable = "DALI_AFFINITY_MASK";

[[noreturn]] void refuse(const std::string& text, const Cpus& usable) {
  throw GraphError(std::string(kVariable) + " takes numbers of CPUs that this process may use (" +
                   in_words(usable) + "), with commas between; it is '" + text + "'");
}

// The CPUs that the variable names, in its order, if it is set.
std::vector<int> chosen_cpus(const Cpus& usable) {
  const char* text = std::getenv(kVariable);
  if (!text || !*text) return {};
  std::vector<int> chosen;
  const char* const end = text + std::strlen(text);
  for (const char* at = text;; ++at) {  // behind the comma
    const auto [behind, error] = std::from_chars(at, end, chosen.emplace_back());
    if (error != std::errc() || (behind != end && *behind != ',') ||
        !std::binary_search(usable.begin(), usable.end(), chosen.back()))
      refuse(text, usable);
    at = behind;
    if (at == end) return chosen;
  }
}

// The usable CPUs near the device, or none if unknown; and what the plan says of them.
std::pair<Cpus, std::string> near(const Device* device, const Cpus& usable) {
  if (!device) return {{}, "the pipeline has no device"};
  if (device->pci_bus_id().empty()) return {{}, device->name() + " has no place in the machine"};
  const GpuFacts facts = Nvml().gpu(device->pci_bus_id());
  if (!facts.near_cpus) return {{}, facts.missing};
  Cpus both;
  std::set_intersection(facts.near_cpus->begin(), facts.near_cpus->end(), usable.begin(),
                        usable.end(), std::back_inserter(both));
  if (!both.empty()) return {both, "near " + device->name()};
  return {{},
          "this process may use none of the CPUs near " + device->name() + " (" +
              in_words(*facts.near_cpus) + ")"};
}

}  // namespace

Cpus usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(), "asking for the CPUs of this thread");
  Cpus cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

void run_on(const Cpus& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus) CPU_SET(cpu, &set);
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

Affinity affinity_for(int workers, const Device* device, const Cpus& usable) {
  const std::vector<int> chosen = chosen_cpus(usable);
  Affinity a;
  a.cpus.resize(static_cast<size_t>(workers));
  const size_t placed = std::min(chosen.size(), a.cpus.size());
  for (size_t i = 0; i < placed; ++i) {
    a.cpus[i] = {chosen[i]};
    a.words += (i ? ", " : "on CPUs ") + std::to_string(chosen[i]);
  }
  if (placed) a.words += std::string(" (") + kVariable + ")";
  if (placed == a.cpus.size()) return a;
  const auto [cpus, words] = near(device, usable);
  std::fill(a.cpus.begin() + static_cast<int64_t>(placed), a.cpus.end(), cpus);
  a.words += placed ? "; the others " : "";
  a.words += cpus.empty() ? "on any CPU: " + words : "on CPUs " + in_words(cpus) + ", " + words;
  return a;
}

std::string in_words(const Cpus& cpus) {
  std::string s;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    s += (s.empty() ? "" : ", ") + std::to_string(cpus[i]);
    if (end - i > 1) s += "-" + std::to_string(cpus[end - 1]);
    i = end;
  }
  return s.empty() ? "none" : s;
}

}  // namespace stoker
