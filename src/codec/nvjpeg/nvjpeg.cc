// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/nvjpeg.h"

#include <algorithm>

#include "base/mutex.h"
#include "codec/nvjpeg/picture.h"
#include "device/cuda/core.h"
#include "device/cuda/native.h"
#include "device/held.h"

namespace stoker::nvjpeg {

namespace {

class NvJpeg final : public DeviceDecoder {
 public:
  NvJpeg(std::shared_ptr<const DeviceBudget> memory, std::shared_ptr<const Library> library)
      : memory_(std::move(memory)),
        index_(memory_->device().index()),
        library_(std::move(library)) {
    const cuda::Current current(index_);
    interpolating_ = std::make_shared<Engine>(library_, memory_, true);
  }

  DecoderKind kind() const override {
    const bool has_hardware = interpolating_->hardware() != nullptr;
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
      throw Starved{e.what()};
    }
  }

  std::vector<size_t> decode(Stream& stream, std::span<const DecodeJob> jobs) override {
    MutexLock lock(decoding_);
    const cuda::Current current(index_);
    const Memory::For ordered(stream);
    std::vector<size_t> refused;
    enqueue_with(stream, [&](Held& held) {
      for (const DecodeJob& job : jobs) held.push_back(prepared(job).lease);
      decode_hardware(stream, jobs, held, refused);
      for (size_t k = 0; k < jobs.size(); ++k)
        if (prepared(jobs[k]).backend != kHardware && !decode_hybrid(stream, jobs[k]))
          refused.push_back(k);
    });
    std::sort(refused.begin(), refused.end());
    return refused;
  }

  void trim() override {
    MutexLock decoding(decoding_);
    MutexLock lock(mutex_);
    const cuda::Current current(index_);
    interpolating_->trim();
    if (plain_) plain_->trim();
  }

 private:
  void drop_idle() {
    MutexLock lock(mutex_);
    interpolating_->drop_idle();
    if (plain_) plain_->drop_idle();
  }

  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& request, const Wish& wish,
                                           HostPool& pool) {
    try {
      const auto engine = engine_with(request.device.smooth_upsampling);
      if (auto p = prepare_hardware(engine, request, wish, pool)) return p;
      return prepare_hybrid(engine, request, wish, pool);
    } catch (const Refusal&) {
      return nullptr;
    }
  }

  std::shared_ptr<Engine> engine_with(bool interpolates) {
    MutexLock lock(mutex_);
    if (interpolates) return interpolating_;
    if (!plain_) plain_ = std::make_shared<Engine>(library_, memory_, false);
    return plain_;
  }

  static void set_window(const Prepared& p, bool is_whole) {
    const Wish& w = p.wish;
    const Functions& call = p.lease->engine->call();
    auto* const params = p.lease->objects->params.get();
    p.lease->check(is_whole ? call.set_roi(params, 0, 0, -1, -1)
                            : call.set_roi(params, w.x, w.y, w.columns, w.rows));
  }

  // Chooses between the wanted window and the whole picture: Note [Windows of nvJPEG]. Asks
  // supports() about the choice. Returns false when even the whole is not supported.
  template <class Supports>
  static bool choose_window(Prepared& p, Supports supports) {
    set_window(p, true);
    if (!supports()) return false;
    if (p.decodes_whole || p.wish.is_whole()) return true;
    set_window(p, false);
    if (supports()) return true;
    p.decodes_whole = true;
    set_window(p, true);
    return true;
  }

  static std::unique_ptr<Prepared> begin(const std::shared_ptr<Engine>& engine,
                                         std::unique_ptr<PictureObjects> objects, const Wish& wish,
                                         Backend backend) {
    auto p = std::make_unique<Prepared>();
    p->lease = std::make_shared<Lease>(engine, std::move(objects));
    p->wish = wish;
    p->backend = backend;
    p->decodes_whole = !wish.is_whole() && !engine->windows_are_exact(wish.has_chroma);
    p->lease->check(engine->call().set_output_format(p->lease->objects->params.get(), wish.format));
    return p;
  }

  // Null when the picture is not for the engine.
  static std::unique_ptr<PreparedPicture> prepare_hardware(const std::shared_ptr<Engine>& engine,
                                                           const DecodeRequest& r, const Wish& wish,
                                                           HostPool& pool) {
    if (!engine->hardware() || !is_in_share(r.image.bytes, r.device.hardware_share)) return nullptr;
    auto p = begin(engine, engine->take_hardware_objects(), wish, kHardware);
    const PictureObjects& objects = *p->lease->objects;
    const Functions& call = engine->call();
    p->lease->check(call.parse(engine->hardware(), r.image.bytes.data(), r.image.bytes.size(), 0, 0,
                               objects.bitstream.get()));
    const auto supports = [&] {
      int is_not = 1;
      p->lease->check(call.batch_supports(engine->hardware(), objects.bitstream.get(),
                                          objects.params.get(), &is_not));
      return !is_not;
    };
    if (!choose_window(*p, supports)) return nullptr;
    p->lease->keep(r.image.bytes, 0, pool);
    return p;
  }

