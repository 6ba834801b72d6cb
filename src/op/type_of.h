// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "kernels/strided_copy.h"
#include "op/operator_type.h"
#include "op/rules.h"
#include "op/struct_names.h"

namespace stoker {

namespace detail {

[[noreturn]] void unknown_argument(const OperatorType& type, const std::string& name);
[[noreturn]] void missing_argument(const char* name);
[[noreturn]] void out_of_range(const Range& range, const Value& v);

template <class T>
void check_ranges(const Range& range, const T& x) {
  if constexpr (kIsOptional<T>) {
    if (x) check_ranges(range, *x);
  } else if constexpr (std::is_arithmetic_v<T>) {
    const auto v = static_cast<double>(x);
    if (!(v >= range.low && v <= range.high)) out_of_range(range, to_value(x));
  } else if constexpr (kIsSmall<T> || kIsShaped<T>) {
    for (auto e : x) check_ranges(range, e);
  }
}

template <class T>
void set_value(const char* name, const Range& range, const Value& v, T& x) {
  try {
    from_value(v, x);
    check_ranges(range, x);
  } catch (const GraphError& e) {
    throw_like<GraphError>(e, std::string("argument '") + name + "' " + e.what());
  }
}

template <class Op, class A>
void set_constant(Op& op, const A& a, const Arguments& arguments) {
  auto it = arguments.find(a.name);
  const bool required = is_required(a.per);
  if (it == arguments.end() || (required && std::holds_alternative<std::monostate>(it->second))) {
    if (required) missing_argument(a.name);
    return;
  }
  set_value(a.name, a.range, it->second, op.*a.member);
}

template <class Op, class A>
void set_computed(Op& op, const A& a, const View& value) {
  try {
    from_tensor(value, op.*a.member);
    check_ranges(a.range, op.*a.member);
  } catch (const Error& e) {
    throw_like<SampleError>(e, std::string("argument '") + a.name + "' " + e.what());
  }
}

// Calls f. A broken rule becomes an E.
template <class E, class F>
auto with_rules_as(const F& f) {
  try {
    return f();
  } catch (const WrongCall& e) {
    throw_like<E>(e, e.what());
  }
}

template <class Op>
Classes classes_of([[maybe_unused]] const Op& op) {
  if constexpr (Has<Op>::class_rule) return op.class_rule();
  else if constexpr (requires { Op::kClasses; }) return Op::kClasses;
  else return Classes::kRefused;
}

template <class Op>
class Model final : public Operator {
 public:
  explicit Model(const Arguments& arguments) {
    std::apply([&](const auto&... a) { (set_constant(op_, a, arguments), ...); }, Op::schema.args);
  }
  const Op& op() const { return op_; }

  void check(Checker& c) const override {
    with_rules_as<GraphError>([&] { op_.check(c); });
  }
  Classes classes() const override { return classes_of(op_); }
  void take_classes([[maybe_unused]] const Checker& c) override {
    if constexpr (Has<Op>::take_classes) with_rules_as<GraphError>([&] { op_.take_classes(c); });
  }
  void prepare() override {
    if constexpr (Has<Op>::prepare) op_.prepare();
  }
  void agree([[maybe_unused]] std::span<Operator* const> frames,
             [[maybe_unused]] const TensorType& in) const override {
    if constexpr (Has<Op>::agree) {
      std::vector<Op*> ops;
      for (Operator* o : frames) ops.push_back(&static_cast<Model*>(o)->op_);
      with_rules_as<SampleError>([&] { Op::agree(std::span<Op* const>(ops), in); });
    }
  }
  std::unique_ptr<Operator> clone() const override { return std::make_unique<Model>(*this); }
  void set(size_t argument, const View& value) override {
    size_t i = 0;
    std::apply(
        [&](const auto&... a) { ((i++ == argument ? set_computed(op_, a, value) : void()), ...); },
        Op::schema.args);
  }

