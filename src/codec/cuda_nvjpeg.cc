// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/cuda_nvjpeg.h"

#include <algorithm>
#include <cstring>

#include "codec/cuda_nvjpeg_engine.h"
#include "codec/cuda_nvjpeg_wish.h"
#include "memory/cuda_core.h"
#include "memory/cuda_native.h"
#include "memory/held.h"

namespace stoker::nvjpeg {

namespace {

using Held = std::vector<std::shared_ptr<void>>;  // until the stream has passed it

// Note [What pictures hold]
struct Lease {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Buffer> bytes;  // the encoded picture
  std::shared_ptr<void> charge;  // for what the page-locked buffer holds
  std::unique_ptr<Slot> slot;

  Lease(std::shared_ptr<Engine> e, std::unique_ptr<Slot> s)
      : engine(std::move(e)), slot(std::move(s)) {}
  ~Lease() { engine->put(std::move(slot)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(bytes->data());
  }
  // Keeps the picture's bytes, and counts `more`. Throws NoRoom.
  void keep(EncodedSpan encoded, size_t more, HostPool& pool) {
    if (more) charge = pool.try_charge(more, Use::kOutput);
    if (charge || !more) bytes = pool.try_acquire(encoded.size(), Use::kOutput);
    if (!bytes) throw NoRoom{};
    std::memcpy(bytes->data(), encoded.data(), encoded.size());
  }
};

struct Prepared final : PreparedPicture {
  std::shared_ptr<Lease> lease;
  Wish wish;
  Backend backend = kHybrid;
  bool is_cut = false;  // decoded whole, then the window is copied
};

// One call for the hardware engine.
struct HardwareBatch {
  std::shared_ptr<Engine> engine;
  OutputFormat format = kRgbInterleaved;
  std::unique_ptr<BatchState> state;
  std::vector<const unsigned char*> data;
  std::vector<size_t> sizes;
  std::vector<Image> images;
  std::vector<ParamsHandle> params;

  HardwareBatch(std::shared_ptr<Engine> e, OutputFormat f)
      : engine(std::move(e)), format(f), state(engine->take_batch_state()) {}
  ~HardwareBatch() { engine->put(std::move(state)); }
  HardwareBatch(const HardwareBatch&) = delete;
  HardwareBatch& operator=(const HardwareBatch&) = delete;
};

const Prepared& prepared(const DecodeJob& job) {
  return static_cast<const Prepared&>(*job.prepared);
}

// Where nvJPEG writes a job's pixels: to its place or, where they are cut, beside it.
class Target {
 public:
  // Throws BudgetError.
  Target(Stream& stream, const DecodeJob& job, const DeviceBudget& memory)
      : stream_(stream), job_(job) {
    const Wish& w = wish();
    const bool is_cut = prepared(job).is_cut;
    const size_t pitch = static_cast<size_t>(is_cut ? w.width : w.columns) * w.channels;
    image_ = {{job.out.as<unsigned char>()}, {pitch}};
    if (!is_cut) return;
    const size_t bytes = pitch * static_cast<size_t>(w.height);
    whole_ = memory.try_acquire(stream, bytes);
    if (!whole_)
      throw BudgetError(stream.device().name() + ": no memory for " + in_words(bytes) +
                        " of a picture of which a window is wanted");
    image_.channel[0] = reinterpret_cast<unsigned char*>(whole_->data());
  }

  Image& image() { return image_; }
  // Enqueues the copy of the window, where there is one. Throws DeviceError.
  void finish() const {
    if (!whole_) return;
    const Wish& w = wish();
    const size_t row = static_cast<size_t>(w.columns) * w.channels;
    const size_t skipped = static_cast<size_t>(w.y) * image_.pitch[0] +
                           static_cast<size_t>(w.x) * static_cast<size_t>(w.channels);
    const cudaError_t e = cudaMemcpy2DAsync(
        job_.out.as<unsigned char>(), row, image_.channel[0] + skipped, image_.pitch[0], row,
        static_cast<size_t>(w.rows), cudaMemcpyDeviceToDevice, native_stream(stream_));
    if (e == cudaSuccess) return;
    (void)cudaGetLastError();
    throw DeviceError(stream_.device().name() + ", copy 'window' on stream '" + stream_.name() +
                      "': " + cudaGetErrorString(e) + " (" + cudaGetErrorName(e) + ")");
  }

 private:
  const Wish& wish() const { return prepared(job_).wish; }
  Stream& stream_;
  const DecodeJob& job_;
  Image image_ = {};
  std::shared_ptr<DeviceBuffer> whole_;
};

class NvJpeg final : public DeviceDecoder {
 public:
  // Throws as Engine.
  NvJpeg(std::shared_ptr<const DeviceBudget> memory, std::shared_ptr<const Library> library)
      : memory_(std::move(memory)),
        index_(memory_->device().index()),
        library_(std::move(library)) {
    const cuda::Current current(index_);
    engines_[true] = std::make_shared<Engine>(library_, memory_, true);
  }

