// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/csv.h"

#include "base/error.h"

namespace stoker::stores {
namespace {

io::ByteBuffer bytes_of(const std::string& path) {
  io::ByteBuffer bytes;
  try {
    io::open(path)->read(bytes);
  } catch (const SampleError& e) {
    throw GraphError(e.what());
  }
  return bytes;
}

}  // namespace

CsvTable::CsvTable(const std::string& path, char delimiter, bool has_header)
    : CsvTable(bytes_of(path), path, delimiter, has_header) {}

CsvTable::CsvTable(io::ByteBuffer bytes, const std::string& path, char delimiter, bool has_header)
    : delimiter_(delimiter), buffer_(std::move(bytes)) {
  size_t at = text().starts_with("\xef\xbb\xbf") ? 3 : 0;
  if (has_header && at < text().size()) {
    header_ = cells(at, at, endless_);
    if (endless_)
      throw GraphError("'" + path + "': the quotes at byte " + std::to_string(*endless_) +
                       " never end");
  }
  while (at < text().size()) {
    const size_t begin = at;
    at = row_end(at, endless_);
    const std::string_view row = text().substr(begin, at - begin);
    if (row.find_first_not_of("\r\n") != std::string_view::npos) begins_.push_back(begin);
  }
  if (begins_.empty()) throw GraphError("'" + path + "' has no rows");
}

std::vector<std::string> CsvTable::row(int64_t row) const {
  size_t end = 0;
  std::optional<size_t> endless;
  return cells(begin(row), end, endless);
}

size_t CsvTable::row_end(size_t at, std::optional<size_t>& endless) const {
  bool is_quoted = false, begins_cell = true;
  size_t quotes = at;
  for (; at < text().size(); ++at) {
    const char c = text()[at];
    if (c == '\n' && !is_quoted) return at + 1;
    if (c == '"' && (is_quoted || begins_cell)) {
      is_quoted = !is_quoted;
      if (is_quoted && !(at > quotes && text()[at - 1] == '"')) quotes = at;
      begins_cell = !is_quoted;  // a doubled quote ends the quotes and begins them again
    } else {
      begins_cell = c == delimiter_ && !is_quoted;
    }
  }
  if (is_quoted) endless = quotes;
  return at;
}

std::vector<std::string> CsvTable::cells(size_t at, size_t& end,
                                         std::optional<size_t>& endless) const {
  end = row_end(at, endless);
  std::string_view row = text().substr(at, end - at);
  while (row.ends_with('\n') || row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> all(1);
  bool is_quoted = false;  // and not in quotes, a quote is one only where a cell begins
  for (size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '"' && is_quoted && i + 1 < row.size() && row[i + 1] == '"') all.back() += row[i++];
    else if (c == '"' && (is_quoted || all.back().empty())) is_quoted = !is_quoted;
    else if (c == delimiter_ && !is_quoted) all.emplace_back();
    else all.back() += c;
  }
  return all;
}

}  // namespace stoker::stores
