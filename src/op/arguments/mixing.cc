// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/mixing.h"

#include <numeric>

#include "base/chance/beta.h"

namespace stoker {

std::vector<int64_t> permutation(Chance& chance, int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t k = n - 1; k > 0; --k)
    std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(chance.uniform_int(k + 1))]);
  return order;
}

// How many shares the mixed label has, -1 while that is not known. Throws WrongCall.
int64_t MixingArguments::class_count(const TensorType& label) const {
  const int64_t known = num_classes.value_or(-1);
  if (info(label.dtype).is_float) {
    if (label.shape.rank < 0) return known;
    require(label.shape.rank == 1 && (label.shape[0] < 0 || known < 0 || label.shape[0] == known),
            "input 'labels' has shares of the shape ", label.shape, ", expected ",
            known < 0 ? std::string("one axis") : "the shape " + Shape{known}.str());
    return known < 0 ? label.shape[0] : known;
  }
  require(num_classes.has_value(),
          "argument 'num_classes' is needed where labels are numbers of classes");
  bool is_one = true;
  for (int a = 0; a < label.shape.rank; ++a) is_one = is_one && std::abs(label.shape[a]) == 1;
  require(is_one, "input 'labels' has the shape ", label.shape, ", expected one number");
  return known;
}

void MixingArguments::check(Checker& c) const {
  c.out(c.in());
  c.out({DType::kFloat32, {}, {class_count(c.in(1))}});
}

void MixingArguments::infer_mixed(BatchInference& b) const {
  const TensorType& first = b.items[0].inputs[0];
  const int64_t count = class_count(b.items[0].inputs[1]);
  for (size_t i = 0; i < b.items.size(); ++i) {
    auto& item = b.items[i];
    require(item.inputs[0] == first, "sample ", i, " of the batch is ", item.inputs[0].str(),
            ", expected ", first.str(), " as sample 0: what is mixed needs one shape");
    const int64_t own = class_count(item.inputs[1]);
    require(own == count, "the label of sample ", i, " of the batch has ", own,
            " shares, expected ", count, " as sample 0");
    if (!info(item.inputs[1].dtype).is_float) {
      const double label = element(item.values[1], 0);
      require(label >= 0 && label < static_cast<double>(count), "the label of sample ", i,
              " of the batch is ", label, ", expected 0 to ", count - 1);
    }
    item.outputs = {item.inputs[0], {DType::kFloat32, {}, {count}}};
  }
}

std::vector<int64_t> MixingArguments::partners(std::span<const BatchItem> items) const {
  const auto n = static_cast<int64_t>(items.size());
  if (partner == Partner::kPermute) {
    Chance chance = shared_chance(items[0].chance, kOrderDraws);
    return permutation(chance, n);
  }
  std::vector<int64_t> all;
  for (int64_t i = 0; i < n; ++i)
    all.push_back(partner == Partner::kRoll ? (i + n - 1) % n : n - 1 - i);
  return all;
}

Chance MixingArguments::chance_of(std::span<const BatchItem> items, size_t i) const {
  return mode == ShareScope::kElem ? items[i].chance : shared_chance(items[0].chance, kSharedDraws);
}

double MixingArguments::draw_share(Chance& chance) const {
  const bool mixes = chance.flip(probability);
  return mixes && alpha > 0 ? beta_of(chance, alpha, alpha) : 1.0;
}

ClassShares MixingArguments::shares_of(const View& label) const {
  if (info(label.dtype).is_float) return {label.as<float>(), -1, 0, 0};
  const float off = label_smoothing / static_cast<float>(*num_classes);
  return {nullptr, static_cast<int64_t>(element(label, 0)), 1 - label_smoothing + off, off};
}

MixShares MixingArguments::mix_labels(std::span<const BatchItem> items, size_t i, size_t partner,
                                      float own) const {
  const View& out = items[i].outputs[1];
  return {shares_of(items[i].inputs[1]), shares_of(items[partner].inputs[1]), own, out.as<float>(),
          out.shape[0]};
}

}  // namespace stoker
