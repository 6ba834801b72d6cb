// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG on one GPU with one way of upsampling chroma: its handles, and the objects of pictures.
#pragma once
#include <array>
#include <map>

#include "codec/nvjpeg/handles.h"

namespace stoker::nvjpeg {

// What one picture needs from prepare() until the device is done with it.
struct PictureObjects {
  Owned<BitstreamHandle> bitstream;
  Owned<ParamsHandle> params;
  Owned<PinnedHandle> pinned;
  std::array<Owned<StateHandle>, 2> states;  // kHybrid, kGpuHybrid; made at first use
  bool is_spoilt = false;
};

// Note [Early writes]
// The hardware engine writes when it is called and not in the stream's order (H100, nvJPEG 12.3 to
// 13.2; only a wait on the host prevents it: github.com/meta-pytorch/torchcodec/pull/1634). Memory
// from a stream may still be in use until the stream has come to its allocation. So the engine
// writes into memory that nothing uses, and the pictures are copied from there in the stream's
// order. This memory belongs to the objects of the call, and is unused again when the stream has
// passed the call. The host waits for the stream only where such memory is made.

// What one call of the hardware engine needs until the device is done with it.
struct BatchObjects {
  Owned<StateHandle> state;
  std::shared_ptr<DeviceBuffer> pixels;  // nothing uses it between two calls
  bool is_spoilt = false;
};

// Thread-safe. All calls require that the GPU is current.
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
  // Whether a window has the same pixels as in the whole picture.
  bool windows_are_exact(bool has_chroma) const;

  // These throw Refusal, BudgetError.
  std::unique_ptr<PictureObjects> take_objects();
  std::unique_ptr<PictureObjects> take_hardware_objects();
  std::unique_ptr<BatchObjects> take_batch_objects();
  StateHandle state(PictureObjects& objects, Backend backend);
  // Takes objects back when the device is done with them. A stream may call it.
  void put(std::unique_ptr<PictureObjects> objects);
  void put(std::unique_ptr<BatchObjects> objects) { batch_objects_.put(std::move(objects)); }

  // The buffer that pictures on this stream share until trim(). Requires: the stream outlives this.
  DeviceHandle device_buffer(const Stream& stream);
  void drop_idle();
  // Frees idle objects and the buffers of streams. Requires: no other thread enqueues pictures now;
  // enqueued ones may be unfinished.
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
  std::map<const Stream*, Owned<DeviceHandle>> device_buffers_;  // used by the thread that enqueues
};

}  // namespace stoker::nvjpeg
