// SPDX-License-Identifier: Apache-2.0
#include "io/csv/for_each_row.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
// The parser truncates long names for its messages, which are not used here.
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#endif
// Otherwise the parser would read ahead on its own thread.
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

#include "io/csv/parse/number_parser.h"
#include "io/fs/file_system.h"
#include "io/options/quoted_names.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

template <typename T>
bool ReadNumber(std::string_view field, T* value) {
  std::string_view text = TrimBlanks(field);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *value);
  return read.ec == std::errc() && read.ptr == end;
}

/// The text of a file for the parser, which supports neither codecs nor file systems,
/// treats NUL as the end of a line and reads past a last line without line end.
class TextSource final : public ::io::ByteSourceBase {
 public:
  TextSource(std::shared_ptr<arrow::io::InputStream> text, arrow::Status* status)
      : text_(std::move(text)), status_(status) {}

  int read(char* buffer, int size) override {
    int filled = 0;
    while (filled < size && !at_end_) {
      const auto got = text_->Read(size - filled, buffer + filled);
      if (!got.ok()) *status_ = got.status();
      if (!got.ok() || *got == 0) {
        at_end_ = true;
        if (last_ != '\n') buffer[filled++] = '\n';
        break;
      }
      if (std::memchr(buffer + filled, '\0', static_cast<size_t>(*got)) != nullptr) {
        *status_ = arrow::Status::Invalid("Expected no NUL byte; ReadCsv reads these");
      }
      filled += static_cast<int>(*got);
      last_ = buffer[filled - 1];
    }
    return filled;
  }

 private:
  const std::shared_ptr<arrow::io::InputStream> text_;
  arrow::Status* const status_;
  char last_ = '\n';
  bool at_end_ = false;
};

template <char Sep>
class RowReader final : public CsvRowReader {
 public:
  RowReader(std::string path, std::vector<std::string> columns)
      : path_(std::move(path)),
        columns_(std::move(columns)),
        fields_(columns_.size(), nullptr) {}