  DecoderKind kind() const override {
    const bool has_hardware = engines_[true]->hardware() != nullptr;
    return {"nvJPEG", "nvJPEG " + library_->version.str() + " (" + library_->place +
                          ") decodes on " + memory_->device().name() +
                          (has_hardware ? ", with its JPEG engine" : "") +
                          "; the CPU decodes what nvJPEG does not do"};
  }

  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& request, HostPool& pool) override {
    const std::optional<Wish> wish = wish_of(request);
    if (!wish) return nullptr;
    const cuda::Current current(index_);
    try {
      return prepare(request, *wish, pool);
    } catch (const BudgetError&) {
      drop_idle();
    }
    try {
      return prepare(request, *wish, pool);
    } catch (const BudgetError& e) {
      throw NoRoom{e.what()};
    }
  }

  std::vector<size_t> decode(Stream& stream, std::span<const DecodeJob> jobs) override {
    std::lock_guard lock(decoding_);
    const cuda::Current current(index_);
    const Memory::For ordered(stream);
    auto held = std::make_shared<Held>();
    for (const DecodeJob& job : jobs) held->push_back(prepared(job).lease);
    std::vector<size_t> refused;
    enqueue_with(stream, held, [&] {
      decode_hardware(stream, jobs, *held, refused);
      for (size_t k = 0; k < jobs.size(); ++k)
        if (prepared(jobs[k]).backend != kHardware && !decode_hybrid(stream, jobs[k]))
          refused.push_back(k);
    });
    std::sort(refused.begin(), refused.end());
    return refused;
  }

  void trim() override {
    std::scoped_lock lock(decoding_, mutex_);
    const cuda::Current current(index_);
    for (const auto& engine : engines_)
      if (engine) engine->trim();
  }

 private:
  void drop_idle() {
    std::lock_guard lock(mutex_);
    for (const auto& engine : engines_)
      if (engine) engine->drop_idle();
  }

  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& request, const Wish& wish,
                                           HostPool& pool) {
    try {
      const auto engine = engine_with(request.options.smooth_upsampling);
      if (auto p = prepare_hardware(engine, request, wish, pool)) return p;
      return prepare_hybrid(engine, request, wish, pool);
    } catch (const Refusal&) {
      return nullptr;
    }
  }

  std::shared_ptr<Engine> engine_with(bool interpolates) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Engine>& engine = engines_[interpolates];
    if (!engine) engine = std::make_shared<Engine>(library_, memory_, interpolates);
    return engine;
  }

  static void set_params(const Engine& engine, ParamsHandle params, const Wish& w, bool is_cut) {
    check(engine.call().set_output_format(params, w.format));
    check(w.is_whole() || is_cut ? engine.call().set_roi(params, 0, 0, -1, -1)
                                 : engine.call().set_roi(params, w.x, w.y, w.columns, w.rows));
  }

  static std::unique_ptr<Prepared> begin(const std::shared_ptr<Engine>& engine,
                                         std::unique_ptr<Slot> slot, const Wish& wish,
                                         Backend backend) {
    auto p = std::make_unique<Prepared>();
    p->lease = std::make_shared<Lease>(engine, std::move(slot));
    p->wish = wish;
    p->backend = backend;
    p->is_cut = !wish.is_whole() && !engine->windows_are_exact(wish.has_chroma);
    set_params(*engine, p->lease->slot->params.get(), wish, p->is_cut);
    return p;
  }

  // Null: it is none for the engine.
  static std::unique_ptr<PreparedPicture> prepare_hardware(const std::shared_ptr<Engine>& engine,
                                                           const DecodeRequest& r, const Wish& wish,
                                                           HostPool& pool) {
    if (!engine->hardware() || !is_in_share(r.bytes, r.options.hardware_share)) return nullptr;
    auto p = begin(engine, engine->take_hardware_slot(), wish, kHardware);
    const Slot& slot = *p->lease->slot;
    const Functions& call = engine->call();
    check(
        call.parse(engine->hardware(), r.bytes.data(), r.bytes.size(), 0, 0, slot.bitstream.get()));
    int is_not = 1;
    check(
        call.batch_supports(engine->hardware(), slot.bitstream.get(), slot.params.get(), &is_not));
    if (is_not) return nullptr;
    p->lease->keep(r.bytes, 0, pool);
    return p;
  }

