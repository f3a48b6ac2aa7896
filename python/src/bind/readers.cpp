// SPDX-License-Identifier: Apache-2.0
#include "io/readers.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "io/csv/parse/time_format.h"
#include "python/src/bindings.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/run/action.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

// Each reader takes its options as a dict with every key set: readers.py has the names,
// the defaults and the checks.

template <typename T>
void Take(const py::dict& from, const char* key, T& to) {
  to = from[key].cast<T>();
}

io::CsvOptions CsvOptions(const py::dict& from) {
  io::CsvOptions options;
  Take(from, "sep", options.sep);
  Take(from, "long_sep", options.long_sep);
  Take(from, "delim_whitespace", options.delim_whitespace);
  Take(from, "skipinitialspace", options.skipinitialspace);
  Take(from, "doublequote", options.doublequote);
  Take(from, "header", options.header);
  Take(from, "names", options.names);
  Take(from, "usecols", options.usecols);
  Take(from, "dtype", options.dtype);
  Take(from, "quotechar", options.quotechar);
  Take(from, "escapechar", options.escapechar);
  Take(from, "comment", options.comment);
  Take(from, "times", options.times);
  Take(from, "na_values", options.na_values);
  Take(from, "column_na_values", options.column_na_values);
  Take(from, "true_values", options.true_values);
  Take(from, "false_values", options.false_values);
  Take(from, "decimal", options.decimal);
  Take(from, "thousands", options.thousands);
  Take(from, "numbers_are_floats", options.numbers_are_floats);
  Take(from, "keep_default_na", options.keep_default_na);
  Take(from, "na_filter", options.na_filter);
  Take(from, "header_row", options.header_row);
  Take(from, "skiprows", options.skiprows);
  Take(from, "skipfooter", options.skipfooter);
  Take(from, "skip_lines", options.skip_lines);
  Take(from, "skip_blank_lines", options.skip_blank_lines);
  options.on_bad_lines =
      Unwrap(io::BadLinesFromName(from["on_bad_lines"].cast<std::string>()));
  options.encoding =
      Unwrap(io::TextEncodingFromName(from["encoding"].cast<std::string>()));
  if (const py::object compression = from["compression"]; !compression.is_none()) {
    options.compression =
        Unwrap(io::TextCompressionFromName(compression.cast<std::string>()));
  }
  Take(from, "nrows", options.nrows);
  Take(from, "num_partitions", options.split.num_partitions);
  Take(from, "block_size", options.split.block_size);
  return options;
}

io::JsonOptions JsonOptions(const py::dict& from) {
  io::JsonOptions options;
  Take(from, "lines", options.lines);
  Take(from, "dtype", options.dtype);
  options.on_bad_lines =
      Unwrap(io::BadLinesFromName(from["on_bad_lines"].cast<std::string>()));
  Take(from, "nrows", options.nrows);
  Take(from, "num_partitions", options.split.num_partitions);
  Take(from, "block_size", options.split.block_size);
  return options;
}

io::ParquetOptions ParquetOptions(const py::dict& from) {
  io::ParquetOptions options;
  Take(from, "columns", options.columns);
  if (!from["schema"].is_none()) Take(from, "schema", options.schema);
  Take(from, "num_partitions", options.split.num_partitions);
  Take(from, "block_size", options.split.block_size);
  return options;
}

io::TfRecordOptions TfRecordOptions(const py::dict& from) {
  io::TfRecordOptions options;
  Take(from, "columns", options.columns);
  if (!from["schema"].is_none()) Take(from, "schema", options.schema);
  Take(from, "raw", options.raw);
  if (const py::object compression = from["compression"]; !compression.is_none()) {
    options.compression =
        Unwrap(io::TextCompressionFromName(compression.cast<std::string>()));
  }
  Take(from, "num_partitions", options.split.num_partitions);
  Take(from, "block_size", options.split.block_size);
  return options;
}

/// Bind a reader; looking at many files takes a while, so it can be interrupted.
template <typename Read, typename Options>
void Bind(py::module_& module, const char* name, Read read, Options to_options) {
  module.def(name, [=](const std::shared_ptr<Context>& context,
                       std::vector<std::string> paths, const py::dict& options) {
    return RunAction(
        *context, py::none(),
        [&, converted = to_options(options)](const arrow::StopToken& stop) {
          const io::Paths given(std::move(paths));
          // CSV, JSON and TFRecord files are read through to cut them, which can be
          // stopped.
          if constexpr (std::is_invocable_v<Read, std::shared_ptr<Context>, io::Paths,
                                            decltype(converted), arrow::StopToken>) {
            return read(context, given, converted, stop);
          } else {
            return read(context, given, converted);
          }
        });
  });
}

}  // namespace

void BindReaders(py::module_& module) {
  module.def("can_read_xz", io::CanReadXz);
  Bind(module, "read_csv", io::ReadCsv, CsvOptions);
  Bind(module, "count_csv_lines", io::CountCsvLines, CsvOptions);
  module.def("reads_time_format", [](const std::string& format) {
    return io::TimeFormat::Make(format).has_value();
  });
  Bind(module, "read_json", io::ReadJson, JsonOptions);
  module.def("holds_json_columns",
             [](const std::shared_ptr<Context>& context, const std::string& path) {
               return RunAction(*context, py::none(), [&](const arrow::StopToken& stop) {
                 return io::HoldsJsonColumns(*context, path, stop);
               });
             });
  Bind(module, "read_parquet", io::ReadParquet, ParquetOptions);
  Bind(module, "read_ipc", io::ReadIpc, ParquetOptions);
  Bind(module, "read_orc", io::ReadOrc, ParquetOptions);
  Bind(module, "read_tfrecord", io::ReadTfRecord, TfRecordOptions);
}

}  // namespace xshards::python
