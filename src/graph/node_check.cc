// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What flows along the edges into and out of one node, and whether its operator takes it.
#include "base/hash.h"
#include "graph/node_rules.h"
#include "op/type_of.h"

namespace stoker {

namespace {

std::string expectation(const Port& port) {
  std::string s;
  if (*port.dtypes) s += std::string(" dtype ") + port.dtypes;
  if (*port.layouts) s += std::string(s.empty() ? "" : ",") + " layout " + port.layouts;
  return s;
}

// Whether this is probably a file's bytes where pixels are expected.
bool looks_encoded(const Port& port, const TensorType& t) {
  return t.dtype == DType::kUint8 && t.shape.rank == 1 && *port.layouts &&
         default_layout(port, 1).empty();
}

// What to do about an input that does not fit, where that can be told.
std::string remedy(const Port& port, const TensorType& t, bool layout_fits) {
  if (looks_encoded(port, t))
    return ". Are these the bytes of a file? A decoder makes them a picture";
  if (layout_fits) return *port.layouts ? ". fn.cast converts it" : "";
  const bool lacks_channels =
      t.layout.empty() && default_layout(port, t.shape.rank + 1).str().ends_with('C');
  if (!lacks_channels) return "";
  return ". Are channels missing? fn.expand_dims(x, axes=" + std::to_string(t.shape.rank) +
         ", new_axis_names=\"C\") adds their axis";
}

// `found` is `t` before its frames were taken off.
void check_port(const OperatorType& type, size_t i, const TensorType& found, TensorType& t) {
  const Port& port = type.input(i);
  if (t.layout.empty() && *port.layouts) t.layout = default_layout(port, t.shape.rank);
  const bool layout_fits = !*port.layouts || accepts(port, t.layout);
  if (accepts(port, t.dtype) && layout_fits) return;
  throw GraphError(input_in_words(type, i) + " expects" + expectation(port) + ", got " +
                   found.str() + remedy(port, t, layout_fits));
}

void check_device(const OperatorType& type, DeviceKind device) {
  if (device == DeviceKind::kGpu && !type.has_gpu()) {
    if (type.reads || type.is_input)
      throw GraphError(
          "has no GPU form: its data begin on the CPU; use device=\"cpu\", and copy its outputs to "
          "the GPU");
    throw GraphError(std::string("has no GPU form; use device=") +
                     (type.is_mixed() ? "\"mixed\" or \"cpu\"" : "\"cpu\""));
  }
  if (device == DeviceKind::kMixed && !type.is_mixed())
    throw GraphError(std::string("has no mixed form; use device=\"cpu\"") +
                     (type.has_gpu() ? " or \"gpu\"" : ""));
}

bool has_frames(const TensorType& t) { return t.layout.str().starts_with('F'); }

// Whether the engine takes the frames of an input apart.
bool is_sequence(const Port& port, size_t i, const TensorType& t) {
  return has_frames(t) && (port.unfolds || (i == 0 && !accepts(port, t.layout)));
}

// Whether the node works on class numbers: an input of its first port, or either side of a merge,
// holds them. What else it takes, such as labels and boxes, does not count.
bool takes_classes(const std::vector<CheckedNode>& done, const OperatorType& type, const Node& n) {
  const size_t sides = type.is_merge ? 2 : 1;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const bool is_worked_on = i < sides || &type.input(i) == &type.inputs[0];
    if (!n.inputs[i] || !is_worked_on || type.input(i).is_value) continue;
    if (done[n.inputs[i]->node].holds_classes[n.inputs[i]->output]) return true;
  }
  return false;
}

// For a node that takes class numbers. Throws GraphError where it would change them.
void give_classes(CheckedNode& c, const Checker& checker) {
  if (c.op->classes() == Classes::kRefused)
    throw GraphError(
        "the input holds class numbers, and this operator would mix them or make others of them. "
        "If they are meant as quantities, make them so first: fn.cast(x, dtype=...)");
  c.op->take_classes(checker);
}

// Says which outputs hold class numbers: those of the first port.
void mark_classes(bool takes_classes, CheckedNode& c) {
  const Classes kind = c.op->classes();
  const bool is_kept = takes_classes && kind == Classes::kKept;
  if (is_kept && !holds_numbers(c.outputs[0].dtype, c.inputs[0].dtype))
    throw GraphError(std::string("the input holds class numbers of ") + name_of(c.inputs[0].dtype) +
                     ", which do not all fit the output's dtype, " + name_of(c.outputs[0].dtype));
  c.holds_classes.assign(c.outputs.size(), false);
  if (!is_kept && !(takes_classes && kind == Classes::kRenamed) && kind != Classes::kMade) return;
  const bool has_many = *c.type->outputs[0].for_each;
  for (size_t k = 0; k < (has_many ? c.outputs.size() : 1); ++k) c.holds_classes[k] = true;
}

// The input of a merge with this condition that is always taken; -1 if samples decide.
int side_taken(const CheckedNode& condition) {
  if (!condition.truth) return -1;
  return *condition.truth ? 0 : 1;
}

// Checks one node. All nodes before it are `done`.
class NodeCheck {
 public:
  NodeCheck(const std::vector<CheckedNode>& done, const Node& n, bool is_needed)
      : done_(done), n_(n), is_needed_(is_needed) {}

