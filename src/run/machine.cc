// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace stoker {

namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// The first number of a file; `otherwise` if there is no such file, or it says "max" or -1.
size_t number_in(const std::string& file, size_t otherwise) {
  int64_t number = 0;
  return std::ifstream(file) >> number && number >= 0 ? static_cast<size_t>(number) : otherwise;
}

// The number behind a word at the beginning of a line.
size_t number_behind(const std::string& word, const std::string& file, size_t otherwise) {
  std::ifstream lines(file);
  std::string first, rest;
  while (lines >> first && std::getline(lines, rest))
    if (first == word) return static_cast<size_t>(std::stoull(rest));
  return otherwise;
}

bool has(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

// The group of this process in the hierarchy of a controller; that of version 2 is "".
std::string group_for(const std::string& controller, const std::string& root) {
  std::ifstream lines(root + "/proc/self/cgroup");
  std::string number, controllers, group;
  while (std::getline(lines, number, ':') && std::getline(lines, controllers, ':') &&
         std::getline(lines, group))
    if (controller.empty() ? controllers.empty() : has(controllers, controller)) return group;
  return "";
}

// Which group a mount shows: without a namespace of its own, a container sees its own group.
std::string group_at(const std::string& mount, const std::string& root) {
  std::ifstream lines(root + "/proc/self/mountinfo");
  std::string line, found;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string number, parent, device, group, at;
    if (words >> number >> parent >> device >> group >> at && at == mount) found = group;
  }
  return found;
}

// The visible folders of this process's group and of the groups around it.
std::vector<std::string> folders(const std::string& controller, const std::string& mount,
                                 const std::string& root) {
  std::string group = group_for(controller, root);
  const std::string seen = group_at(mount, root);
  if (seen.size() > 1 && (group + "/").starts_with(seen + "/")) group.erase(0, seen.size());
  std::vector<std::string> all;
  for (; group.starts_with("/"); group.resize(group.rfind('/')))
    all.push_back(root + mount + group + "/");
  all.push_back(root + mount + "/");
  return all;
}

struct GroupMemory {
  size_t limit = kNoLimit, used = 0;
};

GroupMemory memory_of_2(const std::string& folder) {
  const size_t used = number_in(folder + "memory.current", 0);
  return {std::min(number_in(folder + "memory.max", kNoLimit),
                   number_in(folder + "memory.high", kNoLimit)),
          used - std::min(used, number_behind("inactive_file", folder + "memory.stat", 0))};
}

GroupMemory memory_of_1(const std::string& folder) {
  const std::string stat = folder + "memory.stat";
  const size_t used = number_in(folder + "memory.usage_in_bytes", 0);
  return {std::min(number_in(folder + "memory.limit_in_bytes", kNoLimit),
                   number_behind("hierarchical_memory_limit", stat, kNoLimit)),
          used - std::min(used, number_behind("total_inactive_file", stat, 0))};
}

std::vector<GroupMemory> memory_of_groups(const std::string& root) {
  std::vector<GroupMemory> all;
  for (const auto& folder : folders("", "/sys/fs/cgroup", root)) all.push_back(memory_of_2(folder));
  for (const auto& folder : folders("memory", "/sys/fs/cgroup/memory", root))
    all.push_back(memory_of_1(folder));
  return all;
}

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// How much more the process may map, as RLIMIT_AS and RLIMIT_DATA count it, by /proc/self/statm.
size_t room_of_process() {
  size_t least = kNoLimit;
  for (const auto& [resource, column] : {std::pair(RLIMIT_AS, 0), std::pair(RLIMIT_DATA, 5)}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    std::ifstream pages("/proc/self/statm");
    size_t used = 0;
    for (int i = 0; i <= column; ++i) pages >> used;
    least = std::min(least, limit.rlim_cur - std::min(limit.rlim_cur, used * page_bytes()));
  }
  return least;
}

// How many CPUs a group may keep busy, from its quota of time in each period.
double cpus_of(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

double cpus_of_2(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder + "cpu.max") >> quota >> period;  // "max" is no number
  return cpus_of(quota, period);
}

double cpus_of_1(const std::string& folder) {
  return cpus_of(static_cast<double>(number_in(folder + "cpu.cfs_quota_us", 0)),
                 static_cast<double>(number_in(folder + "cpu.cfs_period_us", 0)));
}

}  // namespace

size_t allowed_memory(const std::string& root) {
  const size_t machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  size_t least = std::min(machine, room_of_process());
  for (const GroupMemory& group : memory_of_groups(root)) least = std::min(least, group.limit);
  return least;
}

size_t free_memory(const std::string& root) {
  const size_t unused = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * page_bytes() >> 10;
  size_t least = number_behind("MemAvailable:", root + "/proc/meminfo", unused) << 10;
  least = std::min(least, room_of_process());
  for (const GroupMemory& group : memory_of_groups(root))
    least = std::min(least, group.limit - std::min(group.limit, group.used));
  return least;
}

int allowed_cpus(int usable, const std::string& root) {
  double most = usable;
  for (const auto& folder : folders("", "/sys/fs/cgroup", root))
    most = std::min(most, cpus_of_2(folder));
  for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"})
    for (const auto& folder : folders("cpu", mount, root)) most = std::min(most, cpus_of_1(folder));
  return std::max(1, static_cast<int>(std::ceil(most)));
}

}  // namespace stoker
