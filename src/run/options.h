// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline's settings, described like an operator's arguments: each is a member and a row.
// Checks, the saved form, the plan in words, and Python's signature, docstring and stub follow from
// the rows.
#pragma once
#include <initializer_list>
#include <string_view>

#include "op/type_of.h"
#include "run/error_policy.h"
#include "run/memory_shares.h"

namespace stoker {

enum class ExecutorKind : uint8_t { kPipelined, kSimple };
template <>
struct EnumNames<ExecutorKind> {
  static constexpr const char* kType = "ExecutorKind";
  static constexpr const char* kNames[] = {"pipelined", "simple"};
};

// A help text of several parts.
struct HelpText {
  char text[512] = {};
  constexpr HelpText(std::initializer_list<std::string_view> parts) {
    size_t at = 0;
    for (const std::string_view part : parts)
      for (const char c : part) text[at++] = c;
  }
};
inline constexpr HelpText kMemoryLimitHelp{
    ("Bytes of host memory for batches, workers and reading ahead; 0 is half of what this process "
     "may take, by the machine, its control group and its own limits. A sample that needs more "
     "than "),
    MemoryShares::kScratch.words, " of it, or gives more than ", MemoryShares::kBatches.words,
    " of it, is a bad sample."};
inline constexpr HelpText kReadAheadLimitHelp{
    "Bytes of files read ahead, at most ", MemoryShares::kAhead.words,
    " of memory_limit; None is 16 MiB, some hundred pictures, for each of num_threads."};
inline constexpr HelpText kJpegIndexLimitHelp{
    "Bytes for what is known of JPEG files that were read, so that windows of them are decoded "
    "without the rows above; at most a quarter of ",
    MemoryShares::kAhead.words, " of memory_limit. 0: nothing is kept. Changes no byte."};

struct PipelineOptions {
  std::optional<int64_t> batch_size;
  std::optional<int> num_threads, device_id;
  bool set_affinity = false;
  std::optional<int64_t> seed;
  int prefetch_queue_depth = 2;
  OnError on_error = OnError::kRaise;
  int64_t memory_limit = 0, device_memory_limit = 0;
  std::optional<int64_t> read_ahead_limit;
  std::optional<int> io_threads;
  int64_t jpeg_index_limit = int64_t{64} << 20;
  ExecutorKind executor = ExecutorKind::kPipelined;
  int shard_id = 0, num_shards = 1;
  bool fuse = true, demand = true;

  ErrorPolicy error_policy() const { return {on_error}; }

