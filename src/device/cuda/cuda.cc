// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda.h"

#include <atomic>
#include <climits>
#include <cstdlib>

#include "base/error.h"
#include "base/mutex.h"
#include "device/cuda/core.h"
#include "device/cuda/native.h"
#include "device/nvml/nvml.h"
#include "memory/pool.h"

namespace stoker {

namespace cuda {

namespace {

// Lives as long as the stream object, or a buffer that will be freed on it.
struct StreamHandle {
  StreamHandle(std::shared_ptr<Core> core, std::string name)
      : core(std::move(core)), name(std::move(name)) {
    this->core->start();
    const Current current(this->core->index);
    // A non-blocking stream is not ordered with the legacy default stream, which others may use.
    this->core->require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                        "making the stream '" + this->name + "'");
  }
  ~StreamHandle() {
    if (core->is_foreign()) return;
    const Current current(core->index);
    (void)cudaStreamDestroy(stream);  // work that is enqueued still gets done
  }
  void synchronize() const {
    const Current current(core->index);
    (void)cudaStreamSynchronize(stream);  // the next check throws what failed
  }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;

  const std::shared_ptr<Core> core;
  const std::string name;
  cudaStream_t stream = nullptr;
};

cudaStream_t native(ForeignStream stream) {
  return reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(stream));
}

class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(void* data, size_t size, std::shared_ptr<Core> core)
      : Buffer(static_cast<std::byte*>(data), size), core_(std::move(core)) {}
  ~PinnedBuffer() override { core_->unpin(data(), size()); }

 private:
  std::shared_ptr<Core> core_;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(std::shared_ptr<Core> core) : core_(std::move(core)) {
    core_->start();
    const Current current(core_->index);
    core_->require(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
  }
  ~CudaEvent() override {
    if (core_->is_foreign()) return;
    const Current current(core_->index);
    (void)cudaEventDestroy(event_);
  }
  bool query() const override { return core_->query(event_) != cudaErrorNotReady; }
  void synchronize() override {
    const Current current(core_->index);
    core_->require(cudaEventSynchronize(event_), "earlier work");
    core_->check();
  }
  void check() const override {
    const cudaError_t e = core_->query(event_);
    if (e == cudaErrorNotReady) return;
    core_->require(e, "earlier work");
    core_->check();
  }
  void hold_back(ForeignStream stream) const override {
    const Current current(core_->index);
    core_->require(cudaStreamWaitEvent(native(stream), event_, 0),
                   "making a consumer's stream wait for a batch");
  }
  cudaEvent_t get() const { return event_; }

 private:
  std::shared_ptr<Core> core_;
  cudaEvent_t event_ = nullptr;
};

// True also for the legacy default stream while it would wait for a stream that is captured.
bool is_captured(const Core& core, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t e = cudaStreamIsCapturing(stream, &status);
  if (!is_of_capture(e)) core.require(e, "looking at a consumer's stream");
  else (void)cudaGetLastError();
  return e != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(void* data, size_t size, std::shared_ptr<StreamHandle> stream)
      : DeviceBuffer(static_cast<std::byte*>(data), size), stream_(std::move(stream)) {}
  ~CudaBuffer() override {
    if (is_ordered_) stream_->core->free(data(), stream_->stream);
    else stream_->core->park(data());
  }

  void return_behind(ForeignStream stream) noexcept override {
    if (stream_->core->is_foreign()) return;
    // The per-thread stream of another thread may be meant. The legacy default stream comes after
    // those of all threads.
    if (stream == ForeignStream::kPerThread) stream = ForeignStream::kDefault;
    try {
      if (!order_behind(native(stream))) is_ordered_ = false;
    } catch (const std::exception& e) {
      is_ordered_ = false;
      stream_->core->keep(e.what());
    }
  }

 private:
  // False where the stream is captured: its graph reads the memory whenever it is launched, so
  // there is nothing to wait for.
  bool order_behind(cudaStream_t stream) const {
    const Core& core = *stream_->core;
    const Current current(core.index);
    if (is_captured(core, stream)) return false;
    const CudaEvent event(stream_->core);
    core.require(cudaEventRecord(event.get(), stream), "recording an event on a consumer's stream");
    core.require(cudaStreamWaitEvent(stream_->stream, event.get(), 0),
                 "waiting for a consumer's stream");
    return true;
  }

  std::shared_ptr<StreamHandle> stream_;
  std::atomic<bool> is_ordered_{true};  // the stream comes after what consumers do
};

struct HostCall {
  std::function<void()> call;
  std::string name;
  std::shared_ptr<Core> core;
};

void CUDART_CB run_host_call(void* data) {
  const std::unique_ptr<HostCall> c(static_cast<HostCall*>(data));
  try {
    c->call();
  } catch (const std::exception& e) {
    c->core->keep(c->core->name + ", call '" + c->name + "': " + e.what());
  } catch (...) {
    c->core->keep(c->core->name + ", call '" + c->name + "' failed");
  }
}

cudaMemcpyKind kind_of(Copy direction) {
  switch (direction) {
    case Copy::kToDevice: return cudaMemcpyHostToDevice;
    case Copy::kToHost: return cudaMemcpyDeviceToHost;
    case Copy::kOnDevice: break;
  }
  return cudaMemcpyDeviceToDevice;
}

class CudaStream final : public Stream {
 public:
  CudaStream(Device& device, std::shared_ptr<Core> core, std::string name)
      : device_(device), h_(std::make_shared<StreamHandle>(std::move(core), std::move(name))) {}
  ~CudaStream() override {
    if (!h_->core->is_foreign()) h_->synchronize();
  }

