// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/sample_maker.h"

namespace stoker {

std::span<const io::Part> FetchedBytes::take(int reader, int64_t turn, int64_t index,
                                             Arena& arena) {
  const auto start = std::chrono::steady_clock::now();
  const auto admit = [&](size_t size) { arena.charge(size); };
  io::Fetcher& fetcher = *fetchers_[reader];
  std::optional<io::Fetched> fetched;
  if (turn >= 0) fetched = fetcher.take(turn, admit);
  // Else it is a replacement, or a ticket took the bytes before and went back for lack of memory.
  taken_[reader] = fetched ? std::move(*fetched) : fetcher.take_again(index, admit);
  wait_ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  bytes_read += static_cast<int64_t>(taken_[reader].size());
  return taken_[reader].parts;
}

std::shared_ptr<Buffer> FetchedBytes::owner(const View& v) const {
  for (const io::Fetched& f : taken_)
    if (const auto& owner = f.bytes.owner();
        owner && v.data >= owner->data() && v.data < owner->data() + owner->size())
      return owner;
  return nullptr;
}

SampleMaker::SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
                         Fetchers& fetchers, HostPool& pool, DeviceDecoder* decoder)
    : plan_(plan),
      rewrites_(rewrites),
      bytes_(fetchers),
      pool_(pool),
      arena_(options.scratch_limit / static_cast<size_t>(*options.settings.num_threads),
             options.scratch_limit),
      times_(plan.size()),
      chain_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, times_,
             [this](int node, auto&... p) { return take_picture(*step_, sample_, node, p...); }),
      batch_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, pool_, times_),
      decoder_(decoder) {}

// The simple executor makes samples without rewrites, which only takes more memory. A sample that
// is too large for that is made with the plan's rewrites instead, because every executor has to
// find the same samples bad.
void SampleMaker::attempt(Step& step, int i, int stage) {
  try {
    chain_.use(rewrites_);
    run_chain(step, i, stage);
  } catch (const TooLarge&) {
    if (rewrites_ == plan_.rewrites()) throw;
    chain_.use(plan_.rewrites());
    run_chain(step, i, stage);
  }
}

void SampleMaker::run_chain(Step& step, int i, int stage) {
  step.find_origins(i);
  step.forget(i, stage);
  bytes_.drop();
  chain_.begin(step.origins[i], stage);
  step_ = &step;
  sample_ = i;
  if (stage == 0) read(step, i);
  for (int k = 0; k < plan_.input_count(); ++k)
    chain_.give({plan_.input_node(k), 0}, step.fed->batches[k]->samples[i]);
  carry(step, i, stage);
  chain_.infer();
  for (int n : plan_.stage(stage).nodes)
    if (plan_.planned(n).device_number >= 0)
      step.task(n, i) = chain_.is_active(n) ? chain_.device_task(n) : DeviceTask{};
  reserve(step, i, stage);
  chain_.run();
}

// Every reader's bytes are taken, also after one that failed: what is read ahead for a sample waits
// until it is taken.
void SampleMaker::read(Step& step, int i) {
  const int attempt = step.attempts[i];
  std::exception_ptr failure;
  int failed = -1;
  for (int r = 0; r < plan_.reader_count(); ++r) {
    const int64_t index = step.origins[i][r].index;
    const int64_t turn = attempt ? -1 : step.number * plan_.batch_size() + i;
    try {
      chain_.at(plan_.reader_node(r));
      chain_.give_bytes(r, index, bytes_.take(r, turn, index, arena_));
    } catch (const SampleError&) {
      if (failed < 0) failed = r, failure = std::current_exception();
    }
  }
  if (failed < 0) return;
  chain_.at(plan_.reader_node(failed));
  std::rethrow_exception(failure);
}

void SampleMaker::carry(const Step& step, int i, int stage) {
  for (const Carried& c : plan_.stage(stage).carried)
    if (c.slot >= 0 ? !step.view(c.slot, i).data : !step.has(c.from, i)) chain_.give_none(c.from);
    else if (c.slot >= 0) chain_.give(c.from, step.view(c.slot, i));
    else chain_.give_type(c.from, step.type_on_device(c.from, i));
}