  static std::unique_ptr<PreparedPicture> prepare_hybrid(const std::shared_ptr<Engine>& engine,
                                                         const DecodeRequest& r, const Wish& wish,
                                                         HostPool& pool) {
    const bool is_large = wish.pixels() > r.options.most_host_huffman;
    auto p = begin(engine, engine->take_slot(), wish, is_large ? kGpuHybrid : kHybrid);
    Lease& lease = *p->lease;
    Slot& slot = *lease.slot;
    // Coefficients of two bytes, those of chroma at half the resolution or less, as in most pictures.
    const auto coefficients = static_cast<size_t>(wish.pixels() * (wish.has_chroma ? 3 : 2));
    lease.keep(r.bytes, is_large ? r.bytes.size() : coefficients, pool);
    const Functions& call = engine->call();
    check(call.parse(engine->handle(), lease.data(), lease.bytes->size(), 0, 0,
                     slot.bitstream.get()));
    auto is_not_for = [&](Backend b) {
      int is_not = 1;
      check(call.supports(engine->decoder(b), slot.bitstream.get(), slot.params.get(), &is_not));
      return is_not != 0;
    };
    if (p->backend == kGpuHybrid && is_not_for(kGpuHybrid)) p->backend = kHybrid;
    if (p->backend == kHybrid && is_not_for(kHybrid)) return nullptr;
    check(call.decode_host(engine->handle(), engine->decoder(p->backend),
                           engine->state(slot, p->backend), slot.params.get(),
                           slot.bitstream.get()));
    return p;
  }

  bool decode_hybrid(Stream& stream, const DecodeJob& job) const {
    const Prepared& p = prepared(job);
    Engine& engine = *p.lease->engine;
    const Functions& call = engine.call();
    auto* const native = native_stream(stream);
    Target target(stream, job, *memory_);
    try {
      auto* const state = engine.state(*p.lease->slot, p.backend);
      auto* const decoder = engine.decoder(p.backend);
      check(call.attach_device(state, engine.device_buffer(stream)));
      check(call.transfer(engine.handle(), decoder, state, p.lease->slot->bitstream.get(), native));
      check(call.decode_device(engine.handle(), decoder, state, &target.image(), native));
    } catch (const Refusal&) {
      return false;
    }
    target.finish();
    return true;
  }

  void decode_hardware(Stream& stream, std::span<const DecodeJob> jobs, Held& held,
                       std::vector<size_t>& refused) const {
    std::map<std::pair<Engine*, OutputFormat>, std::vector<size_t>> groups;
    for (size_t k = 0; k < jobs.size(); ++k) {
      const Prepared& p = prepared(jobs[k]);
      if (p.backend == kHardware) groups[{p.lease->engine.get(), p.wish.format}].push_back(k);
    }
    for (const auto& [key, group] : groups) {
      if (decode_batch(stream, jobs, group, held)) continue;
      // One of them failed. Each alone, so that the others do not depend on who was with them.
      for (size_t k : group)
        if (group.size() == 1 || !decode_batch(stream, jobs, {k}, held)) refused.push_back(k);
    }
  }

  bool decode_batch(Stream& stream, std::span<const DecodeJob> jobs,
                    const std::vector<size_t>& group, Held& held) const {
    const Prepared& first = prepared(jobs[group[0]]);
    std::vector<Target> targets;
    for (size_t k : group) targets.emplace_back(stream, jobs[k], *memory_);
    try {
      auto batch = std::make_shared<HardwareBatch>(first.lease->engine, first.wish.format);
      held.push_back(batch);
      for (size_t i = 0; i < group.size(); ++i) {
        const Lease& lease = *prepared(jobs[group[i]]).lease;
        batch->data.push_back(lease.data());
        batch->sizes.push_back(lease.bytes->size());
        batch->images.push_back(targets[i].image());
        batch->params.push_back(lease.slot->params.get());
      }
      const Engine& engine = *batch->engine;
      auto* const state = batch->state->state.get();
      check(engine.call().begin_batch(engine.hardware(), state, static_cast<int>(group.size()), 1,
                                      batch->format));
      check(engine.call().decode_batch(engine.hardware(), state, batch->data.data(),
                                       batch->sizes.data(), batch->images.data(),
                                       batch->params.data(), native_stream(stream)));
    } catch (const Refusal&) {
      return false;
    }
    for (const Target& t : targets) t.finish();
    return true;
  }

  const std::shared_ptr<const DeviceBudget> memory_;
  const int index_;
  const std::shared_ptr<const Library> library_;
  std::mutex decoding_;  // while pictures are enqueued
  std::mutex mutex_;
  std::array<std::shared_ptr<Engine>, 2>
      engines_;  // by Engine's `interpolates`; the first is guarded by mutex_
};

}  // namespace

FoundDecoder make_decoder(std::shared_ptr<const DeviceBudget> memory,
                          std::shared_ptr<const Library> library) {
  const std::string what = "nvJPEG " + library->version.str() + " (" + library->place +
                           ") does not start on " + memory->device().name() + ": ";
  try {
    return {std::make_unique<NvJpeg>(std::move(memory), std::move(library)), {}};
  } catch (const Refusal& r) {
    return {nullptr, what + "its status is " + std::to_string(r.status)};
  } catch (const BudgetError& e) {
    return {nullptr, what + e.what()};
  }
}

}  // namespace stoker::nvjpeg
