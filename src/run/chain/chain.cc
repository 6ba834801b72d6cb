// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/chain/chain.h"

#include "kernels/fused/fused.h"
#include "kernels/strided_copy.h"

namespace stoker {

namespace {

// Whether a sample is of the announced type, in which -1 stands for unknown extents.
bool fits(const TensorType& made, const TensorType& announced) {
  if (made.dtype != announced.dtype) return false;
  if (announced.shape.rank < 0) return true;
  if (made.shape.rank != announced.shape.rank) return false;
  for (int a = 0; a < made.shape.rank; ++a)
    if (announced.shape[a] >= 0 && made.shape[a] != announced.shape[a]) return false;
  return true;
}

std::vector<NodeState> node_states(const Plan& plan) {
  std::vector<NodeState> states(plan.size());
  for (int i = 0; i < plan.size(); ++i) {
    const size_t outputs = plan.checked(i).outputs.size();
    states[i].types.resize(outputs);
    states[i].views.resize(outputs);
    states[i].targets.resize(outputs);
    states[i].unfold = plan.checked(i).unfold;
  }
  return states;
}

SampleError frames_differ(int64_t frame, const TensorType& made, const TensorType& first) {
  return SampleError("frame " + std::to_string(frame) + " becomes " + made.str() +
                     ", frame 0 became " + first.str() + "; all frames must agree");
}

// Sets or checks the layout of the side that a merge takes. `all`: the merge's, if known.
void agree_in_layout(const Layout& all, TensorType& side) {
  if (side.layout.empty()) side.layout = all;
  else if (!all.empty() && side.layout != all)
    throw SampleError("both sides expect the same layout, got " + std::string(side.layout.str()) +
                      " on the side that is taken, where " + std::string(all.str()) +
                      " is expected");
}

}  // namespace

Chain::Chain(const Plan& plan, uint64_t seed, Arena& arena, NodeTimes& times)
    : plan_(plan),
      seed_(seed),
      arena_(arena),
      states_(node_states(plan)),
      wanted_(plan, states_),
      also_judged_(plan, states_),
      destinations_(plan.slot_count()),
      times_(times) {}

void Chain::use(const Rewrites& rewrites) {
  rewrites_ = rewrites;
  judged_ = rewrites.demand && !plan_.has_device_stage() ? &wanted_ : &also_judged_;
}

void Chain::begin(std::span<const Origin> origins, std::span<Annotated> annotated, int stage,
                  TakePicture take_picture) {
  arena_.reset();
  remarks_.clear();
  origins_ = origins;
  annotated_ = annotated;
  stage_ = stage;
  take_picture_ = std::move(take_picture);
  for (NodeState& s : states_) {
    s.ops.clear();
    s.blocks.clear();
    s.inputs.clear();
    s.kept.clear();
    s.done = false;
    s.is_active = true;
    std::fill(s.views.begin(), s.views.end(), View{});
    std::fill(s.targets.begin(), s.targets.end(), View{});
  }
  wanted_.clear();
  also_judged_.clear();
  std::fill(destinations_.begin(), destinations_.end(), View{});
}

void Chain::give_bytes(int reader, int64_t index, std::span<const io::Part> parts) {
  NodeState& s = states_[plan_.reader_node(reader)];
  s.parts = parts;
  s.index = index;
}

void Chain::read_sample(int node) {
  NodeState& s = states_[node];
  const Timed timed(times_, node);
  resolve(node);
  const Reads& reads = *type(node).reads;
  Reading r{*plan_.planned(node).store, s.index, s.parts, s.views, arena_,
            plan_.planned(node).asked};
  if (reads.read) reads.read(s.op(), r);
  else r.store.read(r);
  annotated_[static_cast<size_t>(plan_.source_of(node))] = r.annotated;
  keep(node, r.remarks);
  take_types(node, "read()");
  for (size_t k = 0; k < s.types.size(); ++k)
    if (!fits(s.types[k], plan_.checked(node).outputs[k]))
      throw SampleError("output " + std::to_string(k) + " is " + s.types[k].str() + ", expected " +
                        plan_.checked(node).outputs[k].str());
  s.done = true;
}

void Chain::give_value(const Ref& value, const View& sample) {
  give_type(value, {sample.dtype, sample.layout, sample.shape});
  view(value) = sample;
}

void Chain::give_type(const Ref& value, const TensorType& type) {
  NodeState& s = states_[value.node];
  s.types.resize(s.views.size());
  s.types[value.output] = type;
  s.done = true;
}

int64_t Chain::frames_of(int node) const {  // requires: it is called for each frame
  const Node& n = plan_.node(node);
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (plan_.checked(node).sequences[i]) return type_of(*n.inputs[i]).shape[0];
  int64_t most = -1;
  for (size_t i = 0; i < n.links.size(); ++i)
    if (has_frames(node, i)) most = std::max(most, view(n.links[i].from).full[0]);
  return most < 0 ? 1 : most;
}

bool Chain::has_frames(int node, size_t link) const {
  const CheckedNode& c = plan_.checked(node);
  return c.unfold && c.type->arguments[c.link_arguments[link]].per_frame &&
         view(plan_.node(node).links[link].from).layout.str().starts_with('F');
}

// Finds this sample's operators: the plan's own, or copies that hold the computed arguments.
void Chain::resolve(int node) {
  NodeState& s = states_[node];
  s.ops.assign(1, plan_.own_operator(node));
  const size_t links = plan_.node(node).links.size();
  bool by_frame = std::ranges::any_of(plan_.checked(node).frame_values, std::identity());
  if (links == 0 && !by_frame) return;
  for (size_t i = 0; i < links; ++i) by_frame |= has_frames(node, i);
  s.ops.resize(by_frame ? static_cast<size_t>(std::max<int64_t>(frames_of(node), 1)) : 1);
  std::vector<Operator*> made;
  for (size_t f = 0; f < s.ops.size(); ++f) {
    std::shared_ptr<Operator> copy = plan_.checked(node).op->clone();
    set_arguments(*copy, node, static_cast<int64_t>(f));
    if (by_frame) made.push_back(copy.get());
    s.ops[f] = std::move(copy);
  }
  if (by_frame) plan_.checked(node).op->agree(made, s.inputs[0]);
}

// One value of an argument holds for all frames.
void Chain::set_arguments(Operator& op, int node, int64_t frame) const {
  const CheckedNode& c = plan_.checked(node);
  const auto& links = plan_.node(node).links;
  for (size_t i = 0; i < links.size(); ++i) {
    const View& value = view(links[i].from);
    if (!has_frames(node, i)) {
      op.set(c.link_arguments[i], value);
      continue;
    }
    const int64_t given = value.full[0], frames = frames_of(node);
    if (given != 1 && given != frames)
      throw SampleError("argument '" + links[i].argument + "' has values for " +
                        std::to_string(given) + " frames, and there are " + std::to_string(frames));
    if (frame < given || given == 1)
      op.set(c.link_arguments[i], value.frame(given == 1 ? 0 : frame));
  }
}

TensorType Chain::input_type(int node, size_t i) const {
  const auto& in = plan_.node(node).inputs[i];
  if (!in) return {};
  TensorType t = type_of(*in);
  const Port& port = type(node).input(i);
  if (plan_.checked(node).sequences[i]) {
    if (t.layout.empty()) t.layout = default_layout_of_frames(port, t.shape.rank);
    t = frame_type(t);
  }
  if (t.layout.empty() && *port.layouts) t.layout = default_layout(port, t.shape.rank);
  return t;
}

// Sets views_ to those inputs that are made.
void Chain::see_inputs(int node, size_t first) {
  const auto& inputs = plan_.node(node).inputs;
  views_.assign(inputs.size(), View{});
  for (size_t i = first; i < inputs.size(); ++i)
    if (inputs[i]) views_[i] = view(*inputs[i]);
}

void Chain::lower_node(int node, int64_t frame) {
  NodeState& s = states_[node];
  see_inputs(node, 1);
  for (size_t i = 1; i < views_.size(); ++i) {
    if (!plan_.checked(node).frame_values[i]) continue;
    if (views_[i].full[0] != frames_of(node))
      throw SampleError("input " + std::to_string(i) + " has values for " +
                        std::to_string(views_[i].full[0]) + " frames, and there are " +
                        std::to_string(frames_of(node)));
    if (frame < views_[i].full[0]) views_[i] = views_[i].frame(frame);
  }
  s.blocks.clear();
  made_.clear();
  Lowering l(s.inputs[0], views_, chance(node), s.blocks, made_, arena_);
  type(node).lowers->lower(s.op(frame), l);
  if (made_.size() + 1 != s.views.size())
    throw Error(plan_.node(node).op + ": lower() made a wrong number of outputs");
  s.types.assign(1, l.type());
  for (const View& v : made_) {
    s.views[s.types.size()] = v;
    s.types.push_back({v.dtype, v.layout, v.shape});
  }
}

// Makes the blocks of a later frame, whose result must have the first frame's shape.
void Chain::lower_frame(int node, int64_t frame) {
  NodeState& s = states_[node];
  const TensorType whole = s.types[0];
  lower_node(node, frame);
  if (!(plan_.checked(node).of_frames(s.types[0], whole.shape[0]) == whole))
    throw frames_differ(frame, s.types[0], frame_type(whole));
  s.types[0] = whole;
}

// An annotation is about its reader's picture, not about what is made of that.
Annotated Chain::annotated(int node) const {
  const auto& inputs = plan_.node(node).inputs;
  if (inputs.empty() || !inputs[0] || !plan_.planned(inputs[0]->node).store) return std::nullopt;
  const Annotated& found = annotated_[static_cast<size_t>(plan_.source_of(inputs[0]->node))];
  const auto output = static_cast<size_t>(inputs[0]->output);
  return found && found->output == output ? found : std::nullopt;
}

void Chain::keep(int node, std::vector<Remark>& remarks) {
  for (Remark& r : remarks) remarks_.emplace_back(node, std::move(r));
}

// Requires: views_ are the inputs.
void Chain::infer_frame(int node, int64_t frame) {
  NodeState& s = states_[node];
  s.types.clear();
  Inference inference{s.inputs, views_,       s.types,        chance(node),
                      s.kept,   origin(node), annotated(node)};
  inference.jpeg_indexes = jpeg_indexes_;
  type(node).runs->infer(s.op(frame), inference);
  keep(node, inference.remarks);
  if (s.types.size() != s.views.size())
    throw Error(plan_.node(node).op + ": infer() gave a wrong number of outputs");
}

void Chain::infer_node(int node) {
  NodeState& s = states_[node];
  const Timed timed(times_, node);
  const auto& inputs = plan_.node(node).inputs;
  s.inputs.clear();
  if (type(node).is_merge) {
    s.taken = is_true(view(*inputs[2])) ? 0 : 1;
    s.inputs.push_back(input_type(node, s.taken));
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) s.inputs.push_back(input_type(node, i));
  }
  resolve(node);
  if (type(node).lowers) {
    lower_node(node, 0);
    if (type(node).is_merge) agree_in_layout(plan_.checked(node).outputs[0].layout, s.types[0]);
  } else {
    if (!type(node).infers()) return;  // run_early() sets the types
    see_inputs(node);
    infer_frame(node, 0);
    for (int64_t f = 1; f < std::ssize(s.ops); ++f) {
      const std::vector<TensorType> first = s.types;
      infer_frame(node, f);
      if (s.types != first) throw frames_differ(f, s.types[0], first[0]);
    }
  }
  if (s.unfold) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (plan_.checked(node).sequences[i] && type_of(*inputs[i]).shape[0] != frames_of(node))
        throw SampleError("input " + std::to_string(i) + " has " +
                          std::to_string(type_of(*inputs[i]).shape[0]) + " frames, and there are " +
                          std::to_string(frames_of(node)));
    for (size_t k = 0; k < s.types.size(); ++k)
      if (!plan_.checked(node).is_inferred(static_cast<int>(k)))
        s.types[k] = plan_.checked(node).of_frames(s.types[k], frames_of(node));
  }
  for (const TensorType& t : s.types)
    if (!t.shape.is_possible())
      throw SampleError("the output would be " + t.str() + ", more than 2^40 elements");
}

