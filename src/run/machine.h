// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What this process may take of a machine that it shares with others, as in a container. The limits
// are those of the machine, of the process, and of its control groups (version 1 and 2) with all
// groups around them. What is not told, and "max", is no limit. `root` is another folder only in
// tests.
#pragma once
#include <cstddef>
#include <string>

namespace stoker {

// Bytes of host memory that the process may hold; of its address space, what is not in use yet.
size_t allowed_memory(const std::string& root = "");
// Bytes of host memory that it may take besides what it holds. A group's cached files do not count
// as taken.
size_t free_memory(const std::string& root = "");
// How many of `usable` CPUs its control groups let it keep busy, at least 1.
int allowed_cpus(int usable, const std::string& root = "");

}  // namespace stoker