void SampleMaker::reserve(Step& step, int i, int stage) {
  const auto is_filled_now = [&](int k) {
    const Ref& from = plan_.slot(k).from;
    return plan_.stage_of(from) == stage && chain_.is_active(from.node);
  };
  size_t need = 0;
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (!is_filled_now(k)) continue;
    chain_.at(plan_.slot(k).from.node);
    step.claim(i, stage, step.claim_of(chain_.slot_type(k)));
    need += step.need_of(k, chain_.slot_type(k));
  }
  try {
    for (int k = 0; k < plan_.slot_count(); ++k) {
      if (!is_filled_now(k)) continue;
      const View to = place(step, i, k);
      if (!plan_.is_host_copy(k)) chain_.set_destination(k, to);
    }
  } catch (const Starved& s) {
    throw Starved{s.why, need};
  }
}

// Whether the device's decoder takes the picture over.
bool SampleMaker::prepare(Step& step, int i, int node, const DecodeRequest& request) {
  if (step.is_refused[i]) return false;
  try {
    step.picture(node, i).prepared = decoder_->prepare(request, pool_);
  } catch (const Starved& s) {
    step.claim(i, plan_.planned(node).stage, s.bytes);  // throws if it will always be so
    throw;
  }
  return step.picture(node, i).prepared != nullptr;
}

View SampleMaker::take_picture(Step& step, int i, int node, const TensorType& type,
                               const Window& window, const std::optional<DecodeRequest>& request) {
  const bool is_prepared = request && prepare(step, i, node, *request);
  Picture& p = step.picture(node, i);
  p.type = type;
  p.window = window;
  if (is_prepared) return {};
  p.pixels = View::window(nullptr, type.dtype, window, type.shape, type.layout);
  const auto bytes = static_cast<size_t>(std::max<int64_t>(p.pixels.bytes(), 1));
  step.claim(i, plan_.planned(node).stage, size_class(bytes));
  p.owner = pool_.try_acquire(bytes, Use::kOutput);
  if (!p.owner) throw Starved{{}, size_class(bytes)};
  p.pixels.data = p.owner->data();
  return p.pixels;
}

// Where a slot's value goes: Note [What was read].
View SampleMaker::place(Step& step, int i, int slot) {
  const View& made = chain_.made(plan_.slot(slot).from);
  if (made.data && made.is_dense() && made.is_whole())
    if (const std::shared_ptr<Buffer> owner = bytes_.owner(made))
      if (step.keep(slot, i, made, owner, pool_)) return made;
  return step.reserve(slot, i, chain_.slot_type(slot), pool_);
}

// `lead`: where the sample, or the first of the batch, comes from.
SampleFailure SampleMaker::failure(const SampleError& e, int i, const Origin& lead) const {
  SampleFailure f;
  if (chain_.node() >= 0) {
    const Node& n = plan_.node(chain_.node());
    f.op = n.op;
    f.instance = n.name;
    f.where = n.where;
  }
  f.message = e.what();
  f.who = lead.who;
  f.in_batch = i;
  if (i < 0) return f;
  f.offset = e.offset;
  f.source = lead.source();
  f.index = lead.index;
  return f;
}

bool SampleMaker::make(Step& step, int i, int stage, std::vector<SampleFailure>& failures) {
  const auto drop = [](FetchedBytes* bytes) { bytes->drop(); };
  const std::unique_ptr<FetchedBytes, decltype(drop)> at_end(&bytes_);
  while (step.attempts[i] < step.max_attempts) {
    try {
      attempt(step, i, stage);
      return true;
    } catch (const SampleError& e) {
      failures.push_back(failure(e, i, step.lead(i)));
      ++step.attempts[i];
      step.forget(i, stage);
      if (plan_.is_behind_batch(stage)) step.attempts[i] = step.max_attempts;
      if (stage > 0) return false;  // a replacement has to begin in the first stage
    }
  }
  return false;
}

void SampleMaker::make_batch(Step& step, int stage, UserCall* call,
                             std::vector<SampleFailure>& failures) {
  bytes_.drop();
  arena_.reset();
  try {
    if (call) batch_.take_results(step, stage, *call);
    else batch_.run(step, stage);
  } catch (const SampleError& e) {
    const int node = plan_.stage(stage).nodes[0];
    chain_.at(node);
    failures.push_back(failure(e, -1, step.origin(node, step.made_samples().front())));
    step.lose();
  }
}

void SampleMaker::alone(const std::function<void()>& make) {
  const auto share = [](SampleMaker* maker) {
    maker->trim();
    maker->arena_.set_alone(false);
  };
  const std::unique_ptr<SampleMaker, decltype(share)> at_end(this);
  trim();
  arena_.set_alone(true);
  make();
}

void SampleMaker::trim() {
  bytes_.drop();
  arena_.trim();
}

}  // namespace stoker