// Runs a node whose value decides shapes or arguments, or whose shapes only the run tells.
void Chain::run_early(int node) {
  const bool infers = type(node).infers();
  if (infers)
    for (size_t k = 0; k < states_[node].types.size(); ++k)
      wanted_.add_all({node, static_cast<int>(k)});
  run_node(node);
  if (!infers) take_types(node, "run_cpu()");
}

// For operators without infer(): their outputs tell the types.
void Chain::take_types(int node, const char* call) {
  NodeState& s = states_[node];
  for (size_t k = 0; k < s.views.size(); ++k) {
    if (!s.views[k].data)
      throw Error(plan_.node(node).op + ": " + call + " made no output " + std::to_string(k));
    s.types[k] = s.views[k].whole();
  }
}

// A condition without a value is in a branch that is not taken.
bool Chain::holds(const Guard& guard) const {
  const View& v = view(guard.condition);
  return v.data && is_true(v) == guard.when;
}

void Chain::infer() {
  for (int i : plan_.stage(stage_).nodes) {
    NodeState& s = states_[i];
    if (s.done) continue;
    node_ = i;
    const std::vector<Guard>& guards = plan_.node(i).guards;
    s.is_active =
        std::all_of(guards.begin(), guards.end(), [&](const Guard& g) { return holds(g); });
    s.done = !s.is_active;
    if (s.done) continue;
    if (plan_.planned(i).store) {
      read_sample(i);
      continue;
    }
    infer_node(i);
    if (plan_.planned(i).is_early) run_early(i);
  }
}

