// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What all readers share: shuffling, shards and how an epoch ends.
#pragma once
#include <array>
#include <optional>

#include "io/order/order.h"
#include "op/context.h"
#include "op/schema.h"

namespace stoker {

template <>
struct EnumNames<io::OrderSpec::EpochEnd> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"continue", "pad", "drop"};
};

// See Note [Shuffling by blocks] (io/order/order.h).
enum class ShuffleBy : uint8_t { kSample, kBlock };

template <>
struct EnumNames<ShuffleBy> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"sample", "block"};
};

struct ReaderArguments {
  bool random_shuffle = false, shuffle_after_epoch = false;
  int64_t seed = -1;
  std::optional<int64_t> shuffle_after_epoch_seed = {};
  int shard_id = 0, num_shards = 1;
  bool stick_to_shard = false, pad_last_batch = false;
  std::optional<io::OrderSpec::EpochEnd> epoch_end = {};
  std::optional<ShuffleBy> shuffle_by = {};
  int64_t initial_fill = 1024;
};
inline constexpr auto kReaderArguments = std::tuple{
    arg(&ReaderArguments::random_shuffle, "random_shuffle",
        "Deliver every epoch in a new random order of the whole set, each sample once."),
    arg(&ReaderArguments::shuffle_after_epoch, "shuffle_after_epoch",
        "The same as random_shuffle. Excludes random_shuffle and stick_to_shard."),
    arg(&ReaderArguments::seed, "seed",
        "Key of the random order, equal on all shards. -1 stands for shuffle_after_epoch_seed or "
        "else a fixed key. The pipeline's seed has no influence.",
        at_least(-1)),
    arg(&ReaderArguments::shuffle_after_epoch_seed, "shuffle_after_epoch_seed",
        "Key of the random order where seed is -1."),
    arg(&ReaderArguments::shard_id, "shard_id",
        "Which part of the set this reader starts with, below num_shards. In Python also 'auto': "
        "the rank that the launcher gave this process.",
        at_least(0)),
    arg(&ReaderArguments::num_shards, "num_shards",
        "The number of parts that the set is cut into. In Python also 'auto': the launcher's world "
        "size.",
        at_least(1)),
    arg(&ReaderArguments::stick_to_shard, "stick_to_shard", "Read the same part in every epoch."),
    arg(&ReaderArguments::pad_last_batch, "pad_last_batch",
        "Fill up the last batch of an epoch, on all shards alike, by repeating the last sample. "
        "The same as epoch_end='pad'."),
    arg(&ReaderArguments::epoch_end, "epoch_end",
        "What happens to the last batch of an epoch if it is not full. 'continue' (default): the "
        "next epoch's first samples fill it up; 'pad': repetitions of the last sample do; 'drop': "
        "it is left out."),
    arg(&ReaderArguments::shuffle_by, "shuffle_by",
        "How samples are shuffled. 'sample': all of them as one; 'block': blocks are, and then the "
        "samples in windows of initial_fill. Default: 'block' where a sample cannot be had without "
        "loading a block, as in compressed archives, else 'sample'. Both are exact: every sample "
        "comes once, and a state goes on at any position."),
    arg(&ReaderArguments::initial_fill, "initial_fill",
        "With shuffle_by='block': the number of samples that are shuffled together.", at_least(1)),
};

// Accepted without effect: samples are always read ahead, within the pipeline's memory limit.
inline constexpr std::array kIgnoredReaderArguments = {"prefetch_queue_depth", "read_ahead",
                                                       "dont_use_mmap",        "lazy_init",
                                                       "skip_cached_images",   "tensor_init_bytes"};

// Throws WrongCall when arguments exclude each other.
void check_reader(const ReaderArguments& a);

// The order without batch_size, which is the pipeline's.
io::OrderSpec order_of(const ReaderArguments& a, const SampleStore& store);
// The order of `size` samples without blocks.
io::OrderSpec order_of(const ReaderArguments& a, int64_t size);

}  // namespace stoker
