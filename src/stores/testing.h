// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests only: real files of stores, and what is known to be in them.
#pragma once
#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/test_data.h"
#include "base/testing.h"
#include "stores/ranges.h"

namespace stoker::stores {

using Json = simdjson::dom::element;

// A folder of stores of one kind, with its expected.json. `there`: whether there is such data; if
// not, the test is skipped.
class Expected {
 public:
  explicit Expected(const std::string& folder)
      : folder_(test::test_data() / "containers" / folder),
        is_available_(std::filesystem::exists(folder_ / "expected.json")) {
    if (is_available_) json_ = parser_.load((folder_ / "expected.json").string());
  }
  bool is_available() const { return is_available_; }
  Json json() const { return json_; }
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  Json set(std::string_view name) const {
    for (const Json s : json_["sets"].get_array())
      if (s["name"].get_string().value() == name) return s;
    throw std::runtime_error("no such set");
  }

 private:
  std::filesystem::path folder_;
  bool is_available_;
  simdjson::dom::parser parser_;
  Json json_;
};

inline std::string text_of(Json json) { return std::string(json.get_string().value()); }
inline std::string text_of(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

inline std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}
inline std::string read_text(const std::string& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}
inline ByteSpan part(const std::vector<uint8_t>& file, RecordPlace p) {
  return ByteSpan(file).subspan(static_cast<size_t>(p.offset), static_cast<size_t>(p.size));
}
inline ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string sha256(ByteSpan bytes) {
  std::array<uint32_t, 64> k{};
  std::array<uint32_t, 8> h{};
  // The constants are the fractions of the roots of the first primes.
  size_t n = 0;
  for (uint32_t p = 2; n < k.size(); ++p) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
    if (!prime) continue;
    const auto fraction = [](long double root) {
      return static_cast<uint32_t>((root - static_cast<uint64_t>(root)) * 4294967296.0L);
    };
    if (n < h.size()) h[n] = fraction(std::sqrt(static_cast<long double>(p)));
    k[n++] = fraction(std::cbrt(static_cast<long double>(p)));
  }
  std::vector<uint8_t> all(bytes.begin(), bytes.end());
  all.push_back(0x80);
  while (all.size() % 64 != 56) all.push_back(0);
  for (int i = 7; i >= 0; --i)
    all.push_back(static_cast<uint8_t>((uint64_t{bytes.size()} * 8) >> (8 * i)));
  for (size_t at = 0; at < all.size(); at += 64) {
    std::array<uint32_t, 64> w{};
    for (size_t i = 0; i < 16; ++i) w[i] = number_at<uint32_t>(all, at + 4 * i, ByteOrder::kBig);
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    std::array<uint32_t, 8> s = h;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t e = s[4], a = s[0];
      const uint32_t one = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
      const uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                           ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      s = {one + two, s[0], s[1], s[2], s[3] + one, s[4], s[5], s[6]};
    }
    for (size_t i = 0; i < h.size(); ++i) h[i] += s[i];
  }
  std::string text;
  for (const uint32_t word : h) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", word);
    text += digits;
  }
  return text;
}

}  // namespace stoker::stores