void Chain::find_judged() {
  const auto judge = [&](const Ref& r) {
    if (plan_.stage_of(r) == stage_) judged_->add_all(r);
  };
  for (const Ref& r : plan_.graph().outputs) judge(r);
  for (int later = stage_ + 1; later < plan_.stage_count(); ++later)
    for (const Carried& c : plan_.stage(later).carried) judge(c.from);
  judged_->find(stage_, true);
}

// As Run::judged. Nodes that run early are judged in whole.
std::span<const Window> Chain::judged(int node) const {
  if (!type(node).infers()) return {};
  return (judged_->has_any(node) ? *judged_ : wanted_).of(node);
}

// Where an output is written: its slot, or scratch memory for just what is wanted.
View Chain::destination(int node, int output) {
  const NodeState& s = states_[node];
  const TensorType& t = s.types[output];
  if (s.targets[output].data) return s.targets[output];
  const Window& w = wanted_.has({node, output}) ? wanted_.of(node)[output] : Window::all(t.shape);
  View v = View::window(nullptr, t.dtype, w, t.shape, t.layout);
  const int64_t room = v.shape.rank > 1 ? type(node).row_room : 0;
  if (room) v.strides[0] += room;  // the room behind one row is that before the next
  const int64_t bytes = room ? room + v.shape[0] * v.strides[0] : v.bytes();
  v.data = static_cast<std::byte*>(arena_.allocate(static_cast<size_t>(bytes))) + room;
  return v;
}

