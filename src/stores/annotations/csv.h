// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of text, as RFC 4180 has them: cells in quotes may hold delimiters, line breaks and,
// doubled, quotes. Immutable.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/origin.h"

namespace stoker::stores {

class CsvTable {
 public:
  // Throws GraphError where the file cannot be read, and as below.
  CsvTable(const std::string& path, char delimiter, bool has_header);
  // `path` is for messages. Throws GraphError where the header's quotes never end or there are no
  // rows.
  CsvTable(io::ByteBuffer bytes, const std::string& path, char delimiter, bool has_header);

  int64_t size() const { return static_cast<int64_t>(begins_.size()); }  // rows that are not empty
  const std::vector<std::string>& header() const { return header_; }
  size_t begin(int64_t row) const { return begins_[static_cast<size_t>(row)]; }
  std::vector<std::string> row(int64_t row) const;
  // Where quotes begin that reach from this row to the end of the file.
  std::optional<size_t> endless_quotes(int64_t row) const {
    return row == size() - 1 ? endless_ : std::nullopt;
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(buffer_.data()), buffer_.size()};
  }

 private:
  // Where the next row begins. `endless`: where the quotes begin that have no end.
  size_t row_end(size_t at, std::optional<size_t>& endless) const;
  std::vector<std::string> cells(size_t at, size_t& end, std::optional<size_t>& endless) const;

  char delimiter_;
  io::ByteBuffer buffer_;
  std::vector<std::string> header_;
  std::vector<size_t> begins_;  // by row
  std::optional<size_t> endless_;  // where quotes begin that never end: in the last row
};

}  // namespace stoker::stores
