// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "codec/nvjpeg/fake_objects.h"
#include "device/cuda/fake_testing.h"

namespace stoker::fake {

NvJpeg& nvjpeg() {
  static NvJpeg n;
  return n;
}
void reset_nvjpeg() { nvjpeg() = NvJpeg(); }

namespace {

using namespace objects;

Mutex mutex;  // guards the record

void misused(const std::string& what) {
  MutexLock lock(mutex);
  nvjpeg().misuse.push_back(what);
}

Status noted(const std::string& function) {
  MutexLock lock(mutex);
  ++nvjpeg().calls[function];
  std::vector<int>& next = nvjpeg().errors[function];
  if (next.empty()) return kSuccess;
  const int status = next.front();
  next.erase(next.begin());
  return static_cast<Status>(status);
}

template <class T, class Handle>
T* made(Handle* handle, T* object) {
  *handle = reinterpret_cast<Handle>(object);
  MutexLock lock(mutex);
  nvjpeg().alive[object] = T::kKind;
  int now = 0;
  for (const auto& [p, kind] : nvjpeg().alive) now += kind == T::kKind;
  int& most = nvjpeg().most[T::kKind];
  most = std::max(most, now);
  return object;
}
template <class T, class Handle>
T* known(Handle handle, const char* where) {
  {
    MutexLock lock(mutex);
    const auto it = nvjpeg().alive.find(handle);
    if (it != nvjpeg().alive.end() && it->second == T::kKind) return reinterpret_cast<T*>(handle);
  }
  misused(std::string(where) + ": no such " + T::kKind);
  return nullptr;
}
template <class T, class Handle>
Status dropped(Handle handle, const char* where) {
  T* object = known<T>(handle, where);
  if (!object) return kInvalidParameter;
  if constexpr (requires { object->in_flight; })
    if (object->in_flight) misused(std::string(where) + ": the device still works with it");
  if constexpr (requires { object->users; })
    if (object->users) misused(std::string(where) + ": others are left");
  {
    MutexLock lock(mutex);
    nvjpeg().alive.erase(object);
  }
  if constexpr (requires { object->instance; }) --object->instance->users;
  if constexpr (requires { object->free(nullptr); }) object->free(nullptr);
  if constexpr (requires { object->batch_memory; }) object->batch_memory.free(nullptr);
  delete object;
  return noted(where);
}

// Fills frame and channels. False where there is no frame header.
bool read_frame(Bitstream& b) {
  const test::File& f = b.file;
  for (size_t at = 2; at + 10 < f.size() && f[at] == 0xFF; at += 2 + f[at + 2] * 256 + f[at + 3]) {
    b.frame = f[at + 1];
    b.channels = f[at + 9];
    if (b.frame >= 0xC0 && b.frame <= 0xCF && b.frame != 0xC4 && b.frame != 0xC8 && b.frame != 0xCC)
      return true;
  }
  return false;
}

DecodeOptions options_for(OutputFormat format) {
  DecodeOptions o;
  o.output_type = format == kY                ? ImageType::kGray
                  : format == kBgrInterleaved ? ImageType::kBGR
                                              : ImageType::kRGB;
  o.adjust_orientation = false;
  return o;
}

Window window_of(const DecodedPicture& p, const Shape& whole) {
  if (p.width < 0) return Window::all(whole);
  return {{p.y, p.x, 0}, {p.y + p.height, p.x + p.width, whole[2]}};
}

DecodedPicture picture_of(Backend backend, const Params& p, int batch) {
  return {backend, p.format, p.roi[0], p.roi[1], p.roi[2], p.roi[3], batch};
}

void copy_rows(const void* from, size_t row, size_t rows, Image to) {
  for (size_t y = 0; y < rows; ++y)
    std::memcpy(to.channel[0] + y * to.pitch[0], static_cast<const char*>(from) + y * row, row);
}

struct Call {
  static Status get_property(int property, int* value) {
    *value = nvjpeg().version[property];
    return noted("nvjpegGetProperty");
  }

  static Status create(Backend backend, Allocator* device, Allocator* pinned, unsigned flags,
                       InstanceHandle* instance) {
    if (!device || !pinned) return kInvalidParameter;
    if (backend == kHardware && !nvjpeg().has_hardware) return kArchMismatch;
    const Status s = noted("nvjpegCreateExV2");
    if (s != kSuccess) return s;
    nvjpeg().flags[backend] = flags;
    auto* object = new Instance;
    object->backend = backend, object->flags = flags;
    object->device = *device, object->pinned = *pinned;
    made<Instance>(instance, object);
    return s;
  }
  static Status destroy(InstanceHandle instance) {
    return dropped<Instance>(instance, "nvjpegDestroy");
  }

