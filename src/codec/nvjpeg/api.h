// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG's binary interface that we use, declared here so that no build needs nvJPEG's
// header. Values are those of nvJPEG 12.1 and later; header_test.cc compares them with that header.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace stoker::nvjpeg {

enum Status : int {
  kSuccess = 0,
  kInvalidParameter = 2,
  kBadJpeg = 3,
  kNotSupported = 4,
  kAllocatorFailure = 5,
  kExecutionFailed = 6,
  kArchMismatch = 7,
};

enum Backend : int { kDefaultBackend = 0, kHybrid = 1, kGpuHybrid = 2, kHardware = 3 };
enum OutputFormat : int { kY = 2, kRgbInterleaved = 5, kBgrInterleaved = 6 };

// Flags of an instance (nvjpegHandle_t).
inline constexpr unsigned kStrictFlag = 4;  // bytes that do not follow the standard are errors
inline constexpr unsigned kInterpolateFlag = 32;  // chroma is upsampled smoothly

struct Image {
  unsigned char* channel[4];
  size_t pitch[4];
};

// Callbacks return 0 for success. The context comes first; the memory is for use on `stream`.
using AllocateCallback = int (*)(void* context, void** memory, size_t bytes, cudaStream_t stream);
using FreeCallback = int (*)(void* context, void* memory, size_t bytes, cudaStream_t stream);
struct Allocator {
  AllocateCallback allocate;
  FreeCallback free;
  void* context;
};

struct InstanceObject;
struct StateObject;
struct DecoderObject;
struct BitstreamObject;
struct ParamsObject;
struct PinnedObject;
struct DeviceObject;
using InstanceHandle = InstanceObject*;
using StateHandle = StateObject*;
using DecoderHandle = DecoderObject*;
using BitstreamHandle = BitstreamObject*;
using ParamsHandle = ParamsObject*;
using PinnedHandle = PinnedObject*;
using DeviceHandle = DeviceObject*;

// X(member, name in the library, parameters)
#define STOKER_NVJPEG_FUNCTIONS(X)                                                                 \
  X(get_property, nvjpegGetProperty, (int property, int* value))                                   \
  X(create, nvjpegCreateExV2,                                                                      \
    (Backend backend, Allocator * device, Allocator * pinned, unsigned flags,                      \
     InstanceHandle* instance))                                                                    \
  X(destroy, nvjpegDestroy, (InstanceHandle instance))                                             \
  X(create_bitstream, nvjpegJpegStreamCreate,                                                      \
    (InstanceHandle instance, BitstreamHandle * bitstream))                                        \
  X(destroy_bitstream, nvjpegJpegStreamDestroy, (BitstreamHandle bitstream))                       \
  X(parse, nvjpegJpegStreamParse,                                                                  \
    (InstanceHandle instance, const unsigned char* data, size_t size, int save_metadata,           \
     int save_bitstream, BitstreamHandle bitstream))                                               \
  X(create_params, nvjpegDecodeParamsCreate, (InstanceHandle instance, ParamsHandle * params))     \
  X(destroy_params, nvjpegDecodeParamsDestroy, (ParamsHandle params))                              \
  X(set_output_format, nvjpegDecodeParamsSetOutputFormat,                                          \
    (ParamsHandle params, OutputFormat format))                                                    \
  X(set_roi, nvjpegDecodeParamsSetROI, (ParamsHandle params, int x, int y, int width, int height)) \
  X(create_decoder, nvjpegDecoderCreate,                                                           \
    (InstanceHandle instance, Backend backend, DecoderHandle * decoder))                           \
  X(destroy_decoder, nvjpegDecoderDestroy, (DecoderHandle decoder))                                \
  X(supports, nvjpegDecoderJpegSupported,                                                          \
    (DecoderHandle decoder, BitstreamHandle bitstream, ParamsHandle params, int* is_not))          \
  X(create_state, nvjpegDecoderStateCreate,                                                        \
    (InstanceHandle instance, DecoderHandle decoder, StateHandle * state))                         \
  X(create_batch_state, nvjpegJpegStateCreate, (InstanceHandle instance, StateHandle * state))     \
  X(destroy_state, nvjpegJpegStateDestroy, (StateHandle state))                                    \
  X(create_pinned, nvjpegBufferPinnedCreateV2,                                                     \
    (InstanceHandle instance, Allocator * allocator, PinnedHandle * buffer))                       \
  X(retrieve_pinned, nvjpegBufferPinnedRetrieve, (PinnedHandle buffer, size_t* size, void** data)) \
  X(destroy_pinned, nvjpegBufferPinnedDestroy, (PinnedHandle buffer))                              \
  X(create_device, nvjpegBufferDeviceCreateV2,                                                     \
    (InstanceHandle instance, Allocator * allocator, DeviceHandle * buffer))                       \
  X(destroy_device, nvjpegBufferDeviceDestroy, (DeviceHandle buffer))                              \
  X(attach_pinned, nvjpegStateAttachPinnedBuffer, (StateHandle state, PinnedHandle buffer))        \
  X(attach_device, nvjpegStateAttachDeviceBuffer, (StateHandle state, DeviceHandle buffer))        \
  X(decode_host, nvjpegDecodeJpegHost,                                                             \
    (InstanceHandle instance, DecoderHandle decoder, StateHandle state, ParamsHandle params,       \
     BitstreamHandle bitstream))                                                                   \
  X(transfer, nvjpegDecodeJpegTransferToDevice,                                                    \
    (InstanceHandle instance, DecoderHandle decoder, StateHandle state, BitstreamHandle bitstream, \
     cudaStream_t stream))                                                                         \
  X(decode_device, nvjpegDecodeJpegDevice,                                                         \
    (InstanceHandle instance, DecoderHandle decoder, StateHandle state, Image * image,             \
     cudaStream_t stream))                                                                         \
  X(batch_supports, nvjpegDecodeBatchedSupportedEx,                                                \
    (InstanceHandle instance, BitstreamHandle bitstream, ParamsHandle params, int* is_not))        \
  X(begin_batch, nvjpegDecodeBatchedInitialize,                                                    \
    (InstanceHandle instance, StateHandle state, int size, int threads, OutputFormat format))      \
  X(decode_batch, nvjpegDecodeBatchedEx,                                                           \
    (InstanceHandle instance, StateHandle state, const unsigned char* const* data,                 \
     const size_t* sizes, Image* images, ParamsHandle* params, cudaStream_t stream))

struct Functions {
#define STOKER_NVJPEG_MEMBER(member, name, parameters) Status(*member) parameters = nullptr;
  STOKER_NVJPEG_FUNCTIONS(STOKER_NVJPEG_MEMBER)
#undef STOKER_NVJPEG_MEMBER
};

}  // namespace stoker::nvjpeg