void Chain::run_sample(int node) {
  NodeState& s = states_[node];
  see_inputs(node);
  for (size_t i = 0; i < views_.size(); ++i) {
    const Layout& given = s.inputs[i].layout;
    if (!views_[i].layout.empty() || given.empty()) continue;
    const bool is_frame = plan_.checked(node).sequences[i];
    views_[i].layout = is_frame ? Layout("F" + std::string(given.str())) : given;
  }
  if (plan_.node(node).device == DeviceKind::kMixed) return run_mixed(node);
  if (type(node).infers())
    for (size_t k = 0; k < s.types.size(); ++k) s.views[k] = destination(node, static_cast<int>(k));
  if (!s.unfold) {
    const bool to_scratch = !s.targets[0].data;
    Run r{views_,       s.views,     chance(node),
          arena_,       s.kept,      to_scratch ? type(node).row_room : 0,
          judged(node), origin(node)};
    return type(node).runs->run(s.op(), r);
  }
  const std::vector<View> whole = views_;
  for (int64_t f = s.views[0].origin[0]; f < s.views[0].origin[0] + s.views[0].shape[0]; ++f) {
    frame_views_.clear();
    for (size_t i = 0; i < whole.size(); ++i)
      if (plan_.checked(node).sequences[i]) views_[i] = whole[i].frame(f);
    for (const View& v : s.views) frame_views_.push_back(v.frame(f));
    Run r{views_, frame_views_, chance(node), arena_, s.kept, 0, {}, origin(node)};
    type(node).runs->run(s.op(f), r);
  }
}

