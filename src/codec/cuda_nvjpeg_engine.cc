// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/cuda_nvjpeg_engine.h"

#include "memory/cuda_core.h"

namespace stoker::nvjpeg {

namespace {

// A page-locked buffer grows with the largest picture that it held. One this large is not kept for the next.
constexpr size_t kMostKept = 32 << 20;

}  // namespace

Engine::Engine(std::shared_ptr<const Library> library, std::shared_ptr<const DeviceBudget> memory,
               bool interpolates)
    : library_(std::move(library)),
      index_(memory->device().index()),
      interpolates_(interpolates),
      memory_(std::move(memory)) {
  const unsigned flags = kStrictFlag | (interpolates ? kInterpolateFlag : 0);
  auto library_with = [&](Backend backend) {
    return Owned<LibraryHandle>(call().destroy, [&](LibraryHandle* h) {
      return call().create(backend, memory_.on_device(), memory_.pinned(), flags, h);
    });
  };
  auto decoder_with = [&](Backend backend) {
    return Owned<DecoderHandle>(call().destroy_decoder, [&](DecoderHandle* h) {
      return call().create_decoder(general_.get(), backend, h);
    });
  };
  general_ = library_with(kDefaultBackend);
  hybrid_ = decoder_with(kHybrid);
  gpu_hybrid_ = decoder_with(kGpuHybrid);
  try {
    hardware_ = library_with(kHardware);
  } catch (const Refusal&) {
    hardware_.reset();  // most GPUs have no such engine
  }
}

Engine::~Engine() {
  const cuda::Current current(index_);
  trim();
  hybrid_.reset();
  gpu_hybrid_.reset();
  hardware_.reset();
  general_.reset();
}

void Engine::drop_idle() {
  slots_.clear();
  hardware_slots_.clear();
  batch_states_.clear();
}

void Engine::trim() {
  drop_idle();
  device_buffers_.clear();
  memory_.trim();
}

bool Engine::windows_are_exact(bool has_chroma) const {
  return !has_chroma || !interpolates_ || library_->version >= kExactWindows;
}

std::unique_ptr<Slot> Engine::make_slot(LibraryHandle library) const {
  auto slot = std::make_unique<Slot>();
  slot->bitstream = {call().destroy_bitstream,
                     [&](BitstreamHandle* h) { return call().create_bitstream(library, h); }};
  slot->params = {call().destroy_params,
                  [&](ParamsHandle* h) { return call().create_params(library, h); }};
  return slot;
}

std::unique_ptr<Slot> Engine::take_slot() {
  if (std::unique_ptr<Slot> slot = slots_.take()) {
    size_t size = 0;
    void* data = nullptr;
    check(call().retrieve_pinned(slot->pinned.get(), &size, &data));
    if (size <= kMostKept) return slot;
  }
  std::unique_ptr<Slot> slot = make_slot(handle());
  slot->pinned = {call().destroy_pinned, [&](PinnedHandle* h) {
                    return call().create_pinned(handle(), memory_.pinned(), h);
                  }};
  return slot;
}

std::unique_ptr<Slot> Engine::take_hardware_slot() {
  std::unique_ptr<Slot> slot = hardware_slots_.take();
  return slot ? std::move(slot) : make_slot(hardware());
}

std::unique_ptr<BatchState> Engine::take_batch_state() {
  if (std::unique_ptr<BatchState> s = batch_states_.take()) return s;
  auto made = std::make_unique<BatchState>();
  made->state = {call().destroy_state,
                 [&](StateHandle* h) { return call().create_batch_state(hardware(), h); }};
  return made;
}

StateHandle Engine::state(Slot& slot, Backend backend) {
  Owned<StateHandle>& state = slot.states[backend == kGpuHybrid];
  if (!state) {
    Owned<StateHandle> made(call().destroy_state, [&](StateHandle* h) {
      return call().create_state(handle(), decoder(backend), h);
    });
    check(call().attach_pinned(made.get(), slot.pinned.get()));
    state = std::move(made);
  }
  return state.get();
}

void Engine::put(std::unique_ptr<Slot> slot) {
  (slot->pinned ? slots_ : hardware_slots_).put(std::move(slot));
}

DeviceHandle Engine::device_buffer(const Stream& stream) {
  Owned<DeviceHandle>& buffer = device_buffers_[&stream];
  if (!buffer)
    buffer = {call().destroy_device, [&](DeviceHandle* h) {
                return call().create_device(handle(), memory_.on_device(), h);
              }};
  return buffer.get();
}

}  // namespace stoker::nvjpeg
