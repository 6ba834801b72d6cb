// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy_window.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace stoker {
namespace {

// The window as it is gathered from the runs of a file whose element number i has the value i.
std::vector<int32_t> gathered(const NpyHeader& h, const Window& w, int64_t* bytes) {
  const NpyWindow window(h, w);
  std::vector<int32_t> all(static_cast<size_t>(window.runs() * window.run_bytes() / 4));
  auto* data = reinterpret_cast<uint8_t*>(all.data());
  for (int64_t i = 0; i < window.runs(); ++i)
    for (int64_t b = 0; b < window.run_bytes(); b += 4) {
      const int64_t at = window.offset(i) + b - static_cast<int64_t>(h.data_at);
      EXPECT_EQ(at % 4, 0);
      EXPECT_LT(at, h.data_bytes());
      const auto value = static_cast<uint32_t>(at / 4);
      const uint32_t stored = h.is_swapped ? __builtin_bswap32(value) : value;
      std::memcpy(data + i * window.run_bytes() + b, &stored, 4);
    }
  *bytes = window.runs() * window.run_bytes();
  const View v = window.view(data);
  std::vector<int32_t> found;
  for (int64_t i = 0; i < v.shape[0]; ++i)
    for (int64_t j = 0; j < v.shape[1]; ++j)
      for (int64_t k = 0; k < v.shape[2]; ++k) {
        int32_t value = 0;
        std::memcpy(
            &value,
            static_cast<uint8_t*>(v.data) + i * v.strides[0] + j * v.strides[1] + k * v.strides[2],
            4);
        found.push_back(value);
      }
  return found;
}

TEST(NpyWindow, HoldsTheWindowAndLittleMore) {
  for (const bool is_fortran : {false, true})
    for (const bool is_swapped : {false, true})
      for (const Shape& shape : {Shape{3, 5, 7}, Shape{40, 90, 100}, Shape{6, 3, 9000}}) {
        const NpyHeader h{DType::kInt32, shape, is_fortran, is_swapped, 128};
        for (const Window& w :
             {Window::all(shape), Window{{1, 1, 2}, {3, 2, 5}}, Window{{0, 2, 6}, {1, 3, 7}}}) {
          int64_t bytes = 0;
          const std::vector<int32_t> found = gathered(h, w, &bytes);
          size_t n = 0;
          for (int64_t i = w.begin[0]; i < w.end[0]; ++i)
            for (int64_t j = w.begin[1]; j < w.end[1]; ++j)
              for (int64_t k = w.begin[2]; k < w.end[2]; ++k) {
                const int64_t number = is_fortran ? (k * shape[1] + j) * shape[0] + i
                                                  : (i * shape[1] + j) * shape[2] + k;
                ASSERT_EQ(found.at(n++), number);
              }
          // One gap for each pair of neighbours at most.
          EXPECT_LE(bytes, (w.shape().volume()) * (4 + (16 << 10)));
          EXPECT_LE(bytes, h.data_bytes());
        }
      }
  const NpyHeader volume{DType::kInt32, {100, 200, 300}, false, false, 128};
  const NpyWindow window(volume, {{10, 20, 30}, {12, 22, 32}});
  EXPECT_EQ(window.runs(), 2);  // a row of the volume is no gap, and a slice is one
  EXPECT_EQ(window.run_bytes(), 4 * (300 + 2));
}

}  // namespace
}  // namespace stoker
