// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine's view of operators.
#pragma once
#include <memory>
#include <optional>

#include "codec/device_decoder.h"
#include "io/order/order.h"
#include "op/classes.h"
#include "op/context.h"
#include "op/gpu_run.h"
#include "op/schema.h"

namespace stoker {

struct ArgumentInfo {
  std::string name, type, help;
  Value fallback;  // monostate: None, or required
  Range range;
  bool is_required, per_sample, per_frame;
  bool keeps_shape;  // an array is not a flat list
  std::vector<std::string> names;  // of an enumeration
};

enum class OperatorKind : uint8_t { kLower, kSample, kBatch, kRead, kInput, kUserCode };

// An operator with its constant arguments set. Immutable: many threads use it at once. For a sample
// whose arguments other nodes compute, the engine sets them in a copy. Its type tells what it can
// do: see the facets.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual void check(Checker& c) const = 0;
  // Note [Class numbers]: what it makes of them.
  virtual Classes classes() const = 0;
  // Called before check() where an input holds class numbers: chooses arguments that keep them.
  // Throws GraphError if given ones do not.
  virtual void take_classes(const Checker& c) = 0;
  virtual void prepare() = 0;  // once, after check() and before all that follows
  // If arguments have a value for each frame: shows the operators of all frames, which are of this
  // type, to each other before one of them is asked what follows. `in`: the type of a frame. Throws
  // SampleError.
  virtual void agree(std::span<Operator* const> frames, const TensorType& in) const = 0;

  virtual std::unique_ptr<Operator> clone() const = 0;
  // Throws SampleError that names the argument.
  virtual void set(size_t argument, const View& value) = 0;
};

// Note [Facets]
// A facet is one way to do the work: plain functions on operators of one type. Who runs operators
// in one way asks only for that facet.

struct Lowers {
  void (*lower)(const Operator& op, Lowering& l);
};

// It becomes blocks for some arguments and types of inputs, and works in another way for others.
struct LowersSome {
  bool (*applies)(const Operator& op, std::span<const TensorType> inputs);
  Lowers lowers;
};

struct RunsOnCpu {
  void (*run)(const Operator& op, Run& r);
  void (*infer)(const Operator& op, Inference& i) = nullptr;  // null: only the run tells the shapes
  void (*demand)(const Operator& op, Demand& d) = nullptr;  // null: all of the inputs is needed
};

// It works on all samples of a step at once: its results are functions of the batch. `ops`: for
// each item the operator with its arguments. Both throw SampleError, which loses the step.
struct RunsOnBatch {
  void (*infer)(std::span<const Operator* const> ops, BatchInference& b);
  void (*run)(std::span<const Operator* const> ops, BatchRun& r);
  // Null: always. Otherwise another facet does the work if the arguments do not ask for this one.
  bool (*applies)(const Operator& op, std::span<const TensorType> inputs) = nullptr;
};

struct RunsOnGpu {
  // Enqueues the work. `ops`: the operator with its arguments for each of r.items. Throws
  // BudgetError, DeviceError.
  void (*run)(GpuRun& r, std::span<const Operator* const> items);
};

// A device's decoder can do its work.
struct Decodes {
  // What to decode instead of RunsOnCpu::run, or none if only that can. Throws SampleError.
  std::optional<DecodeRequest> (*request)(const Operator& op, const Asking& a);
};

// It makes a sample of several, which all have a part in the sample's name, or of another one.
struct Joins {
  // Which samples of the first input's batch these are, counted as in RunsOnBatch; nothing: the
  // sample's own of each input. The sample is the one at `place` of `count`.
  std::optional<std::vector<int>> (*samples)(const Operator& op, size_t place, size_t count);
};

struct Reads {
  std::unique_ptr<SampleStore> (*open)(const Operator& op);
  io::OrderSpec (*order)(const Operator& op, const SampleStore& s);  // without batch_size
  // Makes the outputs of a sample; null: the store does.
  void (*read)(const Operator& op, Reading& r) = nullptr;
};

