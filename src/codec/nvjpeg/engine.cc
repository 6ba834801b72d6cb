// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/engine.h"

#include "device/cuda/core.h"

namespace stoker::nvjpeg {

namespace {

// A pinned buffer grows to its largest picture. One above this size is not kept for the next.
constexpr size_t kMostKept = 32 << 20;

}  // namespace

Engine::Engine(std::shared_ptr<const Library> library, std::shared_ptr<const DeviceBudget> memory,
               bool interpolates)
    : library_(std::move(library)),
      index_(memory->device().index()),
      interpolates_(interpolates),
      memory_(std::move(memory)) {
  const unsigned flags = kStrictFlag | (interpolates ? kInterpolateFlag : 0);
  auto instance_with = [&](Backend backend) {
    return Owned<InstanceHandle>(call().destroy, [&](InstanceHandle* h) {
      return call().create(backend, memory_.on_device(), memory_.pinned(), flags, h);
    });
  };
  auto decoder_with = [&](Backend backend) {
    return Owned<DecoderHandle>(call().destroy_decoder, [&](DecoderHandle* h) {
      return call().create_decoder(general_.get(), backend, h);
    });
  };
  general_ = instance_with(kDefaultBackend);
  hybrid_ = decoder_with(kHybrid);
  gpu_hybrid_ = decoder_with(kGpuHybrid);
  try {
    hardware_ = instance_with(kHardware);
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
  objects_.clear();
  hardware_objects_.clear();
  batch_objects_.clear();
}

void Engine::trim() {
  drop_idle();
  device_buffers_.clear();
  memory_.trim();
}

bool Engine::windows_are_exact(bool has_chroma) const {
  return !has_chroma || !interpolates_ || library_->version >= kExactWindows;
}

std::unique_ptr<PictureObjects> Engine::make_objects(InstanceHandle instance) const {
  auto objects = std::make_unique<PictureObjects>();
  objects->bitstream = {call().destroy_bitstream,
                        [&](BitstreamHandle* h) { return call().create_bitstream(instance, h); }};
  objects->params = {call().destroy_params,
                     [&](ParamsHandle* h) { return call().create_params(instance, h); }};
  return objects;
}

std::unique_ptr<PictureObjects> Engine::take_objects() {
  if (std::unique_ptr<PictureObjects> objects = objects_.take()) {
    size_t size = 0;
    void* data = nullptr;
    check(call().retrieve_pinned(objects->pinned.get(), &size, &data));
    if (size <= kMostKept) return objects;
  }
  std::unique_ptr<PictureObjects> objects = make_objects(handle());
  objects->pinned = {call().destroy_pinned, [&](PinnedHandle* h) {
                       return call().create_pinned(handle(), memory_.pinned(), h);
                     }};
  return objects;
}

std::unique_ptr<PictureObjects> Engine::take_hardware_objects() {
  std::unique_ptr<PictureObjects> objects = hardware_objects_.take();
  return objects ? std::move(objects) : make_objects(hardware());
}

std::unique_ptr<BatchObjects> Engine::take_batch_objects() {
  if (std::unique_ptr<BatchObjects> s = batch_objects_.take()) return s;
  auto made = std::make_unique<BatchObjects>();
  made->state = {call().destroy_state,
                 [&](StateHandle* h) { return call().create_batch_state(hardware(), h); }};
  return made;
}

StateHandle Engine::state(PictureObjects& objects, Backend backend) {
  Owned<StateHandle>& state = objects.states[backend == kGpuHybrid];
  if (!state) {
    Owned<StateHandle> made(call().destroy_state, [&](StateHandle* h) {
      return call().create_state(handle(), decoder(backend), h);
    });
    check(call().attach_pinned(made.get(), objects.pinned.get()));
    state = std::move(made);
  }
  return state.get();
}

void Engine::put(std::unique_ptr<PictureObjects> objects) {
  (objects->pinned ? objects_ : hardware_objects_).put(std::move(objects));
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