  Device& device() const override { return device_; }
  const std::string& name() const override { return h_->name; }
  cudaStream_t native() const { return h_->stream; }
  const std::shared_ptr<StreamHandle>& handle() const { return h_; }

  void* allocate(size_t bytes) override {
    if (void* p = h_->core->try_allocate(bytes, h_->stream)) return p;
    const DeviceUsage usage = h_->core->usage();
    throw BudgetError(h_->core->name + ": no memory for " + in_words(bytes) + " on stream '" +
                      name() + "'; " + in_words(usage.in_use) + " of " + in_words(usage.limit) +
                      " are in use here, other processes may hold the rest");
  }
  void free(void* p) override { h_->core->free(p, h_->stream); }
  std::shared_ptr<DeviceBuffer> try_acquire(size_t bytes) override {
    void* p = h_->core->try_allocate(bytes, h_->stream);
    return p ? std::make_shared<CudaBuffer>(p, bytes, h_) : nullptr;
  }

  void copy(void* to, const void* from, size_t bytes, Copy direction,
            std::string_view what) override {
    if (bytes == 0) return;
    const Current current(h_->core->index);
    const cudaError_t e = cudaMemcpyAsync(to, from, bytes, kind_of(direction), h_->stream);
    done(e, "copy", what);
  }

  void call(std::function<void()> call, int64_t, std::string_view what) override {
    const Current current(h_->core->index);
    auto data = std::make_unique<HostCall>(HostCall{std::move(call), std::string(what), h_->core});
    const cudaError_t e = cudaLaunchHostFunc(h_->stream, run_host_call, data.get());
    if (e == cudaSuccess) (void)data.release();
    done(e, "call", what);
  }

  void record(Event& event) override {
    const Current current(h_->core->index);
    h_->core->require(cudaEventRecord(static_cast<CudaEvent&>(event).get(), h_->stream),
                      "recording an event");
  }
  void wait(const Event& event) override {
    const Current current(h_->core->index);
    h_->core->require(
        cudaStreamWaitEvent(h_->stream, static_cast<const CudaEvent&>(event).get(), 0),
        "waiting for an event");
  }
  void synchronize() override {
    const Current current(h_->core->index);
    h_->core->require(cudaStreamSynchronize(h_->stream), "work of the stream '" + name() + "'");
    h_->core->check();
  }

 protected:
  void launch_erased(const BlockProgram& program, const Grid& grid,
                     std::string_view what) override {
    const std::string place = h_->core->name + ", launch '" + std::string(what) + "': ";
    if (!program.kernel) throw DeviceError(place + "the program was compiled without nvcc");
    if (grid.blocks < 0 || grid.blocks > INT_MAX || grid.threads < 0 ||
        grid.threads > kMaxThreads || grid.shared_bytes > kMaxShared)
      throw DeviceError(place + std::to_string(grid.blocks) + " blocks of " +
                        std::to_string(grid.threads) + " threads with " +
                        std::to_string(grid.shared_bytes) + " bytes of shared memory");
    const Current current(h_->core->index);
    constexpr size_t kUnasked = 48 << 10;
    if (grid.shared_bytes > kUnasked)
      h_->core->require(
          cudaFuncSetAttribute(program.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.shared_bytes)),
          "launch '" + std::string(what) + "'");
    void* arguments[] = {const_cast<void*>(program.object)};  // the call copies the arguments
    const cudaError_t e = cudaLaunchKernel(program.kernel, dim3(static_cast<unsigned>(grid.blocks)),
                                           dim3(static_cast<unsigned>(grid.threads)), arguments,
                                           grid.shared_bytes, h_->stream);
    done(e, "launch", what);
  }

