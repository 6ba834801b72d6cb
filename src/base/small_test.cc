// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/small.h"

#include <gtest/gtest.h>

#include <numeric>

namespace stoker {
namespace {

using List = Small<int, 4>;

List counted(int n) {
  std::vector<int> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  List list;
  list.assign(numbers.begin(), numbers.end());
  return list;
}

const int* place(const List& list) { return list.data(); }

TEST(Small, HoldsWhatIsAdded) {
  for (const int n : {0, 1, 4, 5, 100}) {
    const List list = counted(n);
    EXPECT_EQ(list.size(), static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) EXPECT_EQ(list[static_cast<size_t>(i)], i);
  }
}

TEST(Small, CopiesShareALongList) {
  const List list = counted(100), copy = list;
  EXPECT_EQ(place(copy), place(list));
  const List few = counted(4), own = few;
  EXPECT_NE(place(own), place(few));
  EXPECT_EQ(own, few);
}

TEST(Small, AChangeIsSeenByNoOtherCopy) {
  const List list = counted(5);
  List longer = list, other = list, none = list;
  longer.push_back(5);
  other[0] = 7;
  none.clear();
  EXPECT_EQ(list, counted(5));
  EXPECT_EQ(longer, counted(6));
  EXPECT_EQ(other[0], 7);
  EXPECT_TRUE(none.empty());
  none.push_back(3);
  EXPECT_EQ(none, List{3});
}

TEST(Small, WhoHoldsAListAloneChangesItInPlace) {
  List list = counted(5);
  const int* before = place(list);
  list[4] = 9;
  EXPECT_EQ(place(list), before);
}

}  // namespace
}  // namespace stoker
