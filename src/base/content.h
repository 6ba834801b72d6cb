// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Says in words what some bytes are, for the error about a file that is none of what was expected.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace stoker {

// "an empty file", "a PNG image", "text that begins with \"<html>\"", "bytes 00 01 02 ...". One
// line, printable ASCII.
std::string describe_content(std::span<const uint8_t> bytes);

}  // namespace stoker
