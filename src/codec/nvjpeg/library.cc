// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace stoker::nvjpeg {

namespace {

constexpr const char* kVariable = "STOKER_NVJPEG";

std::string needed() { return "nvJPEG " + kOldest.str() + " or newer is needed"; }

std::vector<std::string> places(const std::vector<std::string>& folders,
                                const std::vector<std::string>& names) {
  if (const char* chosen = std::getenv(kVariable); chosen && *chosen) return {chosen};
  std::vector<std::string> all = names;
  for (const std::string& folder : folders) {
    all.push_back(folder + "/nvidia/cu13/lib/libnvjpeg.so.13");
    all.push_back(folder + "/nvidia/nvjpeg/lib/libnvjpeg.so.12");
  }
  return all;
}

}  // namespace

std::vector<std::string> system_names() { return {"libnvjpeg.so.13", "libnvjpeg.so.12"}; }

FoundLibrary take_library(const std::function<void*(const char*)>& symbol,
                          const std::string& place) {
  auto library = std::make_shared<Library>();
  library->place = place;
#define STOKER_NVJPEG_TAKE(member, name, parameters)                                      \
  library->call.member = reinterpret_cast<decltype(library->call.member)>(symbol(#name)); \
  if (!library->call.member) return {nullptr, place + " has no function " #name "; " + needed()};
  STOKER_NVJPEG_FUNCTIONS(STOKER_NVJPEG_TAKE)
#undef STOKER_NVJPEG_TAKE
  int* const parts[] = {&library->version.major, &library->version.minor, &library->version.patch};
  for (int i = 0; i < 3; ++i)
    if (library->call.get_property(i, parts[i]) != kSuccess)
      return {nullptr, place + " does not tell its version; " + needed()};
  if (library->version < kOldest)
    return {nullptr, place + " is nvJPEG " + library->version.str() + "; " + needed()};
  return {std::move(library), {}};
}

FoundLibrary open_library(const std::vector<std::string>& folders,
                          const std::vector<std::string>& names) {
  std::string looked, why;
  const std::vector<std::string> all = places(folders, names);
  for (const std::string& place : all) {
    if (void* open = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      FoundLibrary found = take_library([&](const char* name) { return dlsym(open, name); }, place);
      if (found.opened) return found;
      dlclose(open);
      why += (why.empty() ? "" : ". ") + found.missing;
    } else if (all.size() == 1) {
      return {nullptr, kVariable +
                           (" names a library that does not open: " + std::string(dlerror())) +
                           "; " + needed()};
    }
    looked += (looked.empty() ? "" : ", ") + place;
  }
  if (!why.empty()) return {nullptr, why};
  return {nullptr, "no nvJPEG was found (looked for " + looked + "; the environment variable " +
                       kVariable + " names another place); " + needed()};
}

}  // namespace stoker::nvjpeg
