// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// DLPack's structures for exchanging tensors (specification 1.0, dmlc/dlpack). Their binary layout
// is fixed, so they are written out here instead of included.
#pragma once
#include <cstdint>

namespace stoker::dlpack {

struct Device {
  int32_t type, id;
};
inline constexpr int32_t kCpu = 1, kCuda = 2, kExtension = 12;

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
inline constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBool = 6;

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
};

// The content of a capsule named "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

inline constexpr uint64_t kIsCopied = 2;  // a bit of `flags`

// The content of a capsule named "dltensor_versioned".
struct ManagedVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace stoker::dlpack
