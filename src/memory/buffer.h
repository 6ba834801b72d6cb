// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes with an owner, held by std::shared_ptr<Buffer>. Any thread may ask for their address and
// size, which never change. Those who share the bytes have to agree on who uses them.
#pragma once
#include <cstddef>

namespace stoker {

// An allocation of a pool (HostPool, or a device's), to which it returns when the last holder lets
// go. The pool's state lives at least until then.
class Buffer {
 public:
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;

  std::byte* data() const { return data_; }  // never null; uninitialised at first
  size_t size() const { return size_; }  // the size that was asked for

 protected:
  Buffer(std::byte* data, size_t size) : data_(data), size_(size) {}

 private:
  std::byte* const data_;
  const size_t size_;
};

}  // namespace stoker
