// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/chain/chain.h"

#include "kernels/fused/fused.h"
#include "kernels/strided_copy.h"

namespace stoker {

namespace {

Window frame_window(const Window& w) {
  return {View::without_first(w.begin), View::without_first(w.end)};
}

Window sequence_window(const Window& w, int64_t begin, int64_t end) {
  Window s{{begin}, {end}};
  for (int a = 0; a < w.begin.rank; ++a) s.begin.push_back(w.begin[a]), s.end.push_back(w.end[a]);
  return s;
}

// Whether a sample is of the type that was announced, in which -1 stands for what is not known.
bool fits(const TensorType& made, const TensorType& announced) {
  if (made.dtype != announced.dtype) return false;
  if (announced.shape.rank < 0) return true;
  if (made.shape.rank != announced.shape.rank) return false;
  for (int a = 0; a < made.shape.rank; ++a)
    if (announced.shape[a] >= 0 && made.shape[a] != announced.shape[a]) return false;
  return true;
}

}  // namespace

Chain::Chain(const Plan& plan, uint64_t seed, Arena& arena, NodeTimes& times)
    : plan_(plan),
      seed_(seed),
      arena_(arena),
      states_(plan.size()),
      destinations_(plan.slot_count()),
      times_(times) {
  for (int i = 0; i < plan.size(); ++i) {
    const size_t outputs = plan.checked(i).outputs.size();
    State& s = states_[i];
    s.types.resize(outputs);
    s.views.resize(outputs);
    s.targets.resize(outputs);
    for (Windows* w : {&s.wanted, &s.judged}) w->of.resize(outputs), w->has.resize(outputs);
    s.unfold = plan.checked(i).unfold;
  }
}

Chain::~Chain() { forget(); }

void Chain::use(const Rewrites& rewrites) {
  rewrites_ = rewrites;
  judged_ = rewrites.demand && !plan_.has_device_stage() ? &State::wanted : &State::judged;
}

void Chain::forget() {
  for (Operator* o : copies_) o->~Operator();
  copies_.clear();
}

void Chain::begin(std::span<const Origin> origins, int stage) {
  forget();
  arena_.reset();
  origins_ = origins;
  stage_ = stage;
  for (State& s : states_) {
    s.ops.clear();
    s.blocks.clear();
    s.inputs.clear();
    s.kept.clear();
    s.done = false;
    s.is_active = true;
    std::fill(s.views.begin(), s.views.end(), View{});
    std::fill(s.targets.begin(), s.targets.end(), View{});
    for (Windows* w : {&s.wanted, &s.judged}) std::fill(w->has.begin(), w->has.end(), 0);
  }
  std::fill(destinations_.begin(), destinations_.end(), View{});
}

Chance Chain::chance(int node) const {
  const Identity& who = origin(node).who;
  return Chance(seed_, plan_.checked(node).key, who.epoch, who.position, who.child);
}

void Chain::check_output_count(int node) const {
  if (states_[node].types.size() != states_[node].views.size())
    throw Error(plan_.node(node).op + ": infer() gave a wrong number of outputs");
}

void Chain::give_bytes(int reader, int64_t index, std::span<const io::Part> parts) {
  State& s = states_[plan_.reader_node(reader)];
  s.parts = parts;
  s.index = index;
}

// Makes the outputs of a reader of what was read.
void Chain::read_sample(int node) {
  State& s = states_[node];
  const Timed timed(times_, node);
  resolve(node);
  const Reads& reads = *plan_.checked(node).type->reads;
  Reading r{*plan_.planned(node).store, s.index, s.parts, s.views, arena_};
  if (reads.read) reads.read(s.op(), r);
  else r.store.read(r);
  for (size_t k = 0; k < s.views.size(); ++k) {
    if (!s.views[k].data)
      throw Error(plan_.node(node).op + ": read() made no output " + std::to_string(k));
    s.types[k] = s.views[k].whole();
    if (!fits(s.types[k], plan_.checked(node).outputs[k]))
      throw SampleError("output " + std::to_string(k) + " is " + s.types[k].str() + ", expected " +
                        plan_.checked(node).outputs[k].str());
  }
  s.done = true;
}

void Chain::give(const Ref& value, const View& sample) {
  give_type(value, {sample.dtype, sample.layout, sample.shape});
  states_[value.node].views[value.output] = sample;
}

void Chain::give_type(const Ref& value, const TensorType& type) {
  State& s = states_[value.node];
  s.types.resize(s.views.size());
  s.types[value.output] = type;
  s.done = true;
}

// Requires: the node's input is a sequence.
int64_t Chain::frames_of(int node) const {
  const Ref from = *plan_.node(node).inputs[0];
  return states_[from.node].types[from.output].shape[0];
}

bool Chain::has_frames(int node, size_t link) const {
  const CheckedNode& c = plan_.checked(node);
  const Ref from = plan_.node(node).links[link].from;
  return c.unfold && c.type->arguments[c.link_arguments[link]].per_frame &&
         states_[from.node].views[from.output].layout.str().starts_with('F');
}

// Finds the operators for this sample: the plan's own, or copies that hold the computed arguments.
void Chain::resolve(int node) {
  const Operator& own = *plan_.checked(node).op;
  State& s = states_[node];
  s.ops.assign(1, &own);
  const size_t links = plan_.node(node).links.size();
  if (links == 0) return;
  bool by_frame = false;
  for (size_t i = 0; i < links; ++i) by_frame |= has_frames(node, i);
  const int64_t count = by_frame ? std::max<int64_t>(frames_of(node), 1) : 1;
  for (int64_t f = 0; f < count; ++f) add_copy(node, f);
  const auto made = std::span<Operator* const>(copies_).last(static_cast<size_t>(count));
  if (by_frame) own.agree(made, s.inputs[0]);
  s.ops.assign(made.begin(), made.end());
}

// Adds a copy of the node's operator to copies_, with the arguments for a frame.
void Chain::add_copy(int node, int64_t frame) {
  const CheckedNode& c = plan_.checked(node);
  const auto& links = plan_.node(node).links;
  Operator* copy = c.op->copy_to(arena_.allocate(c.op->copy_size()));
  copies_.push_back(copy);
  for (size_t i = 0; i < links.size(); ++i) {
    const Ref from = links[i].from;
    const View& value = states_[from.node].views[from.output];
    if (!has_frames(node, i)) copy->set(c.link_arguments[i], value);
    else if (frame < value.full[0]) copy->set(c.link_arguments[i], value.frame(frame));
    else if (frame < frames_of(node))
      throw SampleError("argument '" + links[i].argument + "' has values for " +
                        std::to_string(value.full[0]) + " frames, the input has " +
                        std::to_string(frames_of(node)));
  }
}

TensorType Chain::input_type(int node, size_t i) const {
  const auto& in = plan_.node(node).inputs[i];
  if (!in) return {};
  TensorType t = states_[in->node].types[in->output];
  if (i == 0 && states_[node].unfold) {
    t = frame_type(t);
  }
  const Port& port = plan_.checked(node).type->input(i);
  if (t.layout.empty() && *port.layouts) t.layout = default_layout(port, t.shape.rank);
  return t;
}

void Chain::lower_node(int node, int64_t frame) {
  State& s = states_[node];
  const auto& inputs = plan_.node(node).inputs;
  views_.assign(inputs.size(), View{});
  for (size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i]) views_[i] = states_[inputs[i]->node].views[inputs[i]->output];
  s.blocks.clear();
  made_.clear();
  Lowering l(s.inputs[0], views_, chance(node), s.blocks, made_, arena_);
  plan_.checked(node).type->lowers->lower(s.op(frame), l);
  if (made_.size() + 1 != s.views.size())
    throw Error(plan_.node(node).op + ": lower() made a wrong number of outputs");
  s.types.assign(1, l.type());
  for (const View& v : made_) {
    s.views[s.types.size()] = v;
    s.types.push_back({v.dtype, v.layout, v.shape});
  }
}

