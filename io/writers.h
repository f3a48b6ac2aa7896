// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/status.h>

#include "xshards/export.h"
#include "xshards/plan/format_options.h"

namespace xshards::io {

// The options of writers, for WriteOptions::format.

/// How to write CSV. The names and defaults are those of pandas.to_csv.
struct XSHARDS_EXPORT CsvWriterOptions {
  char sep = ',';
  bool header = true;
  std::string na_rep{};  // for missing values

  arrow::Status Validate() const { return arrow::Status::OK(); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("sep", options.sep);
    visit("header", options.header);
    visit("na_rep", options.na_rep);
  }
};

/// How to write Parquet.
struct XSHARDS_EXPORT ParquetWriterOptions {
  std::string compression = "snappy";  // or zstd, gzip, brotli, lz4 or none
  int64_t row_group_rows = 1LL << 20;  // of a row group at most

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("compression", options.compression);
    visit("row_group_rows", options.row_group_rows);
  }
};

/// How to write Arrow IPC files.
struct XSHARDS_EXPORT IpcWriterOptions {
  std::string compression = "none";  // or lz4 or zstd

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("compression", options.compression);
  }
};

/// JSON and TFRecord writers have no options.
struct XSHARDS_EXPORT NoOptions {
  arrow::Status Validate() const { return arrow::Status::OK(); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& /*options*/, const Visit& /*visit*/) {}
};

XSHARDS_EXPORT FormatOptionsPointer MakeWriterOptions(const CsvWriterOptions& options);
XSHARDS_EXPORT FormatOptionsPointer
MakeWriterOptions(const ParquetWriterOptions& options);
XSHARDS_EXPORT FormatOptionsPointer MakeWriterOptions(const IpcWriterOptions& options);
XSHARDS_EXPORT FormatOptionsPointer MakeWriterOptions(const NoOptions& options);

/// The options of a format's writer: `fill` gets its defaults and, for messages, what
/// they are for, and returns those to use. nullptr for a format that is not written.
template <typename Fill>
FormatOptionsPointer WriterOptionsOf(const std::string& format, const Fill& fill) {
  if (format == "csv") return MakeWriterOptions(fill(CsvWriterOptions{}, "CSV writing"));
  if (format == "json") return MakeWriterOptions(fill(NoOptions{}, "JSON writing"));
  if (format == "ipc") return MakeWriterOptions(fill(IpcWriterOptions{}, "IPC writing"));
  if (format == "parquet") {
    return MakeWriterOptions(fill(ParquetWriterOptions{}, "Parquet writing"));
  }
  if (format == "tfrecord") {
    return MakeWriterOptions(fill(NoOptions{}, "TFRecord writing"));
  }
  return nullptr;
}

}  // namespace xshards::io
