// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/record_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing.h"
#include "io/local_files.h"

namespace stoker::stores {
namespace {

TEST(RecordFiles, PlacesOutsideOfTheFileAreRefused) {
  const std::string path = testing::TempDir() + "/record_files_test";
  const std::vector<uint8_t> bytes(100);
  ASSERT_TRUE(io::replace_file(path, {bytes}));
  RecordFiles files;
  files.add(path, std::make_shared<const io::RecordTable>(std::vector<io::RecordPlace>{
                      {0, 100}, {100, 0}, {90, 11}, {101, 0}, {-1, 5}, {5, -1}, {8, INT64_MAX}}));
  EXPECT_EQ(files.extent(0).length, 100);
  EXPECT_EQ(files.extent(1).offset, 100);
  for (int64_t i = 2; i < files.size(); ++i)
    EXPECT_NE(message<SampleError>([&] { (void)files.extent(i); }).find("the file has 100 bytes"),
              std::string::npos)
        << i;
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace stoker::stores