  arrow::Status Open(arrow::MemoryPool* pool) {
    ARROW_ASSIGN_OR_RAISE(const auto file, OpenFile(path_));
    ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
    ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path_, {}, 0, size, pool));
    ARROW_RETURN_NOT_OK(Try([&] {
      lines_ = std::make_unique<::io::LineReader>(
          path_, std::make_unique<TextSource>(std::move(input.text), &status_));
    }));
    return ReadHeader();
  }

  arrow::Result<bool> Next() override {
    ARROW_RETURN_NOT_OK(NextLine());
    if (line_ == nullptr) return false;
    ARROW_RETURN_NOT_OK(Try([&] {
      ::io::detail::parse_line<Untrimmed, Quoting>(line_, fields_.data(), order_);
    }));
    return true;
  }

  std::string_view field(size_t column) const override { return fields_[column]; }

  arrow::Status TypeMismatchError(size_t column) const override {
    constexpr size_t kShown = 100;
    return arrow::Status::Invalid("Expected another kind of value in ", Place(),
                                  ", column '", columns_[column], "', got '",
                                  field(column).substr(0, kShown),
                                  "'; if values may be missing, use std::optional");
  }

 private:
  using Untrimmed = ::io::trim_chars<>;
  using Quoting = ::io::double_quote_escape<Sep, '"'>;

  // Convert the parser's exceptions to Status.
  template <typename Work>
  arrow::Status Try(Work work) {
    try {
      work();
    } catch (const ::io::error::escaped_string_not_closed&) {
      return arrow::Status::Invalid("Expected quotes to be closed before the end of ",
                                    Place(),
                                    "; ReadCsv reads files with line ends in quotes");
    } catch (const ::io::error::too_few_columns&) {
      return arrow::Status::Invalid("Expected ", order_.size(), " fields in ", Place(),
                                    ", saw fewer");
    } catch (const ::io::error::too_many_columns&) {
      return arrow::Status::Invalid("Expected ", order_.size(), " fields in ", Place(),
                                    ", saw more");
    } catch (const ::io::error::line_length_limit_exceeded&) {
      return arrow::Status::Invalid("Expected a line of less than 16 MB in ", Place(),
                                    "; ReadCsv reads files with longer ones");
    } catch (const std::bad_alloc&) {
      return arrow::Status::OutOfMemory("Could not read '", path_, "'");
    }
    return arrow::Status::OK();
  }

  // Go to the next line that is not empty; nullptr at the end.
  arrow::Status NextLine() {
    do {
      ARROW_RETURN_NOT_OK(Try([&] { line_ = lines_->next_line(); }));
      if (!status_.ok()) return WithPath(status_, "Could not read", path_);
    } while (line_ != nullptr && TrimBlanks(line_).empty());
    return arrow::Status::OK();
  }

  arrow::Status ReadHeader() {
    ARROW_RETURN_NOT_OK(NextLine());
    if (line_ == nullptr) {
      return arrow::Status::Invalid("No columns to parse from file '", path_, "'");
    }
    std::vector<std::string> names;
    ARROW_RETURN_NOT_OK(Try([&] {
      for (char* line = line_; line != nullptr;) {
        char* begin = nullptr;
        char* end = nullptr;
        ::io::detail::chop_next_column<Quoting>(line, begin, end);
        Quoting::unescape(begin, end);
        names.emplace_back(begin);
      }
    }));
    order_.assign(names.size(), -1);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto found = std::find(names.begin(), names.end(), columns_[i]);
      if (found == names.end()) {
        return arrow::Status::KeyError("No column '", columns_[i], "' in '", path_,
                                       "'; the file has ", QuotedNames(names));
      }
      int& place = order_[static_cast<size_t>(found - names.begin())];
      if (place != -1) {
        return arrow::Status::Invalid("Column '", columns_[i], "' is requested twice");
      }
      place = static_cast<int>(i);
    }
    return arrow::Status::OK();
  }

  std::string Place() const {
    const unsigned line = lines_ == nullptr ? 1 : lines_->get_file_line();
    return "'" + path_ + "', line " + std::to_string(line);
  }

  const std::string path_;
  const std::vector<std::string> columns_;
  std::vector<char*> fields_;  // of the row, in the order of columns_
  std::vector<int> order_;     // for each column of the file, its index in columns_ or -1
  std::unique_ptr<::io::LineReader> lines_;
  arrow::Status status_;  // of reading the file
  char* line_ = nullptr;
};

template <char Sep>
arrow::Result<std::unique_ptr<CsvRowReader>> OpenRows(const std::string& path,
                                                      std::vector<std::string> columns,
                                                      arrow::MemoryPool* pool) {
  auto reader = std::make_unique<RowReader<Sep>>(path, std::move(columns));
  ARROW_RETURN_NOT_OK(reader->Open(pool));
  return reader;
}

}  // namespace

bool ReadField(std::string_view field, int32_t* value) {
  return ReadNumber(field, value);
}
bool ReadField(std::string_view field, int64_t* value) {
  return ReadNumber(field, value);
}
bool ReadField(std::string_view field, uint64_t* value) {
  return ReadNumber(field, value);
}
bool ReadField(std::string_view field, float* value) { return ReadNumber(field, value); }
bool ReadField(std::string_view field, double* value) { return ReadNumber(field, value); }

bool ReadField(std::string_view field, bool* value) {
  std::string text(TrimBlanks(field));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  *value = text == "true";
  return *value || text == "false";
}

bool ReadField(std::string_view field, std::string* value) {
  value->assign(field);
  return true;
}

arrow::Result<std::unique_ptr<CsvRowReader>> CsvRowReader::Make(
    const std::string& path, std::vector<std::string> columns,
    const CsvRowOptions& options, arrow::MemoryPool* pool) {
  // The parser has its separator built in.
  switch (options.sep) {
    case ',':
      return OpenRows<','>(path, std::move(columns), pool);
    case ';':
      return OpenRows<';'>(path, std::move(columns), pool);
    case '|':
      return OpenRows<'|'>(path, std::move(columns), pool);
    case '\t':
      return OpenRows<'\t'>(path, std::move(columns), pool);
    default:
      return arrow::Status::Invalid("sep must be a comma, ';', '|' or a tab, got '",
                                    std::string(1, options.sep), "'");
  }
}

}  // namespace xshards::io