  static std::unique_ptr<PreparedPicture> prepare_hybrid(const std::shared_ptr<Engine>& engine,
                                                         const DecodeRequest& r, const Wish& wish,
                                                         HostPool& pool) {
    const bool is_large = wish.pixels() > r.device.most_host_huffman && !wish.is_progressive;
    auto p = begin(engine, engine->take_objects(), wish, is_large ? kGpuHybrid : kHybrid);
    Lease& lease = *p->lease;
    PictureObjects& objects = *lease.objects;
    // Two bytes for each coefficient; chroma has half the resolution or less in most pictures.
    const auto coefficients = static_cast<size_t>(wish.pixels() * (wish.has_chroma ? 3 : 2));
    lease.keep(r.image.bytes, is_large ? r.image.bytes.size() : coefficients, pool);
    const Functions& call = engine->call();
    lease.check(call.parse(engine->handle(), lease.data(), lease.bytes->size(), 0, 0,
                           objects.bitstream.get()));
    const auto supports = [&] {
      int is_not = 1;
      lease.check(call.supports(engine->decoder(p->backend), objects.bitstream.get(),
                                objects.params.get(), &is_not));
      return !is_not;
    };
    if (is_large && !choose_window(*p, supports)) p->backend = kHybrid;
    if (p->backend == kHybrid && !choose_window(*p, supports)) return nullptr;
    lease.check(call.decode_host(engine->handle(), engine->decoder(p->backend),
                                 engine->state(objects, p->backend), objects.params.get(),
                                 objects.bitstream.get()));
    return p;
  }

  bool decode_hybrid(Stream& stream, const DecodeJob& job) const {
    const Prepared& p = prepared(job);
    const Lease& lease = *p.lease;
    Engine& engine = *lease.engine;
    const Functions& call = engine.call();
    auto* const native = native_stream(stream);
    const auto whole = p.decodes_whole ? acquire(stream, Target::bytes_of(job), *memory_)
                                       : std::shared_ptr<DeviceBuffer>();
    Target target(stream, job, whole ? whole->data() : nullptr);
    try {
      auto* const state = engine.state(*lease.objects, p.backend);
      auto* const decoder = engine.decoder(p.backend);
      lease.check(call.attach_device(state, engine.device_buffer(stream)));
      lease.check(
          call.transfer(engine.handle(), decoder, state, lease.objects->bitstream.get(), native));
      lease.check(call.decode_device(engine.handle(), decoder, state, &target.image(), native));
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
      // One of them failed. Each is tried alone, so that no result depends on other pictures.
      for (size_t k : group)
        if (group.size() == 1 || !decode_batch(stream, jobs, {k}, held)) refused.push_back(k);
    }
  }

  bool decode_batch(Stream& stream, std::span<const DecodeJob> jobs,
                    const std::vector<size_t>& group, Held& held) const {
    const Prepared& first = prepared(jobs[group[0]]);
    const Memory::For early(stream, true);
    std::vector<Target> targets;
    try {
      auto batch = std::make_shared<HardwareBatch>(first.lease->engine, first.wish.format);
      held.push_back(batch);
      size_t bytes = 0;
      for (size_t k : group) bytes += Target::bytes_of(jobs[k]);
      std::byte* staging = batch->room(stream, bytes, *memory_);
      for (size_t k : group) {
        const Lease& lease = *prepared(jobs[k]).lease;
        targets.emplace_back(stream, jobs[k], staging);
        staging += Target::bytes_of(jobs[k]);
        batch->data.push_back(lease.data());
        batch->sizes.push_back(lease.bytes->size());
        batch->images.push_back(targets.back().image());
        batch->params.push_back(lease.objects->params.get());
      }
      const Engine& engine = *batch->engine;
      auto* const state = batch->objects->state.get();
      batch->check(engine.call().begin_batch(engine.hardware(), state,
                                             static_cast<int>(group.size()), 1, batch->format));
      batch->check(engine.call().decode_batch(engine.hardware(), state, batch->data.data(),
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
  // The host may wait for the GPU under both, because no host call of a stream takes them.
  Mutex decoding_;  // while pictures are enqueued; taken before mutex_
  Mutex mutex_;
  std::shared_ptr<Engine> interpolating_;  // set by the constructor
  std::shared_ptr<Engine> plain_ STOKER_GUARDED_BY(mutex_);  // null until it is asked for
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