  template <class T, class Handle>
  static Status create_of(InstanceHandle instance, Handle* handle, T* object, const char* where) {
    auto* i = known<Instance>(instance, where);
    const Status s = i ? noted(where) : kInvalidParameter;
    if (s != kSuccess) {
      delete object;
      return s;
    }
    if constexpr (requires { object->instance; }) {
      object->instance = i;
      ++i->users;
    }
    made<T>(handle, object);
    return s;
  }
  static Status create_bitstream(InstanceHandle instance, BitstreamHandle* b) {
    return create_of<Bitstream>(instance, b, new Bitstream, "nvjpegJpegStreamCreate");
  }
  static Status destroy_bitstream(BitstreamHandle b) {
    return dropped<Bitstream>(b, "nvjpegJpegStreamDestroy");
  }
  static Status parse(InstanceHandle instance, const unsigned char* data, size_t size, int, int,
                      BitstreamHandle bitstream) {
    auto* b = known<Bitstream>(bitstream, "parse");
    if (!b || b->instance != known<Instance>(instance, "parse")) return kInvalidParameter;
    const Status s = noted("nvjpegJpegStreamParse");
    if (s != kSuccess) return s;
    b->data = data;
    b->file.assign(data, data + size);
    return read_frame(*b) ? kSuccess : kBadJpeg;
  }
  static Status create_params(InstanceHandle instance, ParamsHandle* p) {
    return create_of<Params>(instance, p, new Params, "nvjpegDecodeParamsCreate");
  }
  static Status destroy_params(ParamsHandle p) {
    return dropped<Params>(p, "nvjpegDecodeParamsDestroy");
  }
  static Status set_output_format(ParamsHandle params, OutputFormat format) {
    auto* p = known<Params>(params, "set_output_format");
    if (!p) return kInvalidParameter;
    p->format = format;
    return noted("nvjpegDecodeParamsSetOutputFormat");
  }
  static Status set_roi(ParamsHandle params, int x, int y, int width, int height) {
    auto* p = known<Params>(params, "set_roi");
    if (!p) return kInvalidParameter;
    p->roi[0] = x, p->roi[1] = y, p->roi[2] = width, p->roi[3] = height;
    return noted("nvjpegDecodeParamsSetROI");
  }
  static Status create_decoder(InstanceHandle instance, Backend backend, DecoderHandle* d) {
    return create_of<Decoder>(instance, d, new Decoder{nullptr, backend}, "nvjpegDecoderCreate");
  }
  static Status destroy_decoder(DecoderHandle d) {
    return dropped<Decoder>(d, "nvjpegDecoderDestroy");
  }
  static bool is_done(const Params& p) { return p.roi[2] < 0 || nvjpeg().does_windows; }
  static Status supports(DecoderHandle decoder, BitstreamHandle bitstream, ParamsHandle params,
                         int* not_) {
    auto* d = known<Decoder>(decoder, "supports");
    auto* b = known<Bitstream>(bitstream, "supports");
    auto* p = known<Params>(params, "supports");
    if (!d || !b || !p) return kInvalidParameter;
    const bool is_progressive = b->frame == 0xC2;
    *not_ = b->frame > 0xC2 || (is_progressive && d->backend == kGpuHybrid) || !is_done(*p);
    return noted("nvjpegDecoderJpegSupported");
  }
  static Status create_state(InstanceHandle instance, DecoderHandle decoder, StateHandle* s) {
    auto* state = new State;
    state->decoder = known<Decoder>(decoder, "create_state");
    return create_of<State>(instance, s, state, "nvjpegDecoderStateCreate");
  }
  static Status create_batch_state(InstanceHandle instance, StateHandle* s) {
    auto* i = known<Instance>(instance, "create_batch_state");
    auto* state = new State;
    if (i) state->batch_memory.allocator = i->device;
    return create_of<State>(instance, s, state, "nvjpegJpegStateCreate");
  }
  static Status destroy_state(StateHandle s) { return dropped<State>(s, "nvjpegJpegStateDestroy"); }

