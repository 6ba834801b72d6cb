// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What mixup and cutmix share: arguments, rules, partners, shares and labels.
#pragma once
#include <vector>

#include "kernels/elements/mixing.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

enum class ShareScope : uint8_t { kBatch, kElem };
template <>
struct EnumNames<ShareScope> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"batch", "elem"};
};
enum class Partner : uint8_t { kRoll, kFlip, kPermute };
template <>
struct EnumNames<Partner> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"roll", "flip", "permute"};
};

// What concerns the whole batch draws from its first sample, from a place on that the draws for the
// sample itself do not reach.
inline constexpr uint64_t kSharedDraws = uint64_t{1} << 40, kOrderDraws = uint64_t{1} << 41;
inline Chance shared_chance(const Chance& first, uint64_t from) {
  Chance c = first;
  c.seek(from);
  return c;
}

// A permutation of n numbers, all equally likely (Fisher and Yates). Takes 2 (n - 1) draws.
std::vector<int64_t> permutation(Chance& chance, int64_t n);

struct MixingArguments {
  float alpha = 1, probability = 1, label_smoothing = 0;
  std::optional<int> num_classes;
  ShareScope mode = ShareScope::kBatch;
  Partner partner = Partner::kRoll;

  // Checks the types. Throws WrongCall.
  void check(Checker& c) const;
  // By sample: the number of its partner.
  std::vector<int64_t> partners(std::span<const BatchItem> items) const;
  // Where sample i draws from: its own place, or that of the batch.
  Chance chance_of(std::span<const BatchItem> items, size_t i) const;
  // The next draw of a share: 1, with which nothing is mixed, except with `probability`.
  double draw_share(Chance& chance) const;
  // The mixture of the labels of item i, whose data is on the host, and of its partner.
  MixShares mix_labels(std::span<const BatchItem> items, size_t i, size_t partner, float own) const;

 protected:
  // Sets the types of all outputs and checks values. Throws WrongCall.
  void infer_mixed(BatchInference& b) const;

 private:
  int64_t class_count(const TensorType& label) const;
  ClassShares shares_of(const View& label) const;
};

inline constexpr Port kMixedLabelsPort = {
    .name = "labels",
    .help = "The number of the class, or the shares of all classes. It is read on the host.",
    .dtypes = "int32, int64, uint8, int8, uint16, int16, uint32, uint64, float32",
    .is_value = true};
inline constexpr Port kMixedLabelsOutput = {
    .name = "mixed_labels", .help = "The shares of the classes, float32 of shape (num_classes)."};
inline constexpr auto kMixingArguments = std::tuple{
    arg(&MixingArguments::alpha, "alpha",
        "The share of the sample itself is drawn from the beta distribution with this number as "
        "both parameters. 0: nothing is mixed.",
        between(0, 1e6)),
    arg(&MixingArguments::num_classes, "num_classes",
        "How many classes there are. It is needed where labels are numbers of classes.",
        between(1, 1 << 30)),
    arg(&MixingArguments::label_smoothing, "label_smoothing",
        "The share that is taken from the class of a label and dealt equally to all classes. No "
        "effect on labels that are shares.",
        between(0, 1)),
    arg(&MixingArguments::probability, "probability", "How likely it is that anything is mixed.",
        between(0, 1)),
    arg(&MixingArguments::mode, "mode",
        "Whether a batch ('batch') or each sample ('elem') has draws of its own."),
    arg(&MixingArguments::partner, "partner",
        "What a sample is mixed with: the one before it ('roll'), the one at its place from the "
        "end ('flip'), or that of a random permutation ('permute')."),
};

}  // namespace stoker
