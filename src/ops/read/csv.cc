// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "base/half.h"
#include "base/hash.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/annotations/csv.h"

namespace stoker::ops::read {

namespace {

struct Column {
  std::string name;
  size_t number;
  bool is_file;
  DType dtype;  // kUint8: the text itself, or the file's bytes
};

class CsvStore final : public SampleStore {
 public:
  CsvStore(std::string path, std::string root, stores::CsvTable table, std::vector<Column> columns)
      : path_(std::move(path)),
        root_(std::move(root)),
        table_(std::move(table)),
        columns_(std::move(columns)),
        fingerprint_(hash64(table_.text())) {
    for (const Column& c : columns_)
      fingerprint_ = mix(fingerprint_, c.number, static_cast<uint64_t>(c.is_file),
                         static_cast<uint64_t>(c.dtype));
  }

  int64_t size() const override { return table_.size(); }
  uint64_t fingerprint() const override { return fingerprint_; }
  // The first file of the row, or the row.
  std::string name(int64_t index) const override {
    const std::vector<std::string> cells = table_.row(index);
    for (const Column& c : columns_)
      if (c.is_file && c.number < cells.size() && !table_.endless_quotes(index))
        return io::join_path(root_, cells[c.number]);
    return path_ + " at byte " + std::to_string(table_.begin(index));
  }
  io::Place place(int64_t index) const override {
    const std::vector<std::string> cells = row(index);
    std::vector<io::Extent> extents;
    for (const Column& c : columns_)
      if (c.is_file) extents.push_back({io::join_path(root_, cells[c.number])});
    return io::Place::at(std::move(extents));
  }
  void read(Reading& r) const override {
    const std::vector<std::string> cells = row(r.index);
    size_t part = 0;
    for (size_t k = 0; k < columns_.size(); ++k) {
      const Column& c = columns_[k];
      if (c.is_file) {
        r.share(k, r.parts[part++]);
      } else if (c.dtype == DType::kUint8) {
        const std::string& text = cells[c.number];
        const View& out = r.make(k, {DType::kUint8, {}, {static_cast<int64_t>(text.size())}});
        std::copy(text.begin(), text.end(), out.as<char>());
      } else {
        give_number(r, k, c, cells[c.number]);
      }
    }
  }

 private:
  // The cells of a row. Throws SampleError where it lacks one that is asked for.
  std::vector<std::string> row(int64_t index) const {
    if (const auto quotes = table_.endless_quotes(index))
      fail(index, "takes up the rest of the file: the quotes at byte " + std::to_string(*quotes) +
                      " never end");
    std::vector<std::string> cells = table_.row(index);
    for (const Column& c : columns_) {
      if (c.number >= cells.size())
        fail(index, "has " + std::to_string(cells.size()) + " cells, column '" + c.name +
                        "' is number " + std::to_string(c.number));
      if (c.is_file && cells[c.number].empty())
        fail(index, "names no file in column '" + c.name + "'");
    }
    return cells;
  }
  [[noreturn]] void fail(int64_t index, const std::string& what) const {
    throw SampleError(
        "the row of '" + path_ + "' at byte " + std::to_string(table_.begin(index)) + " " + what,
        static_cast<int64_t>(table_.begin(index)));
  }
  void give_number(Reading& r, size_t k, const Column& c, std::string_view cell) const {
    const TensorType t{c.dtype, {}, {1}};
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    if (cell.starts_with('+')) cell.remove_prefix(1);
    const auto parsed = [&]<class T>(T value) {
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size())
        fail(r.index, "has '" + std::string(cell.substr(0, 40)) + "' in column '" + c.name +
                          "', expected " + name_of(c.dtype) +
                          "; the dtype uint8 gives texts as bytes");
      return value;
    };
    switch (c.dtype) {
      case DType::kInt8: return r.give(k, t, parsed(int8_t{}));
      case DType::kInt16: return r.give(k, t, parsed(int16_t{}));
      case DType::kInt32: return r.give(k, t, parsed(int32_t{}));
      case DType::kInt64: return r.give(k, t, parsed(int64_t{}));
      case DType::kUint16: return r.give(k, t, parsed(uint16_t{}));
      case DType::kUint32: return r.give(k, t, parsed(uint32_t{}));
      case DType::kUint64: return r.give(k, t, parsed(uint64_t{}));
      case DType::kFloat32: return r.give(k, t, parsed(float{}));
      default: return r.give(k, t, parsed(double{}));
    }
  }

