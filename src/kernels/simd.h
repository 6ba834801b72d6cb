// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What every file with Highway loops includes first. Our loops rely on vectors being 128-bit blocks
// in order, so targets that are not made of blocks (SVE, RVV) are left out and those CPUs run NEON
// or scalar code. SCALAR has one lane: loops over pairs or blocks need a branch for it.
#pragma once
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