  CheckedNode run() {
    make_operator();
    for (size_t i = 0; i < n_.inputs.size(); ++i)
      if (n_.inputs[i]) take_input(i, *n_.inputs[i]);
    check_conditions();
    for (const ArgumentLink& link : n_.links) take_link(link);
    ask_operator();
    find_truth();
    find_batch();
    complete_outputs();
    return std::move(c_);
  }

 private:
  void make_operator() {
    c_.type = &operator_named(n_.op);
    c_.op = c_.type->make(constants_of(*c_.type, n_));
    c_.key = hash64(n_.key);
    c_.has_own_seed = n_.key.starts_with(seed_key(*c_.type));
    check_device(*c_.type, n_.device);
    c_.has_cpu_form = n_.device != DeviceKind::kMixed;
    c_.sequences.resize(n_.inputs.size());
    c_.frame_values.resize(n_.inputs.size());
  }

  // Turns the type of an input into what the operator gets, such as one frame of a sequence.
  void take_input(size_t i, const Ref& from) {
    const Port& port = c_.type->input(i);
    if (n_.device == DeviceKind::kGpu) c_.has_cpu_form &= done_[from.node].has_cpu_form;
    TensorType t = type_at(from);
    if (i == 0 && t.layout.empty()) t.layout = default_layout_of_frames(port, t.shape.rank);
    if (is_sequence(port, i, t)) {
      if (!c_.type->infers())
        throw GraphError("takes no sequences: its frames may differ in shape");
      unfold(t);
      c_.sequences[i] = true;
      t = frame_type(t);
    }
    c_.frame_values[i] = c_.unfold && port.is_value && has_frames(t);
    check_port(*c_.type, i, type_at(from), t);
    c_.inputs.push_back(t);
  }

  void check_conditions() const {
    for (const Guard& g : n_.guards) check_condition(type_at(g.condition));
    if (c_.type->is_merge) check_condition(c_.inputs[2]);
  }

  // An argument that another node computes may turn a picture into frames.
  void take_link(const ArgumentLink& link) {
    const int argument = c_.type->argument(link.argument);
    c_.link_arguments.push_back(argument);
    const TensorType& t = type_at(link.from);
    const bool may_unfold = !c_.type->inputs.empty() && c_.type->inputs[0].unfolds;
    if (!may_unfold || !has_frames(t) || !c_.type->arguments[argument].per_frame) return;
    if (!c_.unfold && !c_.type->inputs[0].makes_frames)
      throw GraphError("argument '" + link.argument +
                       "' has a value for each frame, expected an input whose first axis is "
                       "frames (F), got " +
                       c_.inputs[0].str());
    unfold(t);
  }

