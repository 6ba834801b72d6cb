// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A decoder for simulated devices that takes pictures, for tests: it decodes with the CPU's codec in prepare(), copies in decode(),
// and can refuse at either. What it is told stands in FakeDecoder::State.
#pragma once
#include <atomic>
#include <mutex>

#include "memory/simulated.h"
#include "run/device_testing.h"

namespace stoker {

class FakeDecoder final : public DeviceDecoder {
 public:
  struct State {
    std::mutex mutex;
    std::vector<Window> windows;  // guarded by mutex: what was asked for
    std::function<bool(EncodedSpan)> accepts = [](EncodedSpan) { return true; };
    std::function<bool(EncodedSpan)> can_finish = [](EncodedSpan) { return true; };
    int64_t host_ns = 0;  // of virtual time, in decode()
    std::atomic<int> prepared{0}, refused{0}, alive{0};
  };
  static State& state() {
    static State* s = new State;
    return *s;
  }
  static void install() {
    state().~State();
    new (&state()) State;
    use_device_decoders([](Device& device, int threads) -> std::unique_ptr<DeviceDecoder> {
      return std::make_unique<FakeDecoder>(device, threads);
    });
  }

  FakeDecoder(Device& device, int threads)
      : device_(dynamic_cast<SimulatedDevice&>(device)), threads_(threads) {}
  DecoderKind kind() const override { return {"fake", "a fake decodes"}; }

  std::unique_ptr<PreparedPicture> prepare(const DecodeRequest& r, int worker,
                                           HostPool& pool) override {
    State& s = state();
    EXPECT_LT(worker, threads_);
    if (!s.accepts(r.bytes)) return nullptr;
    {
      std::lock_guard lock(s.mutex);
      s.windows.push_back(r.window);
    }
    auto p = std::make_unique<Prepared>();
    p->can_finish = s.can_finish(r.bytes);
    p->pixels = View::window(nullptr, r.type.dtype, r.window, r.type.shape, r.type.layout);
    p->owner = pool.try_acquire(static_cast<size_t>(p->pixels.bytes()), Use::kOutput);
    if (!p->owner) throw NoRoom{};
    p->pixels.data = p->owner->data();
    Arena scratch;
    try {
      codec_for(r.bytes).decode(r.bytes, r.options, p->pixels, scratch);
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
      stream.copy(jobs[k].out.data, p.pixels.data, static_cast<size_t>(p.pixels.bytes()),
                  Copy::kToDevice, "fake");
      stream.call([owner = p.owner] {}, 0, "release");
    }
    return cannot;
  }

 private:
  struct Prepared final : PreparedPicture {
    Prepared() { ++state().alive; }
    ~Prepared() override { --state().alive; }
    View pixels;
    std::shared_ptr<Buffer> owner;
    bool can_finish = true;
  };
  SimulatedDevice& device_;
  const int threads_;
};

}  // namespace stoker