 private:
  Op op_;
};

// What an Op does, as the facets hold it. What it lacks is never asked for, so never compiled.
template <class Op>
struct Work {
  static const Op& of(const Operator& o) { return static_cast<const Model<Op>&>(o).op(); }
  static void lower(const Operator& o, Lowering& l) {
    with_rules_as<SampleError>([&] { of(o).lower(l); });
  }
  static bool lowers(const Operator& o, std::span<const TensorType> inputs) {
    return of(o).lowers(inputs);
  }
  static void infer(const Operator& o, Inference& i) {
    with_rules_as<SampleError>([&] { of(o).infer(i); });
  }
  static void demand(const Operator& o, Demand& d) { of(o).demand(d); }
  static void copy(const Operator&, Run& r) { copy_to_dense(r.inputs[0], r.outputs[0].data); }
  static void run_cpu(const Operator& o, Run& r) {
    with_rules_as<SampleError>([&] { of(o).run_cpu(r); });
  }
  static void run_gpu(GpuRun& r, std::span<const Operator* const> items) {
    const std::vector<const Op*> ops = all_of(items);
    Op::run_gpu(r, std::span<const Op* const>(ops));
  }
  static std::vector<const Op*> all_of(std::span<const Operator* const> items) {
    std::vector<const Op*> ops;
    for (const Operator* o : items) ops.push_back(&of(*o));
    return ops;
  }
  static void infer_batch(std::span<const Operator* const> items, BatchInference& b) {
    with_rules_as<SampleError>(
        [&] { Op::infer_batch(b, std::span<const Op* const>(all_of(items))); });
  }
  static void run_batch(std::span<const Operator* const> items, BatchRun& r) {
    with_rules_as<SampleError>(
        [&] { Op::run_batch(r, std::span<const Op* const>(all_of(items))); });
  }
  static bool sees_batch(const Operator& o, std::span<const TensorType> in) {
    if constexpr (requires(const Op& op) { op.sees_batch(in); }) return of(o).sees_batch(in);
    else return of(o).sees_batch();
  }
  static std::optional<DecodeRequest> request(const Operator& o, const Asking& a) {
    return of(o).request(a);
  }
  static std::optional<bool> truth(const Operator& o) { return of(o).truth(); }
  static std::optional<std::vector<int>> joined(const Operator& o, size_t place, size_t count) {
    return of(o).joined(place, count);
  }
  static std::unique_ptr<SampleStore> open(const Operator& o) { return of(o).open(); }
  static io::OrderSpec order(const Operator& o, const SampleStore& s) { return of(o).order(s); }
  static void read(const Operator& o, Reading& r) {
    with_rules_as<SampleError>([&] { of(o).read(r); });
  }
};

template <class Op>
void find_facets(OperatorType& t) {
  using W = Work<Op>;
  using H = Has<Op>;
  if constexpr (H::lowers) t.lowers_some = {W::lowers, {W::lower}};
  else if constexpr (H::lower) t.lowers = {W::lower};
  if constexpr (H::run_cpu) {
    t.runs = {.run = W::run_cpu};
    if constexpr (H::infer) t.runs->infer = W::infer;
    if constexpr (H::demand) t.runs->demand = W::demand;
  }
  if constexpr (requires { Op::kAlias; }) t.runs = {.run = W::copy, .infer = W::infer};
  if constexpr (H::infer_batch) {
    t.runs_on_batch = {W::infer_batch, W::run_batch};
    if constexpr (H::sees_batch) t.runs_on_batch->applies = W::sees_batch;
  }
  if constexpr (H::truth) t.truth = W::truth;
  if constexpr (H::run_gpu) t.runs_on_gpu = {W::run_gpu};
  if constexpr (H::joined) t.joins = {W::joined};
  if constexpr (H::request) t.decodes = {W::request};
  if constexpr (H::open) {
    t.reads = {W::open, W::order};
    if constexpr (H::read) t.reads->read = W::read;
  }
}

template <class Op, class Owner, class T>
ArgumentInfo info_of(const Op& defaults, const Argument<Owner, T>& a) {
  const bool required = is_required(a.per);
  ArgumentInfo i{a.name,
                 type_name<T>(),
                 a.help,
                 required ? Value{} : to_value(defaults.*a.member),
                 a.range,
                 required,
                 varies_by_sample(a.per),
                 varies_by_frame(a.per),
                 kIsShaped<T>,
                 {}};
  if constexpr (kIsOptional<T>) {
    if constexpr (std::is_enum_v<typename T::value_type> &&
                  !std::is_same_v<typename T::value_type, DType>)
      i.names.assign(std::begin(EnumNames<typename T::value_type>::kNames),
                     std::end(EnumNames<typename T::value_type>::kNames));
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    i.names.assign(std::begin(EnumNames<T>::kNames), std::end(EnumNames<T>::kNames));
  }
  return i;
}

// An argument may vary by frame only where the engine takes sequences apart.
template <size_t In, size_t Out, class... Args>
constexpr bool frames_unfold(const Schema<In, Out, Args...>& schema) {
  const bool by_frame = std::apply(
      [](const auto&... a) { return (false || ... || varies_by_frame(a.per)); }, schema.args);
  if constexpr (In == 0) return !by_frame;
  else return !by_frame || *schema.inputs[0].layouts || schema.inputs[0].unfolds;
}

// Inputs and arguments are parameters of one Python function, so their names must differ.
template <size_t In, size_t Out, class... Args>
constexpr bool names_differ(const Schema<In, Out, Args...>& schema) {
  std::array<std::string_view, In + sizeof...(Args)> names;
  size_t n = 0;
  for (const Port& p : schema.inputs) names[n++] = p.name;
  std::apply([&](const auto&... a) { ((names[n++] = a.name), ...); }, schema.args);
  for (size_t i = 0; i < n; ++i)
    if (std::find(names.begin(), names.begin() + i, names[i]) != names.begin() + i) return false;
  return true;
}

template <size_t In, size_t Out, class... Args>
constexpr bool only_last_repeats(const Schema<In, Out, Args...>& schema) {
  bool repeats = false;
  for (const Port& p : schema.inputs) {
    if (repeats || (p.repeats && p.is_optional)) return false;
    repeats = p.repeats;
  }
  return true;
}

// Which outputs there are may only depend on arguments that are the same for all samples. Only the
// last one repeats, by a list or a whole number.
template <size_t In, size_t Out, class... Args>
constexpr bool outputs_follow_from_constants(const Schema<In, Out, Args...>& schema) {
  const auto has = [&](std::string_view name, const auto& fits) {
    const auto is_it = [&]<class Op, class T>(const Argument<Op, T>& a) {
      return name == a.name && !varies_by_sample(a.per) && fits(std::type_identity<T>());
    };
    return std::apply([&](const auto&... a) { return (false || ... || is_it(a)); }, schema.args);
  };
  const auto is_flag = []<class T>(std::type_identity<T>) { return std::is_same_v<T, bool>; };
  const auto counts = []<class T>(std::type_identity<T>) {
    return kIsSmall<T> || kIsVector<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>);
  };
  const auto is_number = []<class T>(std::type_identity<T>) {
    return std::is_integral_v<T> && !std::is_same_v<T, bool>;
  };
  for (size_t k = 0; k < Out; ++k) {
    const Port& port = schema.outputs[k];
    const std::string_view when = port.when;
    const size_t sign = when.find("!=");
    const bool is_known =
        sign == when.npos ? has(when, is_flag) : has(when.substr(0, sign), is_number);
    if (*port.when && !is_known) return false;
    if (*port.for_each && (k + 1 < Out || !has(port.for_each, counts))) return false;
  }
  return true;
}

}  // namespace detail

