// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Sees to it that the engine uses whatever an operator's struct has for it. The engine finds
// members by their names (op/type_of.h). One that is private or takes other parameters would be
// passed over in silence: the operator would decode everything, or lose its GPU half.
#pragma once
#include "op/operator_type.h"

namespace stoker::detail {

// The names that mean something. tools/check_operators.py reads them, and refuses similar ones.
struct Names {
  int check, prepare, agree, cases, schema;
  int lower, lowers, infer, demand, run_cpu, run_gpu, request;
  int infer_batch, run_batch, sees_batch, joined;
  int truth, upgrade, class_rule, take_classes;
  int open, order, read;
  int kClasses, kVersion, kRandom, kDrawsAs, kIgnored, kOfDevices, kRowRoom, kSkip;
  int kAlias, kInput, kMerge, kUserCode;
};

// Has every name of Op and of Names. A name of both is ambiguous, whatever it stands for.
template <class Op>
struct Both : Op, Names {};

// The right form of each function.
template <class Op>
struct Has {
  using Types = std::span<const TensorType>;
  using Items = std::span<const Op* const>;
  static constexpr bool check = requires(const Op& o, Checker& c) { o.check(c); };
  static constexpr bool prepare = requires(Op& o) { o.prepare(); };
  static constexpr bool agree =
      requires(std::span<Op* const> ops, const TensorType& in) { Op::agree(ops, in); };
  static constexpr bool cases = requires { std::vector<Case>(Op::cases()); };
  static constexpr bool lower = requires(const Op& o, Lowering& l) { o.lower(l); };
  static constexpr bool lowers = requires(const Op& o, Types in) { bool{o.lowers(in)}; };
  static constexpr bool infer = requires(const Op& o, Inference& i) { o.infer(i); };
  static constexpr bool demand = requires(const Op& o, Demand& d) { o.demand(d); };
  static constexpr bool run_cpu = requires(const Op& o, Run& r) { o.run_cpu(r); };
  static constexpr bool run_gpu = requires(GpuRun& r, Items ops) { Op::run_gpu(r, ops); };
  static constexpr bool request =
      requires(const Op& o, const Asking& a) { std::optional<DecodeRequest>(o.request(a)); };
  static constexpr bool infer_batch =
      requires(BatchInference& b, Items ops) { Op::infer_batch(b, ops); };
  static constexpr bool run_batch = requires(BatchRun& r, Items ops) { Op::run_batch(r, ops); };
  static constexpr bool sees_batch = requires(const Op& o) { bool{o.sees_batch()}; } ||
                                     requires(const Op& o, Types in) { bool{o.sees_batch(in)}; };
  static constexpr bool joined =
      requires(const Op& o, size_t i) { std::optional<std::vector<int>>(o.joined(i, i)); };
  static constexpr bool class_rule = requires(const Op& o) { Classes{o.class_rule()}; };
  static constexpr bool take_classes = requires(Op& o, const Checker& c) { o.take_classes(c); };
  static constexpr bool truth = requires(const Op& o) { std::optional<bool>(o.truth()); };
  static constexpr bool open = requires(const Op& o) { std::unique_ptr<SampleStore>(o.open()); };
  static constexpr bool order =
      requires(const Op& o, const SampleStore& s) { io::OrderSpec(o.order(s)); };
  static constexpr bool read = requires(const Op& o, Reading& r) { o.read(r); };
};

// Checks that each name that is there has its right form.
template <class Op>
constexpr void check_forms() {
  using B = Both<Op>;
  using H = Has<Op>;
  static_assert(requires { &B::check; } || H::check, "check is public, const, takes (Checker&)");
  static_assert(requires { &B::prepare; } || H::prepare, "prepare is public and takes ()");
  static_assert(
      requires { &B::agree; } || H::agree,
      "agree is public, static, takes (std::span<Op* const>, const TensorType&)");
  static_assert(
      requires { &B::cases; } || H::cases, "cases is public, static, gives std::vector<Case>");
  static_assert(requires { &B::lower; } || H::lower, "lower is public, const, takes (Lowering&)");
  static_assert(
      requires { &B::lowers; } || H::lowers,
      "lowers is public, const, takes (std::span<const TensorType>), gives bool");
  static_assert(requires { &B::infer; } || H::infer, "infer is public, const, takes (Inference&)");
  static_assert(requires { &B::demand; } || H::demand, "demand is public, const, takes (Demand&)");
  static_assert(requires { &B::run_cpu; } || H::run_cpu, "run_cpu is public, const, takes (Run&)");
  static_assert(
      requires { &B::run_gpu; } || H::run_gpu,
      "run_gpu is public, static, takes (GpuRun&, std::span<const Op* const>)");
  static_assert(
      requires { &B::request; } || H::request,
      "request is public, const, takes (const Asking&), gives "
      "std::optional<DecodeRequest>");
  static_assert(
      requires { &B::infer_batch; } || H::infer_batch,
      "infer_batch is public, static, takes (BatchInference&, "
      "std::span<const Op* const>)");
  static_assert(
      requires { &B::run_batch; } || H::run_batch,
      "run_batch is public, static, takes (BatchRun&, std::span<const Op* const>)");
  static_assert(
      requires { &B::sees_batch; } || H::sees_batch,
      "sees_batch is public, const, takes () or (std::span<const TensorType>), gives "
      "bool");
  static_assert(
      requires { &B::joined; } || H::joined,
      "joined is public, const, takes (), gives std::optional<std::vector<int>>");
  static_assert(
      requires { &B::class_rule; } || H::class_rule,
      "class_rule is public, const, takes (), gives Classes");
  static_assert(
      requires { &B::take_classes; } || H::take_classes,
      "take_classes is public and takes (const Checker&)");
  static_assert(
      requires { &B::truth; } || H::truth,
      "truth is public, const, takes (), gives std::optional<bool>");
  static_assert(
      requires { &B::upgrade; } || requires(OperatorType t) { t.upgrade = &Op::upgrade; },
      "upgrade is public, static, and as OperatorType::upgrade");
  static_assert(
      requires { &B::open; } || H::open,
      "open is public, const, takes (), gives std::unique_ptr<SampleStore>");
  static_assert(
      requires { &B::order; } || H::order,
      "order is public, const, takes (const SampleStore&), gives io::OrderSpec");
  static_assert(requires { &B::read; } || H::read, "read is public, const, takes (Reading&)");
}

// Checks that each constant that is there can be used.
template <class Op>
constexpr void check_constants() {
  using B = Both<Op>;
  static_assert(
      requires { &B::kClasses; } || requires { Classes{Op::kClasses}; },
      "kClasses is public and of Classes");
  static_assert(
      requires { &B::kVersion; } || requires { int{Op::kVersion}; },
      "kVersion is public and an int");
  static_assert(
      requires { &B::kRandom; } || requires { bool{Op::kRandom}; }, "kRandom is public and a bool");
  static_assert(
      requires { &B::kDrawsAs; } || requires { std::string(Op::kDrawsAs); },
      "kDrawsAs is public and a text");
  static_assert(
      requires { &B::kSkip; } || requires { std::string(Op::kSkip); },
      "kSkip is public and a text");
  static_assert(
      requires { &B::kIgnored; } || requires { std::string(*std::begin(Op::kIgnored)); },
      "kIgnored is public and a list of texts");
  static_assert(
      requires { &B::kOfDevices; } || requires { std::string(*std::begin(Op::kOfDevices)); },
      "kOfDevices is public and a list of texts");
  static_assert(
      requires { &B::kRowRoom; } || requires { int64_t{Op::kRowRoom}; },
      "kRowRoom is public and an int64_t");
  static_assert(
      requires { &B::kAlias; } || requires { bool{Op::kAlias}; }, "kAlias is public and a bool");
  static_assert(
      requires { &B::kInput; } || requires { bool{Op::kInput}; }, "kInput is public and a bool");
  static_assert(
      requires { &B::kMerge; } || requires { bool{Op::kMerge}; }, "kMerge is public and a bool");
  static_assert(
      requires { &B::kUserCode; } || requires { bool{Op::kUserCode}; },
      "kUserCode is public and a bool");
}

// Some functions are only asked for beside others: checks that these are there.
template <class Op>
constexpr void check_company() {
  using H = Has<Op>;
  constexpr bool by_sample = H::run_cpu && H::infer;
  constexpr bool by_batch = H::run_batch && H::infer_batch;
  constexpr bool is_alias = requires { Op::kAlias; };
  static_assert(!H::lowers || H::lower, "lowers stands beside lower");
  static_assert(!H::demand || by_sample, "demand stands beside infer and run_cpu");
  static_assert(!H::infer || H::run_cpu || is_alias, "infer stands beside run_cpu or kAlias");
  static_assert(!H::request || by_sample, "request stands beside infer and run_cpu");
  static_assert(!H::run_gpu || by_sample || by_batch,
                "run_gpu stands beside infer and run_cpu, or infer_batch and run_batch");
  static_assert(H::infer_batch == H::run_batch, "infer_batch and run_batch stand together");
  static_assert(!H::sees_batch || by_batch, "sees_batch stands beside infer_batch and run_batch");
  static_assert(H::open == H::order, "open and order stand together");
  static_assert(!H::read || H::open, "read stands beside open and order");
}

template <class Op>
constexpr void check_names() {
  check_forms<Op>();
  check_constants<Op>();
  check_company<Op>();
}

}  // namespace stoker::detail
