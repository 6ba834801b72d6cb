// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of a scan without what keeps it free of markers.
#pragma once
#include <cstdint>

namespace stoker::jpeg {

inline constexpr int64_t kUnstuffSlack = 64;

struct Unstuffed {
  int64_t read, written;  // bytes
};

// Copies the data of a scan, without the 0 behind each FF. Stops before an FF with another byte or
// nothing behind it, and once `size` bytes were read or at least `room` written. Requires: `to` has
// room for kUnstuffSlack bytes more.
Unstuffed unstuff(const uint8_t* from, int64_t size, uint8_t* to, int64_t room);

// How many of the bytes are FF: as many zeros are behind them in the file, or were.
int64_t count_stuffed(const uint8_t* data, int64_t size);

}  // namespace stoker::jpeg