struct OperatorType {
  std::string name, summary;
  int version;
  // Brings arguments that were saved with an older version up to this one; null: they are the same.
  void (*upgrade)(int version, Arguments& saved) = nullptr;
  // Whether its output, one number, is true for all samples; null or nothing: not known yet.
  std::optional<bool> (*truth)(const Operator& op) = nullptr;
  bool is_random;
  Classes classes = Classes::kRefused;  // with the defaults of all arguments
  std::string draws_as;  // the name before `seed=`: operators that share it draw alike
  bool is_input = false;  // the user feeds its output
  bool is_user_code = false;  // Node::function makes its outputs
  bool is_merge = false;  // it gives its first or second input, as the third says
  bool is_alias = false;  // it gives the bytes of its first input, of the type that it infers
  std::optional<Lowers> lowers;
  // This type with no facet but `lowers`, for the nodes to which lowers_some applies.
  std::shared_ptr<const OperatorType> lowered;
  std::optional<LowersSome> lowers_some;
  std::optional<RunsOnCpu> runs;
  std::optional<RunsOnBatch> runs_on_batch;
  std::optional<RunsOnGpu> runs_on_gpu;
  std::optional<Decodes> decodes;
  std::optional<Joins> joins;
  std::optional<Reads> reads;
  int64_t row_room = 0;  // bytes: Run::row_room of outputs in scratch memory
  std::vector<Port> inputs, outputs;
  std::vector<ArgumentInfo> arguments;
  std::vector<std::string> of_devices;  // arguments that only a device's decoder heeds
  std::vector<std::string> ignored;  // accepted so that established scripts run; without effect
  std::vector<Case> cases;
  std::string skip_reason;  // why conformance checks leave it out, or ""
  std::unique_ptr<Operator> (*make)(const Arguments& arguments);

  OperatorKind kind() const {
    if (lowers) return OperatorKind::kLower;
    if (reads) return OperatorKind::kRead;
    if (is_input) return OperatorKind::kInput;
    if (is_user_code) return OperatorKind::kUserCode;
    return runs ? OperatorKind::kSample : OperatorKind::kBatch;
  }
  // Whether this operator, which was checked, sees whole batches.
  bool sees_batch(const Operator& op, std::span<const TensorType> inputs) const {
    return is_user_code ||
           (runs_on_batch && (!runs_on_batch->applies || runs_on_batch->applies(op, inputs)));
  }
  // False if only the run tells the shapes of its outputs. It then runs before those that follow
  // are asked for theirs.
  bool infers() const { return !runs || runs->infer; }
  bool is_mixed() const { return decodes.has_value(); }  // takes device="mixed"
  bool has_gpu() const { return lowers || runs_on_gpu || is_alias; }  // takes device="gpu"
  int argument(std::string_view name) const;  // its index, or -1
  bool repeats() const { return !inputs.empty() && inputs.back().repeats; }
  size_t most_inputs() const { return inputs.size() + (repeats() ? kMostRepeats - 1 : 0); }
  // Requires: i < most_inputs().
  const Port& input(size_t i) const { return inputs[std::min(i, inputs.size() - 1)]; }
  // The names of the outputs that these arguments give.
  std::vector<std::string> output_names(const Arguments& given) const;
  size_t output_count(const Arguments& given) const { return output_names(given).size(); }
};

// Sorted. Built once; thread-safe.
const std::vector<OperatorType>& all_operators();
// Throws GraphError with the nearest names.
const OperatorType& operator_named(const std::string& name);
// Whether the layout is among those of the port; "" accepts any.
bool accepts(const Port& port, const Layout& layout);
bool accepts(const Port& port, DType dtype);
// The layout that the port gives to an input without one: the first accepted one of this rank.
Layout default_layout(const Port& port, int rank);
// The layout, F and that of a frame, of data of four axes or more that the engine takes apart into
// frames. "" if there is none, or the port lists layouts of frames itself.
Layout default_layout_of_frames(const Port& port, int rank);

}  // namespace stoker