// What the engine sees of an operator, made of its struct, which has `schema` (see describe()),
// `check`, `cases()` and one of these:
// - `lower`; beside one of the others, `lowers` tells for which types of inputs,
// - `infer` and `run_cpu`, and perhaps `demand`,
// - `run_cpu` alone, if only the run tells the shapes (Run::make),
// - static `infer_batch` and `run_batch`, if the results are functions of the whole batch; beside
//   one of the others, `sees_batch` tells for which arguments and types of inputs,
// - `infer` and `kAlias`, if the first output is the bytes of the first input under another type of
//   as many bytes: they are handed on, and copied only where they have gaps,
// - `open` and `order`, for a reader, and perhaps `read`, if arguments vary from sample to sample,
// - `kInput`, if the user feeds its output,
// - `kUserCode`, if a function of the user's makes its outputs.
// They say the rules about arguments and inputs by require(): Note [Rules] (op/rules.h).
// `prepare` may compute once, after `check`, what follows from constant arguments, such as a table.
// A shared pointer holds what it makes, because the struct is copied for each sample whose
// arguments are computed; a long list among its constants is shared as it is. It sees only the
// default of an argument that another node computes: what depends on such a one is made for each
// sample.
// A static `agree` sees the structs of all frames before they do their work, if arguments have a
// value for each frame. It may set what all frames have in common, such as a size.
// `truth` tells, after `prepare`, whether an output of one number is true for all samples. `joined`
// tells which samples an output is made of, for its name, if these are several.
// `kClasses` says what becomes of class numbers, `class_rule` if that depends on arguments;
// `take_classes` comes before `check` and chooses arguments that keep them: Note [Class numbers].
// `infer` may keep what it learned of a sample for `run_cpu` and `request` (op/kept.h).
// Beside `infer` and `run_cpu` it may have `request`, so that a device's decoder can do the work
// (device="mixed"). Beside these or `infer_batch` and `run_batch` it may have a static `run_gpu`,
// which does the work for a batch in device memory and stands in a .cu file (device="gpu"). It may
// also have `kVersion` (raised when its results change), `upgrade` (brings the arguments of a graph
// that was saved with an older version up to this one), `kRandom`, `kDrawsAs` (a name, if equal
// seeds give several operators equal draws), `kIgnored`, `kOfDevices` (arguments that only a
// device's decoder heeds), `kRowRoom`, `kMerge` (of an `if`) and `kSkip` (why tests leave it out).
template <class Op>
OperatorType type_of() {
  static_assert(detail::frames_unfold(Op::schema),
                "a kPerFrame argument needs a first input that lists its layouts or unfolds");
  static_assert(detail::only_last_repeats(Op::schema),
                "only the last input may repeat, and it may not be optional");
  static_assert(
      detail::outputs_follow_from_constants(Op::schema),
      "`when` of an output names a flag or a whole number, and `for_each` of the last one a "
      "list or a whole number, that is the same for all samples");
  static_assert(detail::names_differ(Op::schema), "two inputs or arguments have the same name");
  detail::check_names<Op>();
  OperatorType t;
  t.name = Op::schema.name;
  t.summary = Op::schema.summary;
  t.version = 1;
  t.is_random = false;
  detail::find_facets<Op>(t);
  t.is_input = requires { Op::kInput; };
  t.is_user_code = requires { Op::kUserCode; };
  t.is_merge = requires { Op::kMerge; };
  t.is_alias = requires { Op::kAlias; };
  if constexpr (requires { Op::kVersion; }) t.version = Op::kVersion;
  if constexpr (requires { &Op::upgrade; }) t.upgrade = &Op::upgrade;
  if constexpr (requires { Op::kRandom; }) t.is_random = Op::kRandom;
  t.draws_as = t.name;
  if constexpr (requires { Op::kDrawsAs; }) t.draws_as = Op::kDrawsAs;
  if constexpr (requires { Op::kRowRoom; }) t.row_room = Op::kRowRoom;
  if constexpr (requires { Op::kSkip; }) t.skip_reason = Op::kSkip;
  if constexpr (requires { Op::kOfDevices; })
    t.of_devices.assign(std::begin(Op::kOfDevices), std::end(Op::kOfDevices));
  if constexpr (requires { Op::kIgnored; })
    t.ignored.assign(std::begin(Op::kIgnored), std::end(Op::kIgnored));
  for (const char* hint : {"bytes_per_sample_hint", "preserve"}) t.ignored.push_back(hint);
  if constexpr (detail::Has<Op>::cases) t.cases = Op::cases();
  t.inputs.assign(Op::schema.inputs.begin(), Op::schema.inputs.end());
  t.outputs.assign(Op::schema.outputs.begin(), Op::schema.outputs.end());
  const Op defaults;
  t.classes = detail::classes_of(defaults);
  std::apply(
      [&](const auto&... a) { (t.arguments.push_back(detail::info_of<Op>(defaults, a)), ...); },
      Op::schema.args);
  t.make = [](const Arguments& a) -> std::unique_ptr<Operator> {
    return std::make_unique<detail::Model<Op>>(a);
  };
  if (t.lowers_some) {
    OperatorType blocks = t;
    blocks.lowers = t.lowers_some->lowers;
    blocks.runs.reset();
    blocks.runs_on_gpu.reset();
    t.lowered = std::make_shared<const OperatorType>(std::move(blocks));
  }
  return t;
}

}  // namespace stoker

// The build gives every operator file a symbol made of its path, and a generated table calls them
// all.
#define STOKER_OPERATOR(Op) \
  stoker::OperatorType STOKER_OPERATOR_SYMBOL() { return stoker::type_of<Op>(); }
