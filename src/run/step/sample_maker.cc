// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/sample_maker.h"

#include "base/hash.h"

namespace stoker {

SampleMaker::SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
                         ReaderBytes& bytes, HostPool& pool, DeviceDecoder* decoder)
    : plan_(plan),
      bytes_(bytes),
      pool_(pool),
      arena_(options.scratch_limit / static_cast<size_t>(*options.settings.num_threads)),
      chain_(plan, rewrites, static_cast<uint64_t>(*options.settings.seed), arena_),
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

void SampleMaker::attempt(Step& step, int i, int round) {
  const io::SampleRef lead = plan_.sample_at(plan_.lead(), step.cursors[plan_.lead()], i);
  who_ = {lead.epoch, lead.position, 0};
  step.index[i] = lead_index_ = index_of(plan_.lead(), lead, step.attempts[i]);
  chain_.begin(who_, round);
  shelf_.begin(step, i);
  if (round == 0) read(step, i);
  for (int k = 0; k < plan_.input_count(); ++k)
    chain_.give({plan_.input_node(k), 0}, step.fed->batches[k]->samples[i]);
  carry(step, i, round);
  chain_.infer();
  for (int n : plan_.device_nodes())
    if (plan_.planned(n).round == round)
      step.device_task[i][plan_.planned(n).device_number] = chain_.device_task(n);
  reserve(step, i, round);
  chain_.run();
}

// Every reader's bytes are taken, also after one that failed: what is read ahead for a sample waits
// until it is taken.
void SampleMaker::read(Step& step, int i) {
  const int attempt = step.attempts[i];
  std::exception_ptr failure;
  int failed = -1;
  for (int r = 0; r < plan_.reader_count(); ++r) {
    const io::SampleRef p = plan_.sample_at(r, step.cursors[r], i);
    const int64_t index = index_of(r, p, attempt);
    const int64_t turn = attempt ? -1 : step.number * plan_.batch_size() + i;
    try {
      chain_.at_reader(r);
      chain_.give_bytes(r, index, bytes_.take(r, turn, index));
    } catch (const SampleError&) {
      if (failed < 0) failed = r, failure = std::current_exception();
    }
  }
  if (failed < 0) return;
  chain_.at_reader(failed);
  std::rethrow_exception(failure);
}

void SampleMaker::carry(const Step& step, int i, int round) {
  for (const Carried& c : plan_.carried(round))
    if (c.slot >= 0) chain_.give(c.from, step.view(c.slot, i));
    else chain_.give_type(c.from, step.type_on_device(c.from, i));
}

void SampleMaker::reserve(Step& step, int i, int round) {
  for (int k = 0; k < plan_.slot_count(); ++k) {
    if (plan_.round_of(plan_.slot(k).from) != round) continue;
    const View to = step.reserve(k, i, chain_.slot_type(k), pool_);
    if (!plan_.is_host_copy(k)) chain_.set_destination(k, to);
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
  f.offset = e.offset;
  f.source = plan_.reader_count() ? plan_.name(lead_index_) : "";
  f.who = who_;
  f.index = lead_index_;
  f.in_batch = i;
  return f;
}

bool SampleMaker::make(Step& step, int i, int round, std::vector<SampleFailure>& failures) {
  while (step.attempts[i] < step.max_attempts) {
    try {
      attempt(step, i, round);
      return true;
    } catch (const SampleError& e) {
      failures.push_back(failure(e, i));
      ++step.attempts[i];
      step.forget(i, round);
      if (round > 0) return false;  // a replacement has to begin in the first round
    }
  }
  return false;
}

std::span<const uint8_t> DirectBytes::take(int reader, int64_t, int64_t index) {
  io::ByteBuffer& buffer = buffers_[reader];
  io::OpenExtent(plan_.store(reader).extent(index)).read(buffer);
  return {reinterpret_cast<const uint8_t*>(buffer.data()), buffer.size()};
}

}  // namespace stoker
