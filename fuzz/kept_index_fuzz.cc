// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for what is kept beside a file: the table of an archive, the places of records,
// or a whole FILE.stoker-index, with right checksums. It must be refused with a SampleError or made
// again, or be usable: names lie in it, and bytes of samples in the file. The first byte chooses
// which.
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "io/crc32c.h"
#include "refusals.h"
#include "stores/records/record_files.h"
#include "stores/records/recordio.h"
#include "stores/records/tfrecord.h"
#include "stores/webdataset.h"

namespace stoker::stores {
namespace {

// A file of records, in a folder of its own with its indexes.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kept_index.XXXXXX").string();
    if (!::mkdtemp(name.data())) std::abort();
    ::unsetenv("STOKER_INDEX_DIR");
    folder_ = name;
    path_ = name + "/data";
    bytes_.resize(3000);
    std::iota(bytes_.begin(), bytes_.end(), uint8_t{0});
    write(path_, bytes_);
  }
  ~Folder() { std::filesystem::remove_all(folder_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string index() const { return path_ + ".stoker-index"; }
  ByteSpan bytes() const { return bytes_; }
  static void write(const std::string& path, ByteSpan bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string folder_, path_;
  std::vector<uint8_t> bytes_;
};

const Folder& folder() {
  static const Folder one;
  return one;
}

void keep(const std::string& kind, ByteSpan bytes) {
  std::filesystem::remove(folder().index());
  const auto owner = std::make_shared<const std::vector<uint8_t>>(bytes.begin(), bytes.end());
  const io::KeptBytes kept =
      io::kept_bytes(folder().path(), kind, [&] { return io::KeptBytes{owner, *owner}; });
  if (kept.kept_in.empty() ||
      !std::equal(kept.bytes.begin(), kept.bytes.end(), bytes.begin(), bytes.end()))
    std::abort();
}

// The bytes must be what the file has there, or be refused; none lie outside of it.
void read(RecordPlace p, std::shared_ptr<const io::Object> file) {
  io::ByteBuffer buffer;
  std::vector<io::Part> parts;
  io::OpenExtents({{"", p.offset, p.size, std::move(file)}}).read(buffer, parts);
  if (p.size == 0 && parts[0].empty()) return;
  const auto all = static_cast<int64_t>(folder().bytes().size());
  if (p.offset < 0 || p.size < 0 || p.offset > all || p.size > all - p.offset) std::abort();
  const ByteSpan there =
      folder().bytes().subspan(static_cast<size_t>(p.offset), static_cast<size_t>(p.size));
  if (!std::equal(parts[0].begin(), parts[0].end(), there.begin(), there.end())) std::abort();
}

template <class F>
void may_refuse(ByteSpan input, const F& f) {
  (void)fuzz::accepts<SampleError>(fuzz::text_of(input.data(), input.size()), f);
}

void take_archive(ByteSpan bytes) {
  keep("webdataset 2", bytes);
  const auto table = WebdatasetTable::kept(folder().path(), []() -> WebdatasetTable {
    std::abort();  // it is whole, so nobody searches again
  });
  const auto file = io::open(folder().path());
  for (int64_t i = 0; i < table.size(); ++i)
    may_refuse(bytes, [&] {
      const int64_t members = table.members(i);
      if (members <= 0) std::abort();
      may_refuse(bytes, [&] { table.require_together(i); });
      for (int64_t k = 0; k < members; ++k) {
        const WebdatasetMember m = table.member(i, k);
        (void)io::crc32c({reinterpret_cast<const uint8_t*>(m.ending.data()), m.ending.size()});
        (void)io::crc32c({reinterpret_cast<const uint8_t*>(m.name.data()), m.name.size()});
        may_refuse(bytes, [&] { read(m.place, file); });
      }
    });
  (void)table.fingerprint();
  (void)table.index();
}

void take_places(ByteSpan bytes) {
  keep("tfrecord 1", bytes);
  RecordFiles files;
  files.add(folder().path(),
            record_table_of(folder().path(), "tfrecord 1",
                            [](const Ranges&) -> std::vector<RecordPlace> { std::abort(); }));
  if (files.size() != static_cast<int64_t>(bytes.size() / sizeof(RecordPlace))) std::abort();
  for (int64_t i = 0; i < files.size(); ++i)
    may_refuse(bytes, [&] {
      const io::Extent e = files.extent(i);
      read({e.offset, e.length}, e.object);
      const ByteSpan record =
          folder().bytes().subspan(static_cast<size_t>(e.offset), static_cast<size_t>(e.length));
      std::vector<uint8_t> joined;
      may_refuse(bytes, [&] { (void)tfrecord_payload(record, "fuzz", e.offset, true); });
      may_refuse(bytes, [&] { (void)recordio_payload(record, "fuzz", e.offset, joined); });
      (void)files.name(i);
    });
}

// Of a whole index, only what is behind its head is taken.
void take_index(ByteSpan bytes) {
  keep("any 1", bytes);  // so that a head is there that fits
  std::vector<uint8_t> head(64);
  std::ifstream(folder().index(), std::ios::binary).read(reinterpret_cast<char*>(head.data()), 64);
  // The bytes change those of the head, and follow it.
  const size_t changed = std::min(bytes.size(), head.size());
  const ByteSpan body = bytes.subspan(changed);
  const auto length = static_cast<int64_t>(body.size());
  std::memcpy(&head[40], &length, sizeof length);
  for (size_t i = 0; i < changed; ++i) head[i] = static_cast<uint8_t>(head[i] ^ bytes[i]);
  const uint32_t sum = io::crc32c(body);
  std::memcpy(&head[56], &sum, sizeof sum);
  const uint32_t head_sum = io::crc32c(ByteSpan(head).first(60));
  std::memcpy(&head[60], &head_sum, sizeof head_sum);
  head.insert(head.end(), body.begin(), body.end());
  Folder::write(folder().index(), head);
  const std::vector<uint8_t> other = {1, 2, 3};
  bool is_made = false;
  const io::KeptBytes kept = io::kept_bytes(folder().path(), "any 1", [&] {
    is_made = true;
    return io::KeptBytes{std::make_shared<int>(), other};
  });
  const ByteSpan expected = is_made ? ByteSpan(other) : body;
  if (!std::equal(kept.bytes.begin(), kept.bytes.end(), expected.begin(), expected.end()))
    std::abort();
}

}  // namespace
}  // namespace stoker::stores

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker::stores;
  if (size == 0) return 0;
  const ByteSpan bytes(data + 1, size - 1);
  may_refuse(bytes, [&] {
    switch (data[0] % 3) {
      case 0: take_archive(bytes); break;
      case 1: take_places(bytes); break;
      default: take_index(bytes);
    }
  });
  return 0;
}
