// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes that parsers read in ranges, of a file or of memory, and what parsers share to take numbers
// from texts and to refuse damaged bytes.
#pragma once
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "io/origin.h"
#include "io/record_table.h"

namespace stoker::stores {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they are stored");

using ByteSpan = std::span<const uint8_t>;

using io::RecordPlace;

class Ranges {
 public:
  virtual ~Ranges() = default;
  virtual const std::string& name() const = 0;
  virtual int64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on. Throws SampleError where there are fewer.
  virtual void read(int64_t offset, std::span<uint8_t> into) const = 0;
};

class ObjectRanges final : public Ranges {
 public:
  explicit ObjectRanges(std::shared_ptr<const io::Object> object) : object_(std::move(object)) {}
  const std::string& name() const override { return object_->path(); }
  int64_t size() const override { return object_->size(); }
  void read(int64_t offset, std::span<uint8_t> into) const override {
    object_->read(buffer_, offset, static_cast<int64_t>(into.size()));
    if (!into.empty()) std::memcpy(into.data(), buffer_.data(), into.size());
  }

 private:
  std::shared_ptr<const io::Object> object_;
  mutable io::ByteBuffer buffer_;
};

class MemoryRanges final : public Ranges {
 public:
  MemoryRanges(std::string name, ByteSpan bytes) : name_(std::move(name)), bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  void read(int64_t offset, std::span<uint8_t> into) const override;

 private:
  std::string name_;
  ByteSpan bytes_;
};

// Gives bytes of ascending offsets, and reads as much ahead as turns out to be needed.
class Scanner {
 public:
  explicit Scanner(const Ranges& from) : from_(from) {}
  // So many bytes from `offset` on, or fewer at the end. They stay until the next call.
  ByteSpan at(int64_t offset, size_t length);
  // Copies as many bytes as there are from `offset` on, and returns how many.
  size_t copy(int64_t offset, std::span<uint8_t> into);

 private:
  const Ranges& from_;
  std::vector<uint8_t> window_;
  int64_t begin_ = 0;
  size_t step_ = 4096;
};

// Throws SampleError: "'a.rec' at byte 7: the record ..."
[[noreturn]] void refuse(const std::string& name, int64_t offset, const std::string& what);

// What some editors write before a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// Takes away the next line of a text, and returns it without its end.
std::string_view take_line(std::string_view& text);
// Takes away the whole number at the front of a text and blanks before it. False if there is none
// or it does not fit into 63 bits.
bool take_number(std::string_view& text, int64_t& value);

}  // namespace stoker::stores
