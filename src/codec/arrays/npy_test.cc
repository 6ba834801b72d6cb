// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace stoker {
namespace {

std::vector<uint8_t> file_with(const std::string& dict, int version = 1) {
  std::string all = "\x93NUMPY";
  all += static_cast<char>(version);
  all += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) all += static_cast<char>(dict.size() >> (8 * i));
  all += dict;
  return {all.begin(), all.end()};
}

std::string error_of(const std::vector<uint8_t>& bytes) {
  try {
    read_npy_header(bytes);
  } catch (const SampleError& e) {
    return std::string(e.what()) + " @" + std::to_string(e.offset);
  }
  return "";
}

TEST(NpyHeader, IsRead) {
  const std::string dict = "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4), }   \n";
  for (const int version : {1, 2, 3}) {
    const auto bytes = file_with(dict, version);
    const NpyHeader h = read_npy_header(bytes);
    EXPECT_EQ(h.dtype, DType::kFloat32);
    EXPECT_EQ(h.shape, (Shape{3, 4}));
    EXPECT_TRUE(h.is_fortran);
    EXPECT_TRUE(h.is_swapped);
    EXPECT_EQ(h.data_at, bytes.size());
    EXPECT_EQ(h.data_bytes(), 48);
  }
  EXPECT_EQ(read_npy_header(file_with("{'shape':(),'fortran_order':False,'descr':'|b1'}")).shape,
            Shape());
}

TEST(NpyHeader, SaysWhatIsWrong) {
  const auto of = [](const char* shape, const char* descr = "'<i2'", const char* order = "False") {
    return error_of(file_with(std::string("{'descr': ") + descr + ", 'fortran_order': " + order +
                              ", 'shape': " + shape + "}"));
  };
  EXPECT_EQ(of("(1,)"), "");
  EXPECT_NE(of("(-1,)").find("an extent that is no whole number"), std::string::npos);
  EXPECT_NE(of("(1, 2, 3, 4, 5, 6, 7)").find("more than 6 axes"), std::string::npos);
  EXPECT_NE(of("(1099511627776, 9)").find("claims the shape"), std::string::npos);
  EXPECT_NE(of("(1").find("has no ')'"), std::string::npos);
  EXPECT_NE(of("(1,)", "'<c8'").find("has the dtype '<c8'"), std::string::npos);
  EXPECT_NE(of("(1,)", "[('a', '<i2')]").find("structured"), std::string::npos);
  EXPECT_NE(of("(1,)", "'<i2'", "None").find("neither True nor False"), std::string::npos);
  EXPECT_NE(error_of(file_with("{'shape': (1,)}")).find("lacks one of"), std::string::npos);
  EXPECT_NE(error_of(file_with("{'colour': 1}")).find("names 'colour'"), std::string::npos);
  EXPECT_NE(error_of(file_with("{}", 4)).find("version 4"), std::string::npos);
  EXPECT_NE(error_of({}).find("an empty file"), std::string::npos);
}

TEST(NpyHeader, SaysHowLongItIs) {
  const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}";
  for (const int version : {1, 2, 3}) {
    auto bytes = file_with(dict, version);
    EXPECT_EQ(npy_header_bytes(bytes), bytes.size());
    bytes.resize(12);
    EXPECT_EQ(npy_header_bytes(bytes), (version == 1 ? 10 : 12) + dict.size());
  }
  std::vector<uint8_t> large = file_with("", 2);
  large[11] = 0x7f;
  EXPECT_EQ(error_of(large), "the header of the NumPy array claims 2130706432 bytes @8");
  const std::string key(1000, 'k');
  EXPECT_LT(error_of(file_with("{'" + key + "': 1}")).size(), 150U);
}

TEST(NpyHeader, IsNotCutOff) {
  const auto whole = file_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<int64_t>(size));
    EXPECT_NE(error_of(cut), "") << size;
  }
}

}  // namespace
}  // namespace stoker
