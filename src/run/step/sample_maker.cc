// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/sample_maker.h"

namespace stoker {

SampleMaker::SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
                         Fetchers& fetchers, HostPool& pool, DeviceDecoder* decoder)
    : plan_(plan),
      rewrites_(rewrites),
      bytes_(fetchers),
      pool_(pool),
      arena_(options.scratch_limit / static_cast<size_t>(*options.settings.num_threads),
             options.scratch_limit, MemoryShares::kScratch.in_words()),
      times_(plan.size()),
      chain_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, times_),
      batch_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, pool_, times_),
      decoder_(decoder) {
  chain_.use(options.jpeg_indexes);
}

// Every executor has to find the same samples bad. So what is too large for the simple one, which
// makes samples without rewrites, is made with those of the plan.
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
  step.samples.find_origins(i);
  step.forget(i, stage);
  bytes_.drop();
  chain_.begin(
      step.samples.origins[i], step.samples.annotated[i], stage,
      [this, &step, i](int node, auto&... p) { return take_picture(step, i, node, p...); });
  if (stage == 0) take_bytes(step, i);
  for (int k = 0; k < plan_.input_count(); ++k)
    chain_.give_value({plan_.input_node(k), 0}, step.slots.host_view({plan_.input_node(k), 0}, i));
  carry(step, i, stage);
  chain_.infer();
  for (int n : plan_.stage(stage).nodes)
    if (plan_.planned(n).device_number >= 0)
      step.on_device.task(n, i) = chain_.is_active(n) ? chain_.device_task(n) : DeviceTask{};
  reserve(step, i, stage);
  chain_.run_stage();
}

// Goes on behind a reader that failed, because what was read ahead waits until it is taken.
void SampleMaker::take_bytes(Step& step, int i) {
  const int attempt = step.samples.attempts[i];
  std::exception_ptr failure;
  int failed = -1;
  for (int r = 0; r < plan_.reader_count(); ++r) {
    const int64_t index = step.samples.origins[i][r].index;
    const int64_t turn = attempt ? -1 : step.number * plan_.batch_size() + i;
    try {
      chain_.at(plan_.reader_node(r));
      chain_.give_bytes(r, index, bytes_.take_sample(r, turn, index, arena_));
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
    if (c.slot >= 0 ? !step.slots.view(c.slot, i).data : !step.has(c.from, i))
      chain_.give_none(c.from);
    else if (c.slot >= 0) chain_.give_value(c.from, step.slots.view(c.slot, i));
    else chain_.give_type(c.from, step.on_device.type_of(c.from, i));
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
    step.slots.claim(i, stage, step.slots.claim_of(chain_.slot_type(k)));
    need += step.slots.need_of(k, chain_.slot_type(k));
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
  if (step.on_device.is_refused[i]) return false;
  try {
    step.on_device.picture(node, i).prepared = decoder_->prepare(request, pool_);
  } catch (const Starved& s) {
    step.slots.claim(i, plan_.planned(node).stage, s.bytes);  // throws if it will always be so
    throw;
  }
  return step.on_device.picture(node, i).prepared != nullptr;
}

View SampleMaker::take_picture(Step& step, int i, int node, const TensorType& type,
                               const Window& window, const std::optional<DecodeRequest>& request) {
  const bool is_prepared = request && prepare(step, i, node, *request);
  Picture& p = step.on_device.picture(node, i);
  p.type = type;
  p.window = window;
  if (is_prepared) return {};
  p.pixels = View::window(nullptr, type.dtype, window, type.shape, type.layout);
  const auto bytes = static_cast<size_t>(std::max<int64_t>(p.pixels.bytes(), 1));
  step.slots.claim(i, plan_.planned(node).stage, size_class(bytes));
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
      if (step.slots.keep(slot, i, made, owner, pool_)) return made;
  return step.slots.reserve(slot, i, chain_.slot_type(slot), pool_);
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
  f.fault = fault_of(e);
  f.who = lead.who;
  f.in_batch = i;
  if (i < 0) return f;
  f.offset = e.offset;
  f.source = lead.source();
  f.index = lead.index;
  return f;
}

void SampleMaker::keep_remarks(Step& step, int i, int stage) {
  if (stage == 0) step.samples.remarks[i].clear();
  for (const auto& [node, remark] : chain_.remarks()) {
    chain_.at(node);
    step.samples.remarks[i].push_back(
        {failure(SampleError(remark.found), i, step.samples.lead(i)), remark.advice});
  }
}

bool SampleMaker::make(Step& step, int i, int stage, std::vector<SampleFailure>& failures) {
  const auto drop = [](FetchedBytes* bytes) { bytes->drop(); };
  const std::unique_ptr<FetchedBytes, decltype(drop)> at_end(&bytes_);
  while (step.samples.attempts[i] < step.samples.max_attempts) {
    try {
      attempt(step, i, stage);
      keep_remarks(step, i, stage);
      return true;
    } catch (const SampleError& e) {
      failures.push_back(failure(e, i, step.samples.lead(i)));
      ++step.samples.attempts[i];
      step.forget(i, stage);
      if (plan_.is_behind_batch(stage)) step.samples.attempts[i] = step.samples.max_attempts;
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
    else batch_.run_operator(step, stage);
  } catch (const SampleError& e) {
    const int node = plan_.stage(stage).nodes[0];
    chain_.at(node);
    failures.push_back(failure(e, -1, step.samples.origin(node, step.samples.made().front())));
    step.samples.lose();
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
