// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for NVML: a library of its own (stand_in_test.cc), which is found as the real one is.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "device/nvml/stand_in_objects.h"

namespace stoker::fake {

// While this object lives, STOKER_NVML names the stand-in.
class StandInNvml {
 public:
  StandInNvml() : library_(dlopen(STOKER_STAND_IN_NVML, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(dlerror());
    *told() = {};
    setenv("STOKER_NVML", STOKER_STAND_IN_NVML, 1);
  }
  ~StandInNvml() {
    unsetenv("STOKER_NVML");
    *told() = {};
  }
  StandInNvml(const StandInNvml&) = delete;
  StandInNvml& operator=(const StandInNvml&) = delete;

  Nvml* operator->() const { return told(); }
  void* symbol(const char* name) const { return dlsym(library_, name); }

 private:
  Nvml* told() const { return static_cast<Nvml*>(symbol("stoker_stand_in_nvml")); }

  void* library_;
};

}  // namespace stoker::fake
