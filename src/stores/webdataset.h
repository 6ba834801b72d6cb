// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Archives in the layout of WebDataset: which members belong to which sample.
//
// Note [Tables of archives]
// A table has a number for each sample, 32 bytes for each member, the members' names, and which
// samples are apart. It is made by searching the archive or of an index, and is in memory as in the
// file that keeps it: Note [Kept beside files] (io/kept_bytes.h). It is checked before it is used:
// its numbers by themselves, and what it says of a member by the header in the archive. That of a
// damaged archive is not kept, so that its error comes again.
#pragma once
#include <functional>
#include <optional>

#include "io/tar.h"
#include "stores/ranges.h"

namespace stoker::stores {

// Refers to the table or index that it is from. `name` is empty where an index does not say it.
struct WebdatasetMember {
  std::string_view ending, name;
  RecordPlace place;
};

// The members of each sample, by an index: a line "ending offset size name" for all of a sample's,
// in version 1.1 without names. Names may hold blanks. The numbers are not negative, and may lie
// outside of the archive. `shown`: the index's name in errors. Throws SampleError, with the line.
std::vector<std::vector<WebdatasetMember>> parse_webdataset_index(std::string_view text,
                                                                  const std::string& shown);

// Immutable.
class WebdatasetTable {
 public:
  struct Damage {
    SampleError error;
    int64_t intact_size;  // so many bytes of the archive could be read
  };

  // Searches an archive. Neighbours whose names are alike up to the first dot of their last part
  // are a sample; members without such a name or without an ending are none. Damage becomes
  // damage(), and `intact_size` then tells how many bytes could be read.
  static WebdatasetTable searched(const std::string& path, io::TarReader::ReadAt read_at,
                                  const std::function<int64_t()>& intact_size);
  // Of a plain archive.
  static WebdatasetTable searched(const Ranges& archive);
  // The one that is kept of an archive, or else what `search` makes.
  static WebdatasetTable kept(const std::string& path,
                              const std::function<WebdatasetTable()>& search);
  // What parse_webdataset_index() gives, for an archive.
  static WebdatasetTable of_index(std::string_view text, const std::string& shown,
                                  const std::string& archive);

  int64_t size() const { return samples_; }
  // At least one. Throws SampleError where the table is damaged, as member() does.
  int64_t members(int64_t sample) const;
  WebdatasetMember member(int64_t sample, int64_t k) const;
  // Throws SampleError where samples that are no neighbours have this one's name: parts are
  // missing, or it is there more than once.
  void require_together(int64_t sample) const;
  // Throws SampleError unless the archive says of a member what the table says. Returns the key of
  // its name there. `header`: the block before its data. `read_at` gives bytes of the archive, at
  // any offset, where that block alone does not tell.
  std::string require_there(const WebdatasetMember& m, ByteSpan header,
                            const io::TarReader::ReadAt& read_at) const;
  int64_t archive_size() const { return archive_size_; }  // of what is in it, if it was searched
  const std::optional<Damage>& damage() const { return damage_; }
  // The established index, version 1.2.
  std::string index() const;
  uint64_t fingerprint() const;

 private:
  class Maker;
  WebdatasetTable(io::KeptBytes kept, std::string archive);
  int64_t number(int64_t at) const;
  [[noreturn]] void refuse_table() const;
  std::string source() const;  // of what the table says, in words
  std::string way_out() const;  // where that is not so

  io::KeptBytes kept_;
  std::string archive_, index_;  // their names; without an index the archive was searched
  int64_t samples_ = 0, members_ = 0, archive_size_ = 0, apart_ = 0;
  std::string_view texts_;
  std::optional<Damage> damage_;
};

// The established index of a plain archive, version 1.2. Throws SampleError where it is damaged.
std::string webdataset_index(const Ranges& archive);

}  // namespace stoker::stores
