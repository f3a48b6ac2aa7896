// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::io {

struct CsvRowOptions {
  char sep = ',';  // or ';', '|' or a tab
};

// Convert a field to a value; false if it is not one. Blanks around numbers and booleans
// are ignored.
XSHARDS_EXPORT bool ReadField(std::string_view field, int32_t* value);
XSHARDS_EXPORT bool ReadField(std::string_view field, int64_t* value);
XSHARDS_EXPORT bool ReadField(std::string_view field, uint64_t* value);
XSHARDS_EXPORT bool ReadField(std::string_view field, float* value);
XSHARDS_EXPORT bool ReadField(std::string_view field, double* value);
XSHARDS_EXPORT bool ReadField(std::string_view field, bool* value);  // true or false
XSHARDS_EXPORT bool ReadField(std::string_view field, std::string* value);
/// An empty field has no value.
template <typename T>
bool ReadField(std::string_view field, std::optional<T>* value) {
  value->reset();
  return field.empty() || ReadField(field, &value->emplace());
}

/// Reads some columns of a CSV file row by row, as text. Used by one thread.
class XSHARDS_EXPORT CsvRowReader {
 public:
  /// Open a file, also a compressed or remote one, and read its header. KeyError names a
  /// column that it does not have.
  static arrow::Result<std::unique_ptr<CsvRowReader>> Make(
      const std::string& path, std::vector<std::string> columns,
      const CsvRowOptions& options = {},
      arrow::MemoryPool* pool = arrow::default_memory_pool());
  virtual ~CsvRowReader() = default;

  /// Go to the next row; false at the end. Invalid names the line of a row that has too
  /// many or too few fields, or a field that continues in the next line.
  virtual arrow::Result<bool> Next() = 0;
  /// A field of the row, by the number of its column. Valid until the next row.
  virtual std::string_view field(size_t column) const = 0;
  /// The error for a field that cannot be converted.
  virtual arrow::Status TypeMismatchError(size_t column) const = 0;
};

/// Call `function` with the values of some columns, for each row of a CSV file in order:
///
///     io::ForEachRow<int64_t, double, std::string>(
///         path, {"id", "price", "city"},
///         [&](int64_t id, double price, const std::string& city) { ... });
///
/// Types are those of ReadField, or std::optional of these where fields may be empty. The
/// function returns nothing or a Status; an error ends the reading. On the calling
/// thread. For plain files: fields quoted as a whole or not at all, no line ends in
/// quotes, lines of less than 16 MB; ReadCsv reads all others, and large ones faster.
template <typename... Types, typename Function>
arrow::Status ForEachRow(const std::string& path,
                         const std::array<std::string, sizeof...(Types)>& columns,
                         Function&& function, const CsvRowOptions& options = {}) {
  ARROW_ASSIGN_OR_RAISE(
      const auto reader,
      CsvRowReader::Make(path, {columns.begin(), columns.end()}, options));
  std::tuple<Types...> row;
  const auto read_and_call = [&]<size_t... Columns>(std::index_sequence<Columns...>) {
    size_t mismatch = sizeof...(Types);
    const auto read = [&](size_t column, auto* value) {
      if (ReadField(reader->field(column), value)) return true;
      mismatch = column;
      return false;
    };
    if (!(read(Columns, &std::get<Columns>(row)) && ...))
      return reader->TypeMismatchError(mismatch);
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, const Types&...>>) {
      function(std::as_const(std::get<Columns>(row))...);
      return arrow::Status::OK();
    } else {
      return arrow::Status(function(std::as_const(std::get<Columns>(row))...));
    }
  };
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool has_row, reader->Next());
    if (!has_row) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(read_and_call(std::index_sequence_for<Types...>()));
  }
}

}  // namespace xshards::io