  static constexpr auto settings = std::tuple(
      arg(&PipelineOptions::batch_size, "batch_size",
          "Samples in a batch; it must be given before the pipeline is built.",
          between(1, INT32_MAX)),
      arg(&PipelineOptions::num_threads, "num_threads",
          "CPU workers; None is one for each CPU that this process may keep busy, by its affinity "
          "and "
          "the quota of its control group.",
          between(1, 4096)),
      arg(&PipelineOptions::device_id, "device_id",
          "The GPU; None for a pipeline on the CPU alone, or for the first GPU.", at_least(0)),
      arg(&PipelineOptions::set_affinity, "set_affinity",
          "Whether the workers run on the CPUs near the GPU, as far as NVML tells them and this "
          "process may use them. DALI_AFFINITY_MASK=3,5 in the environment puts the first two "
          "workers on these CPUs. plan() says which they are, or what is missing."),
      arg(&PipelineOptions::seed, "seed",
          "Decides everything random; None draws a seed and keeps it in the state.", at_least(0)),
      arg(&PipelineOptions::prefetch_queue_depth, "prefetch_queue_depth",
          "Batches prepared ahead; with 0 each is made when it is asked for.", between(0, 10'000)),
      arg(&PipelineOptions::on_error, "on_error",
          "What a damaged sample does: 'raise' an error, 'skip' it (a shorter batch, and an error "
          "if no sample is left), 'drop' it (the same, but a batch without a sample is left out), "
          "or 'replace' it by another sample."),
      arg(&PipelineOptions::memory_limit, "memory_limit", kMemoryLimitHelp.text, at_least(0)),
      arg(&PipelineOptions::device_memory_limit, "device_memory_limit",
          "Bytes of the GPU's memory that steps and your batches hold; 0 is all of it. CUDA may "
          "map up to prefetch_queue_depth + 1 times as much before it reuses memory.",
          at_least(0)),
      arg(&PipelineOptions::read_ahead_limit, "read_ahead_limit", kReadAheadLimitHelp.text,
          at_least(0)),
      arg(&PipelineOptions::io_threads, "io_threads",
          "Threads that read ahead for each reader; None is 2.", between(1, 4096)),
      arg(&PipelineOptions::jpeg_index_limit, "jpeg_index_limit", kJpegIndexLimitHelp.text,
          at_least(0)),
      arg(&PipelineOptions::executor, "executor",
          "How the graph is run: 'simple' is one thread, no overlap and no rewrites, to compare "
          "'pipelined' against."),
      arg(&PipelineOptions::shard_id, "shard_id",
          "Which part of the samples a pipeline without a reader counts.", at_least(0)),
      arg(&PipelineOptions::num_shards, "num_shards",
          "How many parts the samples of a pipeline without a reader have.", at_least(1)),
      arg(&PipelineOptions::fuse, "fuse",
          "Whether operators in a row may run as one pass. Changes no byte."),
      arg(&PipelineOptions::demand, "demand",
          "Whether decoders may skip what no operator needs. Changes no byte."));
};

namespace detail {

struct AnyMember {
  template <class T>
  operator T() const;
};
template <class S, size_t... I>
constexpr bool can_hold(std::index_sequence<I...>) {
  return requires { S{(static_cast<void>(I), AnyMember{})...}; };
}
template <class S, size_t N = 0>
constexpr size_t member_count() {
  if constexpr (can_hold<S>(std::make_index_sequence<N + 1>())) return member_count<S, N + 1>();
  else return N;
}

template <class S, class Use>
void for_each_setting(Use use) {
  std::apply([&](const auto&... row) { (use(row), ...); }, S::settings);
}

}  // namespace detail

// These take any struct whose `settings` describe its members.

// Whether there are as many rows as members.
template <class S>
inline constexpr bool kAllDescribed =
    detail::member_count<S>() == std::tuple_size_v<decltype(S::settings)>;
static_assert(kAllDescribed<PipelineOptions>, "each setting is a member and a row");

template <class S>
std::vector<ArgumentInfo> describe_settings() {
  std::vector<ArgumentInfo> all;
  detail::for_each_setting<S>([&](const auto& row) { all.push_back(detail::info_of(S{}, row)); });
  return all;
}

// Sets what is given, and ignores other names. Throws GraphError that names the wrong setting.
template <class S>
void set_settings(S& settings, const Arguments& given) {
  try {
    detail::for_each_setting<S>(
        [&](const auto& row) { detail::set_constant(settings, row, given); });
  } catch (const GraphError& e) {
    throw_like<GraphError>(e, std::string("Pipeline: ") + e.what());
  }
}

template <class S>
Arguments values_of(const S& settings) {
  Arguments values;
  detail::for_each_setting<S>(
      [&](const auto& row) { values[row.name] = to_value(settings.*row.member); });
  return values;
}

template <class S>
void check_settings(const S& settings) {
  S checked;
  set_settings(checked, values_of(settings));
}

// The settings that differ from their defaults: "batch_size=4, seed=7".
template <class S>
std::string settings_in_words(const S& settings) {
  std::string words;
  detail::for_each_setting<S>([&](const auto& row) {
    const Value value = to_value(settings.*row.member);
    if (value != to_value(S{}.*row.member))
      words += (words.empty() ? "" : ", ") + std::string(row.name) + "=" + to_string(value);
  });
  return words;
}

// Throws GraphError that names settings that are wrong or contradict each other.
inline void check_options(const PipelineOptions& options) {
  check_settings(options);
  if (options.shard_id >= options.num_shards)
    throw GraphError("Pipeline: shard_id is " + std::to_string(options.shard_id) +
                     ", but there are num_shards=" + std::to_string(options.num_shards));
}

}  // namespace stoker
