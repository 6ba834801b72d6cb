// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Every file with Highway loops includes this first. The loops rely on vectors made of 128-bit
// blocks in order. Targets without such blocks (SVE, RVV) are left out; their CPUs run NEON or
// scalar code. SCALAR has one lane, so loops over pairs or blocks need a branch for it.
#pragma once
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
