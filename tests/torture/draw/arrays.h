// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays to feed: every dtype and layout, extents of 0 and 1, odd numbers, odd places in memory.
#pragma once
#include "../dice.h"
#include "../trial.h"
#include "run/feed/feed.h"

namespace stoker::torture {

// The extents of an axis of this letter that are drawn: mostly small ones, now and then 0 or 1.
int64_t draw_extent(Dice& dice, char letter);
DType draw_dtype(Dice& dice);
// Feeds of this dtype and layout; a layout that is not known gets any number of axes.
Fed draw_fed(Dice& dice, DType dtype, Layout layout);

// The array for one sample, of all that are ever fed to this input.
struct FedArray {
  View view;
  std::shared_ptr<std::vector<std::byte>> owner;
};
FedArray make_array(const Fed& fed, const std::vector<MadeFile>& files, int64_t number);

}  // namespace stoker::torture