// Gives the input's own memory, unless its bytes lie otherwise than needed.
void Chain::run_alias(int node) {
  NodeState& s = states_[node];
  const View& in = view(*plan_.node(node).inputs[0]);
  const TensorType& t = s.types[0];
  const bool is_aligned = reinterpret_cast<uintptr_t>(in.data) % size_of(t.dtype) == 0;
  void* data = in.data;
  if (!in.is_dense() || !in.is_whole() || !is_aligned) {
    data = s.targets[0].data
               ? s.targets[0].data
               : arena_.allocate(static_cast<size_t>(in.full.volume() * size_of(in.dtype)));
    copy_to_dense(in, data);
  }
  s.views[0] = View::dense(data, t.dtype, t.shape, t.layout);
}

void Chain::run_line(int head, int tail) {
  View in = view(*plan_.node(head).inputs[0]);
  if (in.layout.empty())
    in.layout = states_[head].unfold
                    ? Layout("F" + std::string(states_[head].inputs[0].layout.str()))
                    : states_[head].inputs[0].layout;
  const View out = states_[tail].views[0] = destination(tail, 0);
  auto gather_blocks = [&] {
    pass_.clear();
    for (int i = head;; i = plan_.planned(i).fuses_into) {
      pass_.insert(pass_.end(), states_[i].blocks.begin(), states_[i].blocks.end());
      if (i == tail) break;
    }
  };
  gather_blocks();
  if (!states_[head].unfold) return run_blocks(pass_, in, out, arena_);
  for (int64_t f = out.origin[0]; f < out.origin[0] + out.shape[0]; ++f) {
    if (states_[head].is_per_frame() && f > 0) {
      lower_frame(head, f);
      gather_blocks();
    }
    run_blocks(pass_, in.frame(f), out.frame(f), arena_);
  }
}

void Chain::run_node(int node) {
  NodeState& s = states_[node];
  node_ = node;
  const Timed timed(times_, node);
  if (type(node).is_merge) {
    s.views[0] = view(*plan_.node(node).inputs[s.taken]);
    s.views[0].layout = s.types[0].layout;
  } else if (type(node).is_alias) {
    run_alias(node);
  } else if (type(node).lowers) {
    int tail = node;
    while (plan_.planned(tail).fuses_into >= 0 && rewrites_.fuse) {
      tail = plan_.planned(tail).fuses_into;
      states_[tail].done = true;
    }
    run_line(node, tail);
  } else {
    run_sample(node);
  }
  s.done = true;
}

// Copies values that were made elsewhere into slots: early values, bytes, outputs named twice.
void Chain::deliver() {
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (!destinations_[k].data) continue;
    const Ref from = plan_.slot(k).from;
    node_ = from.node;
    const View& made = view(from);
    if (made.data != destinations_[k].data) copy_to_dense(made, destinations_[k].data);
  }
}

void Chain::run_stage() {
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (!destinations_[k].data) continue;
    const Ref from = plan_.slot(k).from;
    states_[from.node].targets[from.output] = destinations_[k];
    wanted_.add_all(from);
  }
  want_on_device();
  wanted_.find(stage_, rewrites_.demand);
  if (judged_ != &wanted_) find_judged();
  for (int i : plan_.stage(stage_).nodes)
    if (!states_[i].done && plan_.node(i).device != DeviceKind::kGpu && wanted_.has_any(i))
      run_node(i);
  deliver();
}

}  // namespace stoker
