// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator says of itself. All that a user sees comes from this and the operator's struct.
#pragma once
#include <array>
#include <tuple>

#include "op/value.h"

namespace stoker {

struct Range {  // of a float's limits, those above 2^24 are rounded
  double low = -std::numeric_limits<double>::infinity(),
         high = std::numeric_limits<double>::infinity();
};
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range between(double low, double high) { return {low, high}; }

// How an argument varies. With kPerSample another node may compute it, one value for each sample,
// if it holds numbers, flags or an enumeration. With kPerFrame there may also be one for each
// frame, in a tensor whose layout begins with F; that suits whatever may change from frame to
// frame, and one of the cases then has frames. kRequired has no default. kRequiredPerSample and
// kRequiredPerFrame have none either, and may be computed.
enum class Per : uint8_t { kGraph, kSample, kFrame, kRequired, kRequiredSample, kRequiredFrame };
inline constexpr Per kPerGraph = Per::kGraph, kPerSample = Per::kSample, kPerFrame = Per::kFrame,
                     kRequired = Per::kRequired, kRequiredPerSample = Per::kRequiredSample,
                     kRequiredPerFrame = Per::kRequiredFrame;
constexpr bool is_required(Per p) { return p >= Per::kRequired; }
constexpr bool varies_by_frame(Per p) { return p == Per::kFrame || p == Per::kRequiredFrame; }
constexpr bool varies_by_sample(Per p) { return p != Per::kGraph && p != Per::kRequired; }

template <class Op, class T>
struct Argument {
  const char* name;
  T Op::* member;
  const char* help;
  Range range;
  Per per;
};
template <class Op, class T>
constexpr Argument<Op, T> arg(T Op::* member, const char* name, const char* help, Range range = {},
                              Per per = kPerGraph) {
  return {name, member, help, range, per};
}
template <class Op, class T>
constexpr Argument<Op, T> arg(T Op::* member, const char* name, const char* help, Per per) {
  return {name, member, help, {}, per};
}

// An input or output. `layouts`: the accepted ones, such as "HWC, CHW"; `dtypes`: likewise, such as
// "uint8, float32"; "" is any. A first input whose layout begins with F and is not accepted is a
// sequence: the engine takes the F off and calls the operator for each frame. With any layout it
// does so only if the port `unfolds`; else the operator gets whole sequences.
struct Port {
  const char* name = "";
  const char* help = "";
  const char* layouts = "";
  const char* dtypes = "";
  bool is_optional = false;
  // Read before shapes are known: encoded bytes, anchors. If the frames of a first input are taken
  // apart, a value whose layout begins with F has one for each of them.
  bool is_value = false;
  // For inputs of any layout: a leading F is taken off, also of one that is not the first.
  bool unfolds = false;
  // For a first input that unfolds: arguments with a value for each frame make frames of an input
  // without. Otherwise they are refused there.
  bool makes_frames = false;
  // For the last input: it stands for up to kMostRepeats inputs, which are `*inputs` in Python. The
  // operator sees them as if each had a port of its own. The conformance tests give one, two and
  // three.
  bool repeats = false;
  // For an output: the flag with which it is there, or as "kind!=4" a whole number and the one
  // value with which it is not. "": it always is. with_output_when() knows more conditions. An
  // output that is not there is left out of what check() and the others see, and of what Python
  // returns.
  const char* when = "";
  // For the last output: the argument by which it repeats, with one output for each entry of a
  // list, or as many as a number says, the same for all samples. Texts of the list name their
  // outputs.
  const char* for_each = "";
};
inline constexpr size_t kMostRepeats = 999;
inline constexpr size_t kMostOutputs = 1000;

// A tiny example, which the documentation shows and a test runs on every device. `inputs`: a nested
// list for each, with dtype and layout ("uint8 HWC [[[1]]]", "float32 ft [[1]]"). `outputs`:
// likewise, without layout.
struct Case {
  const char* call;  // arguments as Python writes them
  std::vector<const char*> inputs;
  std::vector<const char*> outputs;
};

template <size_t In, size_t Out, class... Args>
struct Schema {
  const char* name;  // as in Python, e.g. "decoders.image"
  // The docstring: one sentence in the first line, then shapes, units and errors.
  const char* summary;
  std::array<Port, In> inputs;
  std::array<Port, Out> outputs;
  std::tuple<Args...> args;
};

// These are overloads, because a template would not take `{.name = ...}`.
constexpr std::array<Port, 0> ports() { return {}; }
constexpr std::array<Port, 1> ports(Port a) { return {a}; }
constexpr std::array<Port, 2> ports(Port a, Port b) { return {a, b}; }
constexpr std::array<Port, 3> ports(Port a, Port b, Port c) { return {a, b, c}; }
constexpr std::array<Port, 4> ports(Port a, Port b, Port c, Port d) { return {a, b, c, d}; }

// Joins two lists of names, for kIgnored.
template <size_t A, size_t B>
constexpr std::array<const char*, A + B> joined(const std::array<const char*, A>& a,
                                                const std::array<const char*, B>& b) {
  std::array<const char*, A + B> all{};
  for (size_t i = 0; i < A; ++i) all[i] = a[i];
  for (size_t i = 0; i < B; ++i) all[A + i] = b[i];
  return all;
}

// For describe(name, summary, ports(in...), ports(out...), arg(...)...): one argument may be a
// tuple that several operators share.
template <class T>
constexpr std::tuple<T> as_tuple(T a) {
  return {a};
}
template <class... T>
constexpr std::tuple<T...> as_tuple(std::tuple<T...> a) {
  return a;
}
template <size_t In, size_t Out, class... Args>
constexpr Schema<In, Out, Args...> make_schema(const char* name, const char* summary,
                                               std::array<Port, In> in, std::array<Port, Out> out,
                                               std::tuple<Args...> args) {
  return {name, summary, in, out, args};
}
template <size_t In, size_t Out, class... Args>
constexpr auto describe(const char* name, const char* summary, std::array<Port, In> in,
                        std::array<Port, Out> out, Args... args) {
  return make_schema(name, summary, in, out, std::tuple_cat(as_tuple(args)...));
}

}  // namespace stoker
