// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/maker.h"

#include "base/hash.h"

namespace stoker {

namespace {

constexpr int kMaxAttempts = 16;  // to find a replacement

}  // namespace

SampleMaker::SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
                         ByteSource& bytes, HostPool& pool, const DeviceHelp& help)
    : plan_(plan),
      on_error_(options.on_error),
      bytes_(bytes),
      pool_(pool),
      arena_(options.scratch_limit / static_cast<size_t>(options.num_threads)),
      chain_(plan, rewrites, options.seed, arena_),
      shelf_(plan, help, pool) {
  chain_.set_shelf(shelf_);
}

// A replacement is a function of the order's key and the position, so it is the same under any topology.
int64_t SampleMaker::index_of(int reader, const io::Place& place, int attempt) const {
  if (attempt == 0) return place.index;
  const io::OrderSpec& spec = plan_.order(reader).spec();
  const uint64_t h = mix(spec.key, static_cast<uint64_t>(place.epoch),
                         static_cast<uint64_t>(place.position), static_cast<uint64_t>(attempt));
  return static_cast<int64_t>(h % static_cast<uint64_t>(spec.size));
}

void SampleMaker::attempt(Step& step, int i, int attempt) {
  const io::Place lead = plan_.place(plan_.lead(), step.cursors[plan_.lead()], i);
  who_ = {lead.epoch, lead.position, 0};
  lead_index_ = index_of(plan_.lead(), lead, attempt);
  step.index[i] = lead_index_;
  chain_.begin(who_);
  shelf_.begin(step, i);
  for (int r = 0; r < plan_.reader_count(); ++r) {
    const io::Place p = plan_.place(r, step.cursors[r], i);
    const int64_t index = index_of(r, p, attempt);
    const int64_t sequence = attempt ? -1 : step.number * plan_.batch_size() + i;
    chain_.at_reader(r);
    chain_.feed(r, index, bytes_.take(r, sequence, index));
  }
  for (int k = 0; k < plan_.input_count(); ++k) chain_.give(k, step.fed->batches[k]->samples[i]);
  chain_.infer();
  step.device_work[i].clear();
  for (int n : plan_.device_nodes()) step.device_work[i].push_back(chain_.device_work(n));
  for (size_t k = 0; k < plan_.slots().size(); ++k) {
    const int slot = static_cast<int>(k);
    chain_.set_destination(slot, step.reserve(slot, i, chain_.slot_type(slot), pool_));
  }
  for (size_t k = 0; k < plan_.host_copies().size(); ++k)
    (void)step.reserve(static_cast<int>(plan_.slots().size() + k), i,
                       chain_.type_of(plan_.host_copies()[k].from), pool_);
  chain_.run();
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

bool SampleMaker::make(Step& step, int i, std::vector<SampleFailure>& failures) {
  const int attempts =
      on_error_ == OnError::kReplace && plan_.reader_count() ? kMaxAttempts + 1 : 1;
  for (int a = 0; a < attempts; ++a) {
    try {
      attempt(step, i, a);
      return true;
    } catch (const SampleError& e) {
      failures.push_back(failure(e, i));
      step.forget(i);
    }
  }
  return false;
}

std::span<const uint8_t> DirectBytes::take(int reader, int64_t, int64_t index) {
  io::ByteBuffer& buffer = buffers_[reader];
  const io::Extent e = plan_.source(reader).extent(index);
  if (e.file) e.file->read(buffer, e.offset, e.length);
  else io::File(e.path).read(buffer, e.offset, e.length);
  return {reinterpret_cast<const uint8_t*>(buffer.data()), buffer.size()};
}

}  // namespace stoker
