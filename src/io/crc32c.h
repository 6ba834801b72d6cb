// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The checksum CRC-32C, by the CPU's instruction where it has one.
#pragma once
#include <cstdint>
#include <span>

namespace stoker::io {

uint32_t crc32c(std::span<const uint8_t> bytes);

namespace detail {
// The same without the instruction: for CPUs that lack it, and for the test.
uint32_t crc32c_by_tables(std::span<const uint8_t> bytes);
}  // namespace detail

}  // namespace stoker::io
