// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Good and damaged files, as bytes and in a folder.
#pragma once
#include <filesystem>

#include "../dice.h"
#include "../trial.h"

namespace stoker::torture {

MadeFile draw_file(Dice& dice);

// Equal descriptions give equal bytes. A missing file has none.
std::vector<uint8_t> bytes_of(const MadeFile& file);

// A folder with the files of a trial, named by their numbers.
class Folder {
 public:
  explicit Folder(const std::vector<MadeFile>& files);
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stoker::torture
