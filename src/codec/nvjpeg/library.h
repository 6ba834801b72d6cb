// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens nvJPEG where it is installed.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codec/nvjpeg/api.h"

namespace stoker::nvjpeg {

struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
  std::string str() const {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
};
inline constexpr Version kOldest{12, 1, 0};  // the first that upsamples chroma smoothly
// From this version on nvJPEG itself decodes windows with smooth upsampling. Before 13.2 (of CUDA
// 13.3) their border may differ from the whole picture. Crashes of 13.2 are reported
// (github.com/NVIDIA/nvImageCodec/issues/55), and it was not tried on a GPU.
inline constexpr Version kExactWindows{13, 3, 0};

struct Library {
  Functions call;
  Version version;
  std::string place;  // a file, or a name that the system found
};

struct FoundLibrary {
  std::shared_ptr<const Library> opened;
  // What is missing, with the places searched and the versions found and needed. "" if nothing is.
  std::string missing;
};

// Takes the functions of an open library. `symbol` gives an address or null.
FoundLibrary take_library(const std::function<void*(const char*)>& symbol,
                          const std::string& place);

std::vector<std::string> system_names();

// Opens the library that the environment variable STOKER_NVJPEG names. Without it, opens one of
// `names` as the system finds them, or as the Python packages nvidia-nvjpeg and nvidia-nvjpeg-cu12
// install them in one of `folders`. The library stays open.
FoundLibrary open_library(const std::vector<std::string>& folders,
                          const std::vector<std::string>& names = system_names());

}  // namespace stoker::nvjpeg
