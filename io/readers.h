// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "io/columnar/options.h"
#include "io/csv/options.h"
#include "io/json/options.h"
#include "io/tfrecord/options.h"
#include "xshards/export.h"
#include "xshards/shards.h"

namespace xshards::io {

/// A path or several. Each is a file, a folder, a pattern or a URI, see ListFiles.
struct XSHARDS_EXPORT Paths {
  // Implicit, so that calls read ReadCsv(context, "flights/*.csv").
  Paths(const char* path) : values{path} {}                            // NOLINT
  Paths(std::string path) : values{std::move(path)} {}                 // NOLINT
  Paths(std::vector<std::string> paths) : values(std::move(paths)) {}  // NOLINT

  std::vector<std::string> values;
};

// These inspect the files (names, sizes, headers, samples) and return a plan to read
// them; rows are read when an action runs. A split of a file is one partition. They may
// block for I/O and are thread-safe.

/// Read CSV as pandas.read_csv does. Splits begin and end between records, even if quoted
/// fields contain line ends; files are scanned for that. Types are inferred from a sample
/// from the start of every split; if a later value does not fit, they are widened when an
/// action reads it. `stop` ends the inspection of files.
XSHARDS_EXPORT arrow::Result<XShards> ReadCsv(
    std::shared_ptr<Context> context, const Paths& paths, const CsvOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// The number of lines of the longest of CSV files, as `skip_lines` counts them. The
/// files are read completely, unless `stop` ends that.
XSHARDS_EXPORT arrow::Result<int64_t> CountCsvLines(
    std::shared_ptr<Context> context, const Paths& paths, const CsvOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Read JSON records. Columns and their types are inferred from a sample from the start
/// of every split, and inferred again if later records have other keys or values.
XSHARDS_EXPORT arrow::Result<XShards> ReadJson(
    std::shared_ptr<Context> context, const Paths& paths, const JsonOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Whether a file contains one object of columns instead of records: all its values are
/// objects or arrays, and nothing follows it. The file is read until that is known, at
/// most to the end of its first object; `stop` ends that.
XSHARDS_EXPORT arrow::Result<bool> HoldsJsonColumns(
    Context& context, const std::string& path,
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Read Parquet; a split is one or more row groups.
XSHARDS_EXPORT arrow::Result<XShards> ReadParquet(std::shared_ptr<Context> context,
                                                  const Paths& paths,
                                                  const ParquetOptions& options = {});

/// Read ORC; a split is one or more stripes.
XSHARDS_EXPORT arrow::Result<XShards> ReadOrc(std::shared_ptr<Context> context,
                                              const Paths& paths,
                                              const OrcOptions& options = {});

/// Read Arrow IPC files (Feather); a split is one or more record batches, which are read
/// when they are needed, and checked. A file that has changed since it was listed is an
/// IOError that names it.
XSHARDS_EXPORT arrow::Result<XShards> ReadIpc(std::shared_ptr<Context> context,
                                              const Paths& paths,
                                              const IpcOptions& options = {});

/// Read TFRecord files of tf.train.Example records: a feature is a column. Unless the
/// options have a schema, kinds and lists are inferred from a sample from the start of
/// every split, and inferred again if a later record does not fit. `stop` ends the
/// inspection of files.
XSHARDS_EXPORT arrow::Result<XShards> ReadTfRecord(
    std::shared_ptr<Context> context, const Paths& paths,
    const TfRecordOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

}  // namespace xshards::io
