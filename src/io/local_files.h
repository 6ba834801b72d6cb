// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of this machine: the origin of all paths without a scheme (io/origin.h). Only this file
// opens files and folders to read them.
#pragma once
#include <initializer_list>

#include "io/origin.h"

namespace stoker::io {

const Origin& local_files();

// Replaces the file of this name by one with these bytes, one part behind the other. Nobody sees
// half of it, even where several write it at once. Returns whether it succeeded; if not, nothing
// has changed.
bool replace_file(const std::string& path, std::initializer_list<std::span<const uint8_t>> parts);

}  // namespace stoker::io