 private:
  void done(cudaError_t e, std::string_view kind, std::string_view what) const {
    if (e != cudaSuccess)
      h_->core->require(
          e, std::string(kind) + " '" + std::string(what) + "' on stream '" + h_->name + "'");
    h_->core->enqueued(h_->stream, what, h_->name);
  }

  Device& device_;
  std::shared_ptr<StreamHandle> h_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : core_(std::make_shared<Core>(index)) {}
  const std::string& name() const override { return core_->name; }
  std::string_view kind() const override { return "cuda"; }
  int index() const override { return core_->index; }
  const std::string& pci_bus_id() const override { return core_->pci_bus_id; }
  std::unique_ptr<Stream> make_stream(std::string name) override {
    auto stream = std::make_unique<CudaStream>(*this, core_, std::move(name));
    MutexLock lock(mutex_);
    std::erase_if(streams_, [](const auto& s) { return s.expired(); });
    streams_.push_back(stream->handle());
    return stream;
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(core_); }
  std::shared_ptr<Buffer> try_pin(size_t bytes) override {
    core_->start();
    void* p = core_->try_pin(bytes);
    return p ? std::make_shared<PinnedBuffer>(p, bytes, core_) : nullptr;
  }
  DeviceUsage usage() const override { return core_->usage(); }
  void check() override { core_->check(); }
  // The pool gives back freed memory only if the host has seen the stream reach the free.
  void trim() override {
    for (const auto& stream : streams()) stream->synchronize();
    core_->trim();
  }

 private:
  // The streams that exist, or to which memory will return.
  std::vector<std::shared_ptr<StreamHandle>> streams() const {
    MutexLock lock(mutex_);
    std::vector<std::shared_ptr<StreamHandle>> all;
    for (const auto& s : streams_)
      if (auto stream = s.lock()) all.push_back(std::move(stream));
    return all;
  }

  std::shared_ptr<Core> core_;
  mutable Mutex mutex_;  // CUDA is not called under it
  std::vector<std::weak_ptr<StreamHandle>> streams_ STOKER_GUARDED_BY(mutex_);
};

std::string needed_driver() {
  return "this build needs one for CUDA " + cuda_version_in_words(CUDART_VERSION / 1000 * 1000) +
         " or newer";
}

std::string gpus_in_words(int count) {
  return std::to_string(count) + (count == 1 ? " GPU" : " GPUs");
}

std::string why_no_gpu(const std::string& driver, std::optional<int> gpus) {
  if (gpus == 0) return driver + " finds no GPU in this machine";
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return driver + (gpus ? " has " + gpus_in_words(*gpus) : " is there") + ", but CUDA sees no GPU" +
         (visible ? ": CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "'" : "");
}

std::string why_none(cudaError_t error) {
  const Nvml nvml;
  int cuda = 0;
  (void)cudaDriverGetVersion(&cuda);
  if (nvml.status() == nvml::kLibRmVersionMismatch)
    return "the NVIDIA driver's libraries are of another version than what the system has loaded "
           "of it; after an update restart the system (" +
           nvml.missing() + ")";
  if (nvml.status() == nvml::kDriverNotLoaded)
    return "the NVIDIA driver's libraries are there, but the driver is not loaded (" +
           nvml.missing() + ")";
  const std::optional<std::string> version = nvml.driver();
  const std::string driver = "the NVIDIA driver" + (version ? " " + *version : "");
  if (cuda == 0 && version)
    return driver + " is there, but its libcuda.so.1 was not found (a container needs the " +
           "driver capability 'compute'); " + needed_driver();
  if (cuda == 0) return "no NVIDIA driver (libcuda.so.1) was found; " + needed_driver();
  const std::string both = driver + " (CUDA " + cuda_version_in_words(cuda) + ")";
  if (error == cudaErrorInsufficientDriver) return both + " is too old; " + needed_driver();
  if (error == cudaErrorNoDevice || error == cudaSuccess) return why_no_gpu(both, nvml.gpus());
  return both + " gives " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
}

}  // namespace

}  // namespace cuda

cudaStream_t native_stream(const Stream& stream) {
  return static_cast<const cuda::CudaStream&>(stream).native();
}

CudaFound find_cuda_devices() {
  CudaFound found;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    found.missing = cuda::why_none(error);
    return found;
  }
  for (int i = 0; i < count; ++i) {
    try {
      found.devices.push_back(std::make_unique<cuda::CudaDevice>(i));
    } catch (const DeviceError& e) {
      found.missing = e.what();
      return found;  // devices must keep the driver's indices
    }
  }
  return found;
}

}  // namespace stoker
