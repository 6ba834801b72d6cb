// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A library's object that peek() opened, kept for the first decode(). Thread-safe.
#pragma once
#include <any>
#include <atomic>
#include <memory>
#include <utility>

#include "codec/codec.h"

namespace stoker {

template <class T>
class Opened {
 public:
  // For ImageInfo::header. The object may hold the bytes that peek() was given: they outlive it.
  explicit Opened(std::unique_ptr<T> object) : kept_(std::make_shared<Kept>(object.release())) {}

  // The object, or what open() makes where another decode() of this image had it.
  template <class Open>
  static std::unique_ptr<T> take(const EncodedImage& image, const Open& open) {
    std::unique_ptr<T> object(header_of<Opened>(image).kept_->object.exchange(nullptr));
    return object ? std::move(object) : open();
  }

 private:
  struct Kept {
    explicit Kept(T* o) : object(o) {}
    ~Kept() { delete object.load(); }
    std::atomic<T*> object;
  };
  std::shared_ptr<Kept> kept_;  // by all copies of the image
};

}  // namespace stoker