  void ask_operator() {
    const size_t count = c_.type->arguments.size();
    std::vector<const char*> names;
    for (const ArgumentInfo& a : c_.type->arguments) names.push_back(a.name.c_str());
    std::unique_ptr<bool[]> computed(new bool[count]());
    for (const int argument : c_.link_arguments) computed[argument] = true;
    Checker checker{c_.inputs, {computed.get(), count}, names, {}};
    takes_classes_ = takes_classes(done_, *c_.type, n_);
    if (takes_classes_) give_classes(c_, checker);
    side_ = c_.type->is_merge ? side_taken(done_[n_.inputs[2]->node]) : -1;
    if (side_ >= 0) checker.out(c_.inputs[static_cast<size_t>(side_)]);
    else if (c_.type->is_merge && !is_needed_) checker.out(c_.inputs[0]);
    else c_.op->check(checker);
    c_.op->prepare();
    c_.outputs = std::move(checker.outputs);
    c_.warning = std::move(checker.warning);
  }

  void find_truth() {
    if (side_ >= 0) c_.truth = done_[n_.inputs[static_cast<size_t>(side_)]->node].truth;
    else if (c_.type->truth && n_.links.empty()) c_.truth = c_.type->truth(*c_.op);
  }

  void find_batch() {
    c_.sees_batch = c_.type->sees_batch(*c_.op, c_.inputs);
    if (!c_.sees_batch) return;
    if (c_.unfold) throw GraphError("takes no sequences: it sees whole batches");
    c_.has_cpu_form &= n_.device == DeviceKind::kCpu;
  }

  void complete_outputs() {
    if (c_.type->lowers_some && c_.type->lowers_some->applies(*c_.op, c_.inputs))
      c_.type = c_.type->lowered.get();
    if (!c_.outputs.empty()) mark_classes(takes_classes_, c_);
    if (c_.outputs.size() != outputs_of(*c_.type, n_).size())
      throw Error(n_.op + ": check() gave a wrong number of outputs");
    for (size_t k = 0; c_.unfold && k < c_.outputs.size(); ++k)
      if (!c_.is_inferred(static_cast<int>(k)))
        c_.outputs[k] = c_.of_frames(c_.outputs[k], frames_);
    for (TensorType& t : c_.outputs) complete_rank(t);
    for (const TensorType& t : c_.outputs)
      if (!t.shape.is_possible())
        throw GraphError("the output would be " + t.str() + ", more than 2^40 elements");
  }

  // A layout has a letter for each axis, and so tells the rank.
  void complete_rank(TensorType& t) const {
    if (t.layout.empty()) return;
    if (t.shape.rank < 0) t.shape = Shape::filled(t.layout.rank(), -1);
    if (t.shape.rank != t.layout.rank())
      throw Error(n_.op + ": check() gave a layout of another rank, " + t.str());
  }

  void unfold(const TensorType& sequence) {
    c_.unfold = true;
    frames_ = std::max(frames_, sequence.shape[0]);
  }
  const TensorType& type_at(const Ref& r) const { return done_[r.node].outputs[r.output]; }

  const std::vector<CheckedNode>& done_;
  const Node& n_;
  // Whether an output of the graph depends on it. The sides of a merge may differ if nobody needs
  // it, as when a name is not used after an `if`, or if one side is never taken.
  bool is_needed_;
  CheckedNode c_;
  int64_t frames_ = -1;  // that an unfolded output has; -1: known at the run
  bool takes_classes_ = false;
  int side_ = -1;  // of a merge: the input that is always taken
};

}  // namespace

void check_call(const OperatorType& type, const Node& n) {
  if (n.version > type.version)
    throw GraphError("the graph was saved with version " + std::to_string(n.version) +
                     " of this operator, this is version " + std::to_string(type.version));
  check_inputs(type, n);
  check_links(type, n);
}

void check_condition(const TensorType& t) {
  if (t.shape.rank > 0)
    throw GraphError("a condition expects one number for each sample, got " + t.str());
}

CheckedNode check_node(const std::vector<CheckedNode>& done, const Node& n, bool is_needed) {
  return NodeCheck(done, n, is_needed).run();
}

}  // namespace stoker
