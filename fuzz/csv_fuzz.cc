// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for a table of text. They must be refused with a GraphError or parsed, and a
// parsed table, written with every cell in quotes, must parse to the same cells again. The first
// byte chooses the delimiter, and whether there is a header.
#include <vector>

#include "refusals.h"
#include "stores/annotations/csv.h"

namespace {

using stoker::stores::CsvTable;
using Row = std::vector<std::string>;

stoker::io::ByteBuffer bytes_of(std::string_view text) {
  stoker::io::ByteBuffer bytes;
  bytes.reserve(text.size());
  bytes.resize(text.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

void write(const Row& row, char delimiter, std::string& text) {
  for (size_t k = 0; k < row.size(); ++k) {
    if (k > 0) text += delimiter;
    text += '"';
    for (const char c : row[k]) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  text += '\n';
}

void check(const CsvTable& table, char delimiter, bool has_header) {
  std::vector<Row> rows;
  for (int64_t i = 0; i < table.size(); ++i) {
    if (i > 0 && table.begin(i) <= table.begin(i - 1)) std::abort();
    if (table.begin(i) >= table.text().size()) std::abort();
    // Quotes without an end hold all that is left of the file.
    if (const auto quotes = table.endless_quotes(i)) {
      if (*quotes < table.begin(i) || table.text()[*quotes] != '"') std::abort();
    } else {
      rows.push_back(table.row(i));
    }
  }
  if (rows.empty()) return;
  std::string text;
  if (has_header) write(table.header(), delimiter, text);
  for (const Row& row : rows) write(row, delimiter, text);
  const CsvTable again(bytes_of(text), "again", delimiter, has_header);
  if (again.header() != table.header()) std::abort();
  if (again.size() != static_cast<int64_t>(rows.size())) std::abort();
  for (int64_t i = 0; i < again.size(); ++i)
    if (again.row(i) != rows[static_cast<size_t>(i)] || again.endless_quotes(i)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const char delimiter = ",;\t|"[data[0] % 4];
  const bool has_header = data[0] & 4;
  const std::string_view text = stoker::fuzz::text_of(data + 1, size - 1);
  (void)stoker::fuzz::accepts<stoker::GraphError>(text, [&] {
    check(CsvTable(bytes_of(text), "fuzz", delimiter, has_header), delimiter, has_header);
  });
  return 0;
}
