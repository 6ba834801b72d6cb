// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for nvJPEG over the stand-in for CUDA (device/cuda/fake_testing.h). It decodes with
// the CPU's codec, in the phases and with the objects of nvJPEG, and notes every use of them that
// nvJPEG would not forgive. It shows nothing about GPUs or nvJPEG's pixels. Any thread may call its
// functions; the record is for one thread at a time.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/nvjpeg/library.h"

namespace stoker::fake {

struct DecodedPicture {
  nvjpeg::Backend backend;
  nvjpeg::OutputFormat format;
  int x, y, width, height;  // the window; 0, 0, -1, -1: the whole picture
  int batch_size;  // of the call; 1 without the hardware engine
};

struct NvJpeg {
  int version[3] = {13, 3, 0};
  bool has_hardware = true;
  bool does_windows = true;
  std::set<std::string> absent;  // functions that the library lacks
  std::map<std::string, std::vector<int>> errors;  // by function: results of its next calls
  std::map<std::string, int> calls;
  std::map<nvjpeg::Backend, unsigned> flags;  // of the last instance
  std::vector<DecodedPicture> decoded;
  std::vector<std::string> misuse;
  std::map<void*, std::string> alive;  // objects and their kinds
  std::map<std::string, int> most;  // the most objects of a kind at once
};

NvJpeg& nvjpeg();
void reset_nvjpeg();
nvjpeg::FoundLibrary find_stand_in();

}  // namespace stoker::fake
