// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG on one GPU with one way of upsampling chroma: its handles, and what pictures take from it
// and give back.
#pragma once
#include <array>
#include <map>

#include "codec/nvjpeg/handles.h"

namespace stoker::nvjpeg {

// What one picture needs from prepare() until the device is done with it.
struct PictureObjects {
  Owned<BitstreamHandle> bitstream;
  Owned<ParamsHandle> params;
  // Not of pictures for the hardware engine.
  Owned<PinnedHandle> pinned;
  std::array<Owned<StateHandle>, 2> states;  // kHybrid, kGpuHybrid; made when first used
  bool is_spoilt = false;
};

// Note [Early writes]
// The hardware engine writes when it is called, not when the stream is there (H100, nvJPEG 12.3 to
// 13.2; only a wait on the host holds it back: github.com/meta-pytorch/torchcodec/pull/1634).
// Memory that a stream gave may be in use until the stream is there. So the engine writes into
// memory that nothing uses: it belongs to the objects of the call and comes back like that when the
// stream has passed it, and the pictures are copied from it to their places in the stream's order.
// Only where such memory is made does the host wait for the stream.

// What one call for the hardware engine needs until the device is done with it.
struct BatchObjects {
  Owned<StateHandle> state;
  std::shared_ptr<DeviceBuffer> pixels;  // nothing uses it between two calls
  bool is_spoilt = false;
};

// Thread-safe. All calls: the GPU is current.
class Engine {
 public:
  // Throws Refusal, BudgetError, DeviceError.
  Engine(std::shared_ptr<const Library> library, std::shared_ptr<const DeviceBudget> memory,
         bool interpolates);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Functions& call() const { return library_->call; }
  InstanceHandle handle() const { return general_.get(); }
  DecoderHandle decoder(Backend backend) const {
    return backend == kGpuHybrid ? gpu_hybrid_.get() : hybrid_.get();
  }
  InstanceHandle hardware() const { return hardware_.get(); }  // null: this GPU has no such engine
  // Whether a window has the pixels that it has in the whole picture.
  bool windows_are_exact(bool has_chroma) const;

  // Throw Refusal, BudgetError.
  std::unique_ptr<PictureObjects> take_objects();
  std::unique_ptr<PictureObjects> take_hardware_objects();
  std::unique_ptr<BatchObjects> take_batch_objects();
  StateHandle state(PictureObjects& objects, Backend backend);
  // Given back when the device is done with it; may be called by a stream.
  void put(std::unique_ptr<PictureObjects> objects);
  void put(std::unique_ptr<BatchObjects> objects) { batch_objects_.put(std::move(objects)); }

  // What pictures on this stream share, one after the other, until trim(). Requires: the stream is
  // the same as long as this lives.
  DeviceHandle device_buffer(const Stream& stream);
  // Gives back the objects that no picture uses.
  void drop_idle();
  // These and the buffers of streams. Requires: no other thread enqueues pictures now; those that
  // are enqueued may be under way.
  void trim();

 private:
  std::unique_ptr<PictureObjects> make_objects(InstanceHandle instance) const;

  const std::shared_ptr<const Library> library_;
  const int index_;
  const bool interpolates_;
  Memory memory_;
  Owned<InstanceHandle> general_, hardware_;
  Owned<DecoderHandle> hybrid_, gpu_hybrid_;
  Idle<PictureObjects> objects_, hardware_objects_;
  Idle<BatchObjects> batch_objects_;
  std::map<const Stream*, Owned<DeviceHandle>> device_buffers_;  // of who enqueues
};

}  // namespace stoker::nvjpeg