// Makes the blocks of a later frame, whose result must have the shape of the first frame's.
void Chain::lower_frame(int node, int64_t frame) {
  State& s = states_[node];
  const TensorType whole = s.types[0];
  lower_node(node, frame);
  if (!(sequence_type(s.types[0], whole.shape[0]) == whole))
    throw SampleError("frame " + std::to_string(frame) + " becomes " + s.types[0].str() +
                      ", frame 0 became " + frame_type(whole).str() + "; all frames must agree");
  s.types[0] = whole;
}

// Of the side that a merge takes. `all`: the layout of what it gives, or an unknown one.
void Chain::agree_in_layout(const Layout& all, TensorType& side) {
  if (side.layout.empty()) side.layout = all;
  else if (!all.empty() && side.layout != all)
    throw SampleError("both sides expect the same layout, got " + std::string(side.layout.str()) +
                      " on the side that is taken, where " + std::string(all.str()) +
                      " is expected");
}

void Chain::infer_node(int node) {
  State& s = states_[node];
  const Timed timed(times_, node);
  const auto& inputs = plan_.node(node).inputs;
  s.inputs.clear();
  if (is_merge(node)) {
    s.taken = is_true(states_[inputs[2]->node].views[inputs[2]->output]) ? 0 : 1;
    s.inputs.push_back(input_type(node, s.taken));
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) s.inputs.push_back(input_type(node, i));
  }
  resolve(node);
  if (plan_.checked(node).type->lowers) {
    lower_node(node, 0);
    if (is_merge(node)) agree_in_layout(plan_.checked(node).outputs[0].layout, s.types[0]);
  } else {
    views_.assign(inputs.size(), View{});
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) views_[i] = states_[inputs[i]->node].views[inputs[i]->output];
    if (!plan_.checked(node).type->infers()) return;  // run_early() sets the types
    s.types.clear();
    Inference inference{s.inputs, views_, s.types, chance(node), s.kept, origin(node)};
    plan_.checked(node).type->runs->infer(s.op(), inference);
    check_output_count(node);
  }
  if (s.unfold) {
    for (size_t k = 0; k < s.types.size(); ++k)
      if (!plan_.checked(node).is_inferred(static_cast<int>(k)))
        s.types[k] = sequence_type(s.types[k], frames_of(node));
  }
  for (const TensorType& t : s.types)
    if (!t.shape.is_possible())
      throw SampleError("the output would be " + t.str() + ", more than 2^40 elements");
}

