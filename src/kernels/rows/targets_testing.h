// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests and benchmarks: makes kernels use certain instructions.
#pragma once
// clang-format off: simd.h chooses the targets, so it comes first.
#include "kernels/simd.h"
#include <hwy/targets.h>
// clang-format on

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/rows/gather.h"
#include "kernels/rows/line.h"

namespace stoker::test {

struct Instructions {
  int64_t target;
  bool vnni;  // where the target and the CPU have VNNI and VBMI, they are used

  std::string name() const {
    return hwy::TargetName(target) + std::string(vnni ? "" : "_without_VNNI");
  }
};

inline std::vector<Instructions> all_instructions() {
  std::vector<Instructions> all;
  for (int64_t t : hwy::SupportedAndGeneratedTargets()) {
    all.push_back({t, true});
    if (HWY_ARCH_X86 && t <= HWY_AVX3) all.push_back({t, false});
  }
  return all;
}

// Kernels use these instructions while the object lives.
class Forced {
 public:
  explicit Forced(const Instructions& i)
      : had_vnni_(rows::set_vnni_for_test(i.vnni)), had_vbmi_(rows::set_vbmi_for_test(i.vnni)) {
    hwy::SetSupportedTargetsForTest(i.target);
    if (!had_vnni_) rows::set_vnni_for_test(false);
    if (!had_vbmi_) rows::set_vbmi_for_test(false);
  }
  ~Forced() {
    rows::set_vnni_for_test(had_vnni_);
    rows::set_vbmi_for_test(had_vbmi_);
    hwy::SetSupportedTargetsForTest(0);
  }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  bool had_vnni_, had_vbmi_;
};

}  // namespace stoker::test