  static Status create_pinned(InstanceHandle instance, Allocator* a, PinnedHandle* p) {
    auto* pinned = new Pinned;
    pinned->allocator = *a;
    return create_of<Pinned>(instance, p, pinned, "nvjpegBufferPinnedCreateV2");
  }
  static Status retrieve_pinned(PinnedHandle pinned, size_t* size, void** data) {
    auto* p = known<Pinned>(pinned, "retrieve_pinned");
    if (!p) return kInvalidParameter;
    *size = p->size, *data = p->data;
    return noted("nvjpegBufferPinnedRetrieve");
  }
  static Status destroy_pinned(PinnedHandle p) {
    return dropped<Pinned>(p, "nvjpegBufferPinnedDestroy");
  }
  static Status create_device(InstanceHandle instance, Allocator* a, DeviceHandle* d) {
    auto* device = new OnDevice;
    device->allocator = *a;
    return create_of<OnDevice>(instance, d, device, "nvjpegBufferDeviceCreateV2");
  }
  static Status destroy_device(DeviceHandle d) {
    return dropped<OnDevice>(d, "nvjpegBufferDeviceDestroy");
  }
  static Status attach_pinned(StateHandle state, PinnedHandle pinned) {
    auto* s = known<State>(state, "attach_pinned");
    if (!s) return kInvalidParameter;
    s->pinned = known<Pinned>(pinned, "attach_pinned");
    return noted("nvjpegStateAttachPinnedBuffer");
  }
  static Status attach_device(StateHandle state, DeviceHandle device) {
    auto* s = known<State>(state, "attach_device");
    if (!s) return kInvalidParameter;
    s->device = known<OnDevice>(device, "attach_device");
    return noted("nvjpegStateAttachDeviceBuffer");
  }

  static Status decode_host(InstanceHandle instance, DecoderHandle decoder, StateHandle state,
                            ParamsHandle params, BitstreamHandle bitstream) {
    const char* where = "nvjpegDecodeJpegHost";
    auto* i = known<Instance>(instance, where);
    auto* d = known<Decoder>(decoder, where);
    auto* s = known<State>(state, where);
    auto* p = known<Params>(params, where);
    auto* b = known<Bitstream>(bitstream, where);
    if (!i || !d || !s || !p || !b || s->decoder != d || !s->pinned) return kInvalidParameter;
    if (s->in_flight || s->pinned->in_flight)
      misused("decode_host: the device works with the state");
    const Status status = noted(where);
    if (status != kSuccess) return status;
    if (std::memcmp(b->data, b->file.data(), b->file.size()) != 0)
      misused("decode_host: bytes moved");
    s->picture = picture_of(d->backend, *p, 1);
    s->bitstream = b;
    const DecodeOptions o = options_for(p->format);
    test::File pixels;
    try {
      const Window w = window_of(s->picture, test::shape_of(b->file, o));
      pixels = test::decode(b->file, o, w);
      s->rows = static_cast<size_t>(w.shape()[0]);
      s->row = static_cast<size_t>(w.shape()[1] * w.shape()[2]);
    } catch (const SampleError&) {
      return kBadJpeg;
    }
    if (!s->pinned->grow(pixels.size(), nullptr)) return kAllocatorFailure;
    std::memcpy(s->pinned->data, pixels.data(), pixels.size());
    s->is_decoded = true;
    s->is_transferred = false;
    return kSuccess;
  }

  static Status transfer(InstanceHandle instance, DecoderHandle decoder, StateHandle state,
                         BitstreamHandle bitstream, cudaStream_t stream) {
    const char* where = "nvjpegDecodeJpegTransferToDevice";
    auto* s = known<State>(state, where);
    auto* b = known<Bitstream>(bitstream, where);
    if (!known<Instance>(instance, where) || !known<Decoder>(decoder, where) || !s || !b ||
        !s->device || !s->is_decoded)
      return kInvalidParameter;
    if (b != s->bitstream) misused("transfer: another bitstream");
    if (std::memcmp(b->data, b->file.data(), b->file.size()) != 0)
      misused("transfer: bytes are gone");
    if (s->device->stream && s->device->stream != stream)
      misused("transfer: another stream's buffer");
    const Status status = noted(where);
    if (status != kSuccess) return status;
    s->device->stream = stream;
    if (!s->device->grow(s->row * s->rows, stream)) return kAllocatorFailure;
    ++s->in_flight, ++s->pinned->in_flight;
    enqueue([s, from = s->pinned, to = s->device->data, bytes = s->row * s->rows] {
      std::memcpy(to, from->data, bytes);
      --s->in_flight, --from->in_flight;
    });
    s->is_transferred = true;
    return kSuccess;
  }