  const std::string path_, root_;
  const stores::CsvTable table_;
  const std::vector<Column> columns_;
  uint64_t fingerprint_;
};

}  // namespace

struct Csv : ReaderArguments {
  std::string path, delimiter = ",";
  std::vector<std::string> columns;
  std::optional<std::vector<std::string>> file_columns, dtypes;
  std::optional<std::string> file_root;
  bool has_header = true;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.csv",
      "Reads samples that the rows of a CSV file list: texts, numbers and whole files.\n\n"
      "Each of the columns is an output. A column of file_columns names files, whose bytes are "
      "delivered; others give their text as bytes, uint8 of shape (length,), or a number of shape "
      "(1,), as dtypes says. Cells in double quotes may hold delimiters, line breaks and doubled "
      "quotes. A row that lacks a cell, has no number where one is expected or names a file that "
      "cannot be read fails its sample, and so does one in quotes that never end: it is all that "
      "is left of the file. The file itself is kept in memory.",
      ports(), ports({.name = "column", .help = "What the column gives.", .for_each = "columns"}),
      arg(&Csv::path, "path", "The CSV file.", kRequired),
      arg(&Csv::columns, "columns",
          "The columns, by their names in the first row or, where there is no such row, by their "
          "numbers from 0 on.",
          kRequired),
      arg(&Csv::file_columns, "file_columns", "Which of the columns name files."),
      arg(&Csv::dtypes, "dtypes",
          "For each of the columns its dtype. uint8 (default) stands for the text, and for the "
          "bytes of files."),
      arg(&Csv::file_root, "file_root",
          "Where relative names of files start. Default: the folder of the CSV file."),
      arg(&Csv::delimiter, "delimiter", "The character between two cells."),
      arg(&Csv::has_header, "has_header", "Whether the first row names the columns."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(delimiter.size() == 1 && delimiter != "\"" && delimiter != "\n",
            "argument 'delimiter' is one character, got '", delimiter, "'");
    require(!columns.empty(), "argument 'columns' is empty");
    for (const std::string& f : file_columns.value_or(std::vector<std::string>{}))
      require(std::find(columns.begin(), columns.end(), f) != columns.end(),
              "argument 'file_columns' names '", f, "', which is not among the columns");
    for (const Column& column : listed(nullptr))
      c.out({column.dtype, {}, {column.dtype == DType::kUint8 ? -1 : 1}});
  }
  std::unique_ptr<SampleStore> open() const {
    stores::CsvTable table(path, delimiter[0], has_header);
    std::vector<Column> all = listed(&table);
    return std::make_unique<CsvStore>(path, file_root.value_or(path.substr(0, path.rfind('/') + 1)),
                                      std::move(table), std::move(all));
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

 private:
  // The columns; their numbers are only known with the table.
  std::vector<Column> listed(const stores::CsvTable* table) const {
    const auto files = file_columns.value_or(std::vector<std::string>{});
    std::vector<Column> all;
    if (dtypes)
      require_count("argument 'dtypes'", dtypes->size(), {static_cast<int64_t>(columns.size())},
                    "one per column");
    for (size_t k = 0; k < columns.size(); ++k) {
      Column c{columns[k], 0, std::find(files.begin(), files.end(), columns[k]) != files.end(),
               dtypes ? dtype_named((*dtypes)[k]) : DType::kUint8};
      const bool is_number =
          c.dtype != DType::kNone && c.dtype != DType::kBool && c.dtype != DType::kFloat16;
      require(is_number, "argument 'dtypes' names '", dtypes ? (*dtypes)[k] : "", "' for column '",
              c.name, "', expected an integer or a float of 32 or 64 bits");
      require(!c.is_file || c.dtype == DType::kUint8, "column '", c.name,
              "' names files, which are of uint8");
      if (table) c.number = number_of(c.name, *table);
      all.push_back(std::move(c));
    }
    return all;
  }
  size_t number_of(const std::string& name, const stores::CsvTable& table) const {
    const auto& header = table.header();
    const auto at = std::find(header.begin(), header.end(), name);
    if (has_header && at != header.end()) return static_cast<size_t>(at - header.begin());
    size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (!has_header && error == std::errc() && end == name.data() + name.size()) return number;
    throw GraphError("'" + path + "' has no column '" + name + "'" +
                     (has_header ? did_you_mean(name, header) : ", expected a number"));
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Csv)
