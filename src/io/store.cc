// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/store.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace stoker::io {

namespace {

// A smaller gap is read with what lies around it: a call costs more than copying it.
constexpr int64_t kMergedGap = 16 << 10;

// Where the bytes of the next run begin, behind `end` bytes of others and their padding.
size_t next_run(size_t end) { return end == 0 ? 0 : (end + kReadPadding + 63) / 64 * 64; }

}  // namespace

OpenExtents::OpenExtents(std::vector<Extent> extents) {
  slices_.resize(extents.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    Extent& e = extents[i];
    if (e.object) continue;
    const bool is_same = i > 0 && extents[i - 1].path == e.path;
    e.object = is_same ? extents[i - 1].object : open(e.path);
  }
  // Places may come from indexes that anyone wrote.
  for (const Extent& e : extents)
    if (e.offset < 0 || e.length < -1 || e.length > INT64_MAX - e.offset)
      throw SampleError("cannot read '" + e.object->path() + "': no file has " +
                            std::to_string(e.length) + " bytes from byte " +
                            std::to_string(e.offset) + " on",
                        e.offset);
  if (extents.size() == 1) {
    add(extents[0], 0);
  } else {
    std::vector<size_t> order(extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto place = [&](size_t i) {
      return std::tuple(extents[i].object.get(), extents[i].offset, i);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place(a) < place(b); });
    for (const size_t i : order) add(extents[i], i);
  }
  // A run that ends behind its object will be refused, and must not cost what it claims.
  for (const Run& r : runs_) {
    const int64_t there = std::max<int64_t>(r.object->size() - r.offset, 0);
    size_ =
        next_run(size_) + static_cast<size_t>(r.length >= 0 ? std::min(r.length, there) : there);
  }
}

void OpenExtents::add(const Extent& extent, size_t place) {
  if (!runs_.empty() && extent.length >= 0) {
    Run& last = runs_.back();
    const int64_t end = last.offset + last.length, gap = extent.offset - end;
    if (last.object == extent.object && last.length >= 0 && extent.offset >= last.offset &&
        gap <= kMergedGap) {
      last.length = std::max(end, extent.offset + extent.length) - last.offset;
      slices_[place] = {runs_.size() - 1, extent.offset - last.offset, extent.length};
      return;
    }
  }
  runs_.push_back({extent.object, extent.offset, extent.length});
  slices_[place] = {runs_.size() - 1, 0, extent.length};
}

void OpenExtents::read(ByteBuffer& into, std::vector<Part>& parts) const {
  struct Filled {
    size_t begin, end;
  };
  std::vector<Filled> filled;
  filled.reserve(runs_.size());
  into.clear();
  if (runs_.size() > 1) into.reserve(size_ + 1);
  for (const Run& r : runs_) {
    const size_t begin = next_run(into.size());
    if (begin > 0) {
      into.reserve(begin);
      into.resize(begin);
    }
    r.object->append(into, r.offset, r.length);
    filled.push_back({begin, into.size()});
  }
  const auto* data = reinterpret_cast<const uint8_t*>(into.data());
  parts.reserve(slices_.size());
  for (const Slice& s : slices_) {
    const Filled& f = filled[s.run];
    const size_t begin = f.begin + static_cast<size_t>(s.offset);
    const size_t size = s.length >= 0 ? static_cast<size_t>(s.length) : f.end - begin;
    if (begin > f.end || size > f.end - begin)
      throw SampleError("'" + runs_[s.run].object->path() + "' gave fewer bytes than were wanted");
    parts.emplace_back(data + begin, size);
  }
}

size_t ByteStore::block_bytes(int64_t) const { throw Error("the store has no blocks"); }
std::shared_ptr<const Block> ByteStore::load(int64_t) const {
  throw Error("the store has no blocks");
}
void ByteStore::find(int64_t, const Block&, std::vector<Part>&) const {
  throw Error("the store has no blocks");
}
void ByteStore::fetch(int64_t, ByteBuffer&, std::vector<size_t>&) const {
  throw Error("the store does not read by itself");
}

size_t Fetched::size() const {
  size_t n = 0;
  for (const Part& p : parts) n += p.size();
  return n;
}

std::shared_ptr<const Object> OpenFiles::open(const std::string& path) const {
  {
    const MutexLock lock(mutex_);
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& e) { return e.path == path; });
    if (at != entries_.end()) {
      std::rotate(at, at + 1, entries_.end());
      return entries_.back().file;
    }
  }
  auto file = io::open(path);
  Entry evicted;  // closed after the lock is released
  const MutexLock lock(mutex_);
  if (entries_.size() >= most_) {
    evicted = std::move(entries_.front());
    entries_.erase(entries_.begin());
  }
  entries_.push_back({path, file});
  return file;
}

}  // namespace stoker::io
