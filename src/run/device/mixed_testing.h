// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of device="mixed" share: files, and a decoder for simulated devices. It decodes with
// the CPU's codec in prepare(), and copies in decode(), through memory that it keeps for each
// stream until trim(). FakeDecoder::State says which pictures it refuses, and counts what it did.
#pragma once
#include <atomic>

#include "base/mutex.h"
#include "codec/jpeg/maker_testing.h"
#include "device/held.h"
#include "device/simulated/simulated.h"
#include "run/device/testing.h"

namespace stoker {

// JPEG files of different sizes, some of them damaged in the middle of their data.
class Pictures : public SampleFolder {
 public:
  explicit Pictures(int count, const std::set<int>& damaged = {}, int size = 0)
      : SampleFolder(count) {
    for (int i = 0; i < count; ++i) {
      test::JpegKind kind;
      kind.width = size ? size : 40 + 7 * i;
      kind.height = size ? size : 31 + 5 * i;
      kind.orientation = i % 9;
      kind.seed = static_cast<unsigned>(i + 1);
      std::vector<uint8_t> file = test::make_jpeg(kind);
      if (damaged.contains(i)) file.resize(file.size() / 2);
      std::ofstream(path(i), std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<long>(file.size()));
    }
  }
};

inline std::string shape_and_bytes(const Batch& b, size_t i) {
  return b.samples[i].view.shape.str() + on_host(b, i);
}

class FakeDecoder final : public DeviceDecoder {
 public:
  struct State {
    Mutex mutex;
    std::vector<Window> windows STOKER_GUARDED_BY(mutex);  // what was asked for
    // What was asked for since this was called last.
    std::vector<Window> take_windows() STOKER_EXCLUDES(mutex) {
      const MutexLock lock(mutex);
      return std::exchange(windows, {});
    }
    std::function<bool(EncodedSpan)> accepts = [](EncodedSpan) { return true; };
    std::function<bool(EncodedSpan)> can_finish = [](EncodedSpan) { return true; };
    int64_t host_ns = 0;  // virtual time that decode() takes
    std::atomic<int> prepared{0}, refused{0}, alive{0};
  };
  static State& state() {
    static State* s = new State;
    return *s;
  }
  static void install() {
    state().~State();
    new (&state()) State;
    use_device_decoders(
        [](std::shared_ptr<const DeviceBudget> memory) -> std::unique_ptr<DeviceDecoder> {
          return std::make_unique<FakeDecoder>(std::move(memory));
        });
  }

  explicit FakeDecoder(std::shared_ptr<const DeviceBudget> memory)
      : memory_(std::move(memory)), device_(dynamic_cast<SimulatedDevice&>(memory_->device())) {}
  DecoderKind kind() const override { return {"fake", "a fake decodes"}; }

  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& r, HostPool& pool) override {
    State& s = state();
    if (!s.accepts(r.image.bytes)) return nullptr;
    {
      const MutexLock lock(s.mutex);
      s.windows.push_back(r.window);
    }
    auto p = std::make_unique<Prepared>();
    p->can_finish = s.can_finish(r.image.bytes);
    const TensorType type = r.image.type();
    p->pixels = View::window(nullptr, type.dtype, r.window, type.shape, type.layout);
    p->owner = pool.try_acquire(static_cast<size_t>(p->pixels.bytes()), Use::kOutput);
    if (!p->owner) throw Starved{{}, size_class(static_cast<size_t>(p->pixels.bytes()))};
    p->pixels.data = p->owner->data();
    Arena scratch;
    try {
      r.image.codec->decode(r.image, p->pixels, r.judged, scratch);
    } catch (const SampleError&) {
      return nullptr;
    }
    ++s.prepared;
    return p;
  }

  std::vector<size_t> decode(Stream& stream, std::span<const DecodeJob> jobs) override {
    std::vector<size_t> cannot;
    device_.add_host_work("decode", state().host_ns);
    for (size_t k = 0; k < jobs.size(); ++k) {
      const auto& p = static_cast<const Prepared&>(*jobs[k].prepared);
      EXPECT_EQ(p.pixels.shape, jobs[k].out.shape);
      if (!p.can_finish) {
        cannot.push_back(k);
        ++state().refused;
        continue;
      }
      const auto bytes = static_cast<size_t>(p.pixels.bytes());
      std::byte* const between = buffer(stream, bytes);
      enqueue_with(stream, [&](Held& held) {
        held.push_back(p.owner);
        stream.copy(between, p.pixels.data, bytes, Copy::kToDevice, "fake");
        stream.copy(jobs[k].out.data, between, bytes, Copy::kOnDevice, "fake");
      });
    }
    return cannot;
  }
  void trim() override {
    const MutexLock lock(mutex_);
    buffers_.clear();
  }

 private:
  // A buffer that the pictures of a stream use one after the other.
  std::byte* buffer(Stream& stream, size_t bytes) STOKER_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::shared_ptr<Buffer>& b = buffers_[&stream];
    if (b && b->size() >= bytes) return b->data();
    b.reset();
    b = memory_->try_acquire(stream, bytes);
    if (!b) throw BudgetError("no memory for the fake decoder");
    return b->data();
  }

  struct Prepared final : PreparedPicture {
    Prepared() { ++state().alive; }
    ~Prepared() override { --state().alive; }
    View pixels;
    std::shared_ptr<Buffer> owner;
    bool can_finish = true;
  };
  const std::shared_ptr<const DeviceBudget> memory_;
  SimulatedDevice& device_;
  Mutex mutex_;
  std::map<const Stream*, std::shared_ptr<Buffer>> buffers_ STOKER_GUARDED_BY(mutex_);
};

class OnMixed : public testing::Test {
 protected:
  void SetUp() override { use_simulated_devices(1); }
  void TearDown() override {
    use_device_decoders(nullptr);
    use_simulated_devices(0);
  }
  static SimulatedDevice& device() { return dynamic_cast<SimulatedDevice&>(stoker::device(0)); }
  static FakeDecoder::State& fake() { return FakeDecoder::state(); }
};

}  // namespace stoker
