// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of samples lie, and how they are had: what reading ahead asks of a store.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "io/origin.h"

namespace stoker::io {

// Bytes of a sample, in memory that someone else owns. kReadPadding bytes behind them can be read,
// and hold anything.
using Part = std::span<const uint8_t>;

// A whole object or a part of one. Where `object` is given, it is open and `path` is unused.
struct Extent {
  std::string path;
  int64_t offset = 0, length = -1;  // -1: up to the end
  std::shared_ptr<const Object> object = nullptr;
};

// Extents whose objects are open, read at once where they lie near each other. Copies share the
// objects.
class OpenExtents {
 public:
  OpenExtents() = default;
  explicit OpenExtents(std::vector<Extent> extents);
  // The bytes that read() will fill, with gaps between extents, unless an object changes.
  size_t size() const { return size_; }
  // Gives a part for each extent, in their order. Parts lie in `into`. Throws what Object::read()
  // throws.
  void read(ByteBuffer& into, std::vector<Part>& parts) const;

 private:
  struct Run {  // of extents that are read at once
    std::shared_ptr<const Object> object;
    int64_t offset, length;
  };
  struct Slice {  // of a run: an extent
    size_t run;
    int64_t offset, length;
  };
  void add(const Extent& extent, size_t place);

  std::vector<Run> runs_;
  std::vector<Slice> slices_;
  size_t size_ = 0;
};

struct Place {
  enum class Kind : uint8_t { kExtents, kBlock, kItself };

  static Place at(Extent extent) {
    Place p;
    p.extents.push_back(std::move(extent));
    return p;
  }
  static Place at(std::vector<Extent> extents) {
    return {Kind::kExtents, std::move(extents), -1, 0};
  }
  static Place in_block(int64_t block) { return {Kind::kBlock, {}, block, 0}; }
  // The store reads it by itself, `bytes` at most.
  static Place itself(size_t bytes) { return {Kind::kItself, {}, -1, bytes}; }

  Kind kind = Kind::kExtents;
  std::vector<Extent> extents;
  int64_t block = -1;
  size_t bytes = 0;
};

// What several samples have in common and is loaded as a whole, such as a compressed file. Stores
// derive their own from it. Immutable once loaded.
class Block {
 public:
  virtual ~Block() = default;
};

// Where the bytes of samples come from. Thread-safe; all of it throws SampleError, which names file
// and offset.
class ByteStore {
 public:
  virtual ~ByteStore() = default;
  virtual Place place(int64_t index) const = 0;

  // For blocks: the memory that one takes once it is loaded. It takes no more.
  virtual size_t block_bytes(int64_t block) const;
  // Reads a block and makes of it what find() needs.
  virtual std::shared_ptr<const Block> load(int64_t block) const;
  // Adds the parts of a sample. They lie in the block.
  virtual void find(int64_t index, const Block& block, std::vector<Part>& parts) const;

  // For samples that the store reads by itself: appends their bytes, and to `ends` the end of each
  // part.
  virtual void fetch(int64_t index, ByteBuffer& into, std::vector<size_t>& ends) const;
};

// Keeps the memory of its parts.
struct Fetched {
  ByteBuffer bytes;
  std::vector<Part> parts;
  std::shared_ptr<const Block> block;  // the parts lie in it, not in `bytes`

  size_t size() const;  // of all parts
};

// Keeps the objects that were opened last open. Thread-safe.
class OpenFiles {
 public:
  explicit OpenFiles(size_t most = 64) : most_(most) {}
  // Opens a file, or finds it open. Throws SampleError.
  std::shared_ptr<const Object> open(const std::string& path) const;

 private:
  struct Entry {
    std::string path;
    std::shared_ptr<const Object> file;
  };
  const size_t most_;
  mutable Mutex mutex_;  // no file is opened or closed under it
  mutable std::vector<Entry> entries_ STOKER_GUARDED_BY(mutex_);  // the last used one is the last
};

}  // namespace stoker::io