  static Status decode_device(InstanceHandle instance, DecoderHandle decoder, StateHandle state,
                              Image* image, cudaStream_t) {
    const char* where = "nvjpegDecodeJpegDevice";
    auto* s = known<State>(state, where);
    if (!known<Instance>(instance, where) || !known<Decoder>(decoder, where) || !s ||
        !s->is_transferred)
      return kInvalidParameter;
    const Status status = noted(where);
    if (status != kSuccess) return status;
    ++s->in_flight;
    enqueue([s, from = s->device->data, row = s->row, rows = s->rows, to = *image] {
      copy_rows(from, row, rows, to);
      --s->in_flight;
    });
    nvjpeg().decoded.push_back(s->picture);
    return kSuccess;
  }

  static Status batch_supports(InstanceHandle instance, BitstreamHandle bitstream,
                               ParamsHandle params, int* not_) {
    const char* where = "nvjpegDecodeBatchedSupportedEx";
    auto* b = known<Bitstream>(bitstream, where);
    auto* p = known<Params>(params, where);
    if (!known<Instance>(instance, where) || !b || !p) return kInvalidParameter;
    *not_ = b->frame != 0xC0 || !is_done(*p);
    return noted(where);
  }
  static Status begin_batch(InstanceHandle instance, StateHandle state, int size, int,
                            OutputFormat format) {
    const char* where = "nvjpegDecodeBatchedInitialize";
    auto* s = known<State>(state, where);
    if (!known<Instance>(instance, where) || !s || s->decoder || size < 1) return kInvalidParameter;
    if (s->in_flight) misused("begin_batch: the device works with the state");
    s->batch = size, s->format = format;
    return noted(where);
  }
  static Status decode_batch(InstanceHandle instance, StateHandle state,
                             const unsigned char* const* data, const size_t* sizes, Image* images,
                             ParamsHandle* params, cudaStream_t stream) {
    const char* where = "nvjpegDecodeBatchedEx";
    auto* i = known<Instance>(instance, where);
    auto* s = known<State>(state, where);
    if (!i || !s || i->backend != kHardware || s->batch < 1) return kInvalidParameter;
    const Status status = noted(where);
    if (status != kSuccess) return status;
    if (!s->batch_memory.grow(100, stream)) return kAllocatorFailure;
    const int batch = std::exchange(s->batch, 0);
    std::vector<DecodedPicture> pictures;
    for (int i = 0; i < batch; ++i) {
      auto* p = known<Params>(params[i], where);
      if (!p || p->format != s->format) return kInvalidParameter;
      pictures.push_back(picture_of(kHardware, *p, batch));
      const test::File file(data[i], data[i] + sizes[i]);
      if (test::refusal(file, options_for(p->format)).what != "no error") return kBadJpeg;
    }
    for (int i = 0; i < batch; ++i) {
      // Bytes may be read and pixels written at any time until the stream has passed the call.
      const auto decode = [from = data[i], size = sizes[i], to = images[i], picture = pictures[i]] {
        const test::File file(from, from + size);
        const DecodeOptions o = options_for(picture.format);
        const Window w = window_of(picture, test::shape_of(file, o));
        const test::File pixels = test::decode(file, o, w);
        copy_rows(pixels.data(), static_cast<size_t>(w.shape()[1] * w.shape()[2]),
                  static_cast<size_t>(w.shape()[0]), to);
      };
      decode();
      ++s->in_flight;
      enqueue([s, decode] {
        decode();
        --s->in_flight;
      });
    }
    nvjpeg().decoded.insert(nvjpeg().decoded.end(), pictures.begin(), pictures.end());
    return kSuccess;
  }
};

}  // namespace

nvjpeg::FoundLibrary find_stand_in() {
  const std::map<std::string, void*> functions = {
#define STOKER_NVJPEG_ENTRY(member, name, parameters) \
  {#name, reinterpret_cast<void*>(&Call::member)},
      STOKER_NVJPEG_FUNCTIONS(STOKER_NVJPEG_ENTRY)
#undef STOKER_NVJPEG_ENTRY
  };
  return nvjpeg::take_library(
      [&](const char* name) {
        return nvjpeg().absent.contains(name) ? nullptr : functions.at(name);
      },
      "the stand-in");
}

}  // namespace stoker::fake
