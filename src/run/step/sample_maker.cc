// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/sample_maker.h"

#include "base/hash.h"

namespace stoker {

SampleMaker::SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
                         ReaderBytes& bytes, HostPool& pool, DeviceDecoder* decoder)
    : plan_(plan),
      rewrites_(rewrites),
      bytes_(bytes),
      pool_(pool),
      arena_(options.scratch_limit / static_cast<size_t>(*options.settings.num_threads),
             options.scratch_limit),
      times_(plan.size()),
      chain_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, times_),
      batch_(plan, static_cast<uint64_t>(*options.settings.seed), arena_, pool_, times_),
      shelf_(plan, decoder, pool) {
  chain_.set_shelf(shelf_);
}

// A replacement depends only on the order's key and the position, so it is the same for any number
// of shards, workers or batches.
int64_t SampleMaker::index_of(int reader, const io::SampleRef& place, int attempt) const {
  if (attempt == 0) return place.index;
  const io::OrderSpec& spec = plan_.order(reader).spec();
  const uint64_t h = mix(spec.key, static_cast<uint64_t>(place.epoch),
                         static_cast<uint64_t>(place.position), static_cast<uint64_t>(attempt));
  return static_cast<int64_t>(h % static_cast<uint64_t>(spec.size));
}

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
  const auto index = [&](int r) {
    return index_of(r, plan_.sample_at(r, step.cursors[r], i), step.attempts[i]);
  };
  step.find_origins(i, index);
  lead_ = step.origins[i][plan_.reader_count() ? plan_.lead() : plan_.source_count() - 1];
  step.forget(i, stage);
  bytes_.drop();
  chain_.begin(step.origins[i], stage);
  shelf_.begin(step, i);
  if (stage == 0) read(step, i);
  for (int k = 0; k < plan_.input_count(); ++k)
    chain_.give({plan_.input_node(k), 0}, step.fed->batches[k]->samples[i]);
  carry(step, i, stage);
  chain_.infer();
  for (int n : plan_.stage(stage).nodes)
    if (const int number = plan_.planned(n).device_number; number >= 0)
      step.device_task[i][number] = chain_.is_active(n) ? chain_.device_task(n) : DeviceTask{};
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
    step.claim(i, stage, step.claim_of(k, chain_.slot_type(k)));
    need += step.need_of(k, chain_.slot_type(k));
  }
  try {
    for (int k = 0; k < plan_.slot_count(); ++k) {
      if (!is_filled_now(k)) continue;
      const View to = step.reserve(k, i, chain_.slot_type(k), pool_);
      if (!plan_.is_host_copy(k)) chain_.set_destination(k, to);
    }
  } catch (const Starved& s) {
    throw Starved{s.why, need};
  }
}

SampleFailure SampleMaker::failure(const SampleError& e, int i) const {
  SampleFailure f;
  if (chain_.node() >= 0) {
    const Node& n = plan_.node(chain_.node());
    f.op = n.op;
    f.instance = n.name;
    f.where = n.where;
  }
  f.message = e.what();
  f.who = lead_.who;
  f.in_batch = i;
  if (i < 0) return f;
  f.offset = e.offset;
  f.source = lead_.source();
  f.index = lead_.index;
  return f;
}

bool SampleMaker::make(Step& step, int i, int stage, std::vector<SampleFailure>& failures) {
  struct Drop {
    ReaderBytes& bytes;
    ~Drop() { bytes.drop(); }
  };
  const Drop at_end{bytes_};
  while (step.attempts[i] < step.max_attempts) {
    try {
      attempt(step, i, stage);
      return true;
    } catch (const SampleError& e) {
      failures.push_back(failure(e, i));
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
  chain_.forget();
  bytes_.drop();
  arena_.reset();
  try {
    if (call) batch_.take_results(step, stage, *call);
    else batch_.run(step, stage);
  } catch (const SampleError& e) {
    const int node = plan_.stage(stage).nodes[0];
    lead_ = step.origin(node, step.made_samples().front());
    chain_.at(node);
    failures.push_back(failure(e, -1));
    step.lose();
  }
}

void SampleMaker::alone(const std::function<void()>& make) {
  struct Alone {
    SampleMaker& maker;
    explicit Alone(SampleMaker& m) : maker(m) { set(true); }
    ~Alone() { set(false); }
    void set(bool is_alone) {
      maker.trim();
      maker.arena_.set_alone(is_alone);
    }
  };
  const Alone alone(*this);
  make();
}

void SampleMaker::trim() {
  bytes_.drop();
  chain_.forget();
  arena_.trim();
}

void DirectBytes::drop() {
  for (Read& r : read_) {
    r.buffer = {};
    r.parts.clear();
  }
}

std::span<const io::Part> DirectBytes::take(int reader, int64_t, int64_t index, Arena& arena) {
  using Kind = io::Place::Kind;
  Read& r = read_[static_cast<size_t>(reader)];
  const SampleStore& store = plan_.store(reader);
  io::Place place = store.place(index);
  r.parts.clear();
  r.buffer.clear();
  if (place.kind == Kind::kBlock) {
    take_block(r, store, place.block, arena);
    store.find(index, *r.block, r.parts);
  } else if (place.kind == Kind::kItself) {
    arena.charge(place.bytes);
    std::vector<size_t> ends;
    store.fetch(index, r.buffer, ends);
    const auto* data = reinterpret_cast<const uint8_t*>(r.buffer.data());
    for (size_t begin = 0; const size_t end : ends) {
      r.parts.emplace_back(data + begin, end - begin);
      begin = end;
    }
  } else {
    const io::OpenExtents extents(std::move(place.extents));
    arena.charge(extents.size());
    extents.read(r.buffer, r.parts);
  }
  return r.parts;
}

void DirectBytes::take_block(Read& read, const SampleStore& store, int64_t block, Arena& arena) {
  const size_t bytes = store.block_bytes(block);
  if (bytes > window_) arena.charge(bytes);
  if (read.block && read.block_number == block && bytes <= window_) return;
  read.block.reset();
  read.block = store.load(block);
  read.block_number = block;
}

}  // namespace stoker