// Runs a node whose value decides shapes or arguments, or of which only the run tells the shapes.
void Chain::run_early(int node) {
  State& s = states_[node];
  const bool infers = plan_.checked(node).type->infers();
  for (size_t k = 0; k < s.types.size(); ++k) {
    if (infers) s.wanted.of[k] = Window::all(s.types[k].shape);
    s.wanted.has[k] = 1;
  }
  run_node(node);
  if (infers) return;
  for (size_t k = 0; k < s.types.size(); ++k) {
    const View& v = s.views[k];
    if (!v.data)
      throw Error(plan_.node(node).op + ": run_cpu() made no output " + std::to_string(k));
    s.types[k] = v.whole();
  }
}

// A condition without a value is in a branch that is not taken.
bool Chain::holds(const Guard& guard) const {
  const View& v = states_[guard.condition.node].views[guard.condition.output];
  return v.data && is_true(v) == guard.when;
}

void Chain::infer() {
  for (int i : plan_.stage(stage_).nodes) {
    State& s = states_[i];
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

TensorType Chain::slot_type(int slot) const {
  const Ref from = plan_.slot(slot).from;
  return states_[from.node].types[from.output];
}

bool Chain::is_wanted(int node, Windows State::* which) const {
  const auto& has = (states_[node].*which).has;
  return std::any_of(has.begin(), has.end(), [](char c) { return c; });
}

void Chain::want(const Ref& r, const Window& w, Windows State::* which) {
  State& s = states_[r.node];
  if (s.done || plan_.checked(r.node).is_inferred(r.output)) return;
  Window& wanted = (s.*which).of[r.output];
  if (!std::exchange((s.*which).has[r.output], 1)) wanted = w;
  else wanted.include(w);
}

void Chain::want_all(const Ref& r, Windows State::* which) {
  if (!states_[r.node].done) want(r, Window::all(states_[r.node].types[r.output].shape), which);
}

void Chain::demand_nodes(Windows State::* which, bool narrows) {
  const std::vector<int>& nodes = plan_.stage(stage_).nodes;
  for (auto i = nodes.rbegin(); i != nodes.rend(); ++i) demand_node(*i, which, narrows);
}

void Chain::demand_node(int node, Windows State::* which, bool narrows) {
  State& s = states_[node];
  if (s.done || !is_wanted(node, which)) return;
  if (is_merge(node)) return demand_taken(node, which);
  if (plan_.checked(node).type->is_alias) return demand_bytes(node, which);
  const auto& inputs = plan_.node(node).inputs;
  std::vector<Window>& wanted = (s.*which).of;
  for (size_t k = 0; k < s.types.size(); ++k)
    if (!(s.*which).has[k]) wanted[k] = Window::all(s.types[k].shape);
  std::vector<Window>& needed = needed_;
  needed.clear();
  for (const TensorType& t : s.inputs) needed.push_back(Window::all(t.shape));
  narrows = narrows && !s.is_per_frame() && !s.inputs.empty();
  if (narrows && plan_.checked(node).type->lowers) {
    needed[0] =
        stoker::demand(s.blocks, s.inputs[0], s.unfold ? frame_window(wanted[0]) : wanted[0]);
  } else if (narrows && !s.unfold && plan_.checked(node).type->runs->demand) {
    Demand d{s.inputs, wanted, needed};
    plan_.checked(node).type->runs->demand(s.op(), d);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const bool frames = i == 0 && s.unfold;
    want(*inputs[i],
         frames ? sequence_window(needed[i], wanted[0].begin[0], wanted[0].end[0]) : needed[i],
         which);
  }
}

// A merge is an alias of the side that it takes, which is made where the merge's value has to go.
void Chain::demand_taken(int node, Windows State::* which) {
  const State& s = states_[node];
  const Ref from = taken(node);
  View& target = states_[from.node].targets[from.output];
  if (!target.data) target = s.targets[0];
  want(from, (s.*which).of[0], which);
}

// An alias needs all of its input, which is made where the alias has to go.
void Chain::demand_bytes(int node, Windows State::* which) {
  const State& s = states_[node];
  const Ref from = *plan_.node(node).inputs[0];
  View& target = states_[from.node].targets[from.output];
  const TensorType& t = s.inputs[0];
  if (!target.data && s.targets[0].data)
    target = View::dense(s.targets[0].data, t.dtype, t.shape, t.layout);
  want_all(from, which);
}

void Chain::find_judged() {
  const auto judge = [&](const Ref& r) {
    if (plan_.stage_of(r) == stage_) want_all(r, judged_);
  };
  for (const Ref& r : plan_.graph().outputs) judge(r);
  for (int later = stage_ + 1; later < plan_.stage_count(); ++later)
    for (const Carried& c : plan_.stage(later).carried) judge(c.from);
  demand_nodes(judged_, true);
}

// As Run::judged. Nodes that run early are judged in whole.
std::span<const Window> Chain::judged(int node) const {
  const State& s = states_[node];
  if (!plan_.checked(node).type->infers()) return {};
  return (is_wanted(node, judged_) ? s.*judged_ : s.wanted).of;
}

// Where an output is written: its slot, or scratch memory that covers just what is wanted.
View Chain::destination(int node, int output) {
  const State& s = states_[node];
  const TensorType& t = s.types[output];
  if (s.targets[output].data) return s.targets[output];
  const Window& w = s.wanted.has[output] ? s.wanted.of[output] : Window::all(t.shape);
  View v = View::window(nullptr, t.dtype, w, t.shape, t.layout);
  const int64_t room = v.shape.rank > 1 ? plan_.checked(node).type->row_room : 0;
  if (room) v.strides[0] += room;  // the room behind one row is that before the next
  const int64_t bytes = room ? room + v.shape[0] * v.strides[0] : v.bytes();
  v.data = static_cast<std::byte*>(arena_.allocate(static_cast<size_t>(bytes))) + room;
  return v;
}

void Chain::run_sample(int node) {
  State& s = states_[node];
  const auto& inputs = plan_.node(node).inputs;
  views_.assign(inputs.size(), View{});
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    views_[i] = states_[inputs[i]->node].views[inputs[i]->output];
    if (views_[i].layout.empty()) views_[i].layout = s.inputs[i].layout;
  }
  if (plan_.node(node).device == DeviceKind::kMixed) return run_mixed(node);
  if (plan_.checked(node).type->infers())
    for (size_t k = 0; k < s.types.size(); ++k) s.views[k] = destination(node, static_cast<int>(k));
  if (!s.unfold) {
    const bool to_scratch = !s.targets[0].data;
    Run r{views_,       s.views,     chance(node),
          arena_,       s.kept,      to_scratch ? plan_.checked(node).type->row_room : 0,
          judged(node), origin(node)};
    return plan_.checked(node).type->runs->run(s.op(), r);
  }
  const View sequence = views_[0];
  for (int64_t f = s.views[0].origin[0]; f < s.views[0].origin[0] + s.views[0].shape[0]; ++f) {
    frame_views_.clear();
    views_[0] = sequence.frame(f);
    for (const View& v : s.views) frame_views_.push_back(v.frame(f));
    Run r{views_, frame_views_, chance(node), arena_, s.kept, 0, {}, origin(node)};
    plan_.checked(node).type->runs->run(s.op(f), r);
  }
}

// Gives the input's own memory, unless the bytes do not lie there as they are needed.
void Chain::run_alias(int node) {
  State& s = states_[node];
  const Ref from = *plan_.node(node).inputs[0];
  const View& in = states_[from.node].views[from.output];
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

void Chain::run_pass(int head, int tail) {
  const Ref from = *plan_.node(head).inputs[0];
  View in = states_[from.node].views[from.output];
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
  State& s = states_[node];
  node_ = node;
  const Timed timed(times_, node);
  if (is_merge(node)) {
    const Ref from = taken(node);
    s.views[0] = states_[from.node].views[from.output];
    s.views[0].layout = s.types[0].layout;
    s.done = true;
  } else if (plan_.checked(node).type->is_alias) {
    run_alias(node);
    s.done = true;
  } else if (plan_.checked(node).type->lowers) {
    int tail = node;
    while (plan_.planned(tail).fuses_into >= 0 && rewrites_.fuse)
      tail = plan_.planned(tail).fuses_into;
    run_pass(node, tail);
    for (int i = node; i != tail; i = plan_.planned(i).fuses_into) states_[i].done = true;
    states_[tail].done = true;
  } else {
    run_sample(node);
    s.done = true;
  }
}

// Copies values that were made elsewhere into slots: early values, bytes, outputs named twice.
void Chain::deliver() {
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (!destinations_[k].data) continue;
    const Ref from = plan_.slot(k).from;
    node_ = from.node;
    const View& made = states_[from.node].views[from.output];
    if (made.data != destinations_[k].data) copy_to_dense(made, destinations_[k].data);
  }
}

void Chain::run() {
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (!destinations_[k].data) continue;
    const Ref from = plan_.slot(k).from;
    states_[from.node].targets[from.output] = destinations_[k];
    want_all(from, &State::wanted);
  }
  want_on_device();
  demand_nodes(&State::wanted, rewrites_.demand);
  if (judged_ != &State::wanted) find_judged();
  for (int i : plan_.stage(stage_).nodes)
    if (!states_[i].done && plan_.node(i).device != DeviceKind::kGpu &&
        is_wanted(i, &State::wanted))
      run_node(i);
  deliver();
}

}  // namespace stoker
