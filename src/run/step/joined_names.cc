// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/joined_names.h"

#include "run/step/samples.h"

namespace stoker {

namespace {

struct Names final : Provenance {
  std::vector<std::string> of;
  std::string name(int64_t index) const override { return of[static_cast<size_t>(index)]; }
};

}  // namespace

JoinedNames::JoinedNames(const Samples& samples, std::span<const int> sources)
    : samples_(samples), sources_(sources), made_of_(static_cast<size_t>(samples.size())) {}

std::string JoinedNames::name(int64_t i) const {
  std::string all;
  const auto add = [&](int source, int sample) {
    const std::string one = samples_.origins[sample][source].source();
    if (!one.empty()) all += (all.empty() ? "" : ";") + one;
  };
  if (const auto& samples = made_of_[static_cast<size_t>(i)])
    for (int sample : *samples) add(sources_[0], sample);
  else
    for (int source : sources_) add(source, static_cast<int>(i));
  return all;
}

std::shared_ptr<const Provenance> JoinedNames::kept() const {
  auto names = std::make_shared<Names>();
  names->of.resize(made_of_.size());
  for (int i : samples_.made()) names->of[static_cast<size_t>(i)] = name(i);
  return names;
}

}  // namespace stoker
