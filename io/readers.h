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

// These look at the files (names, sizes, headers, samples) and return a plan to read
// them; rows are read when an action runs. A piece of a file is one partition. They may
// block for I/O and are thread-safe.

/// Read CSV as pandas.read_csv does. Pieces are cut between records, also where quoted
/// fields hold line ends, which files are read through for. The types are those that fit
/// a sample from the start of every piece; where a later value does not fit, they are
/// widened when an action meets it. `stop` ends the looking at files.
XSHARDS_EXPORT arrow::Result<XShards> ReadCsv(
    std::shared_ptr<Context> context, const Paths& paths, const CsvOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// How many lines CSV files have, the one with most, as `skip_lines` counts them. The
/// files are read through; `stop` ends that.
XSHARDS_EXPORT arrow::Result<int64_t> CountCsvLines(
    std::shared_ptr<Context> context, const Paths& paths, const CsvOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Read JSON records. Columns and their types are inferred from a sample from the start
/// of every piece, and found anew where later records have other keys or values.
XSHARDS_EXPORT arrow::Result<XShards> ReadJson(
    std::shared_ptr<Context> context, const Paths& paths, const JsonOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Whether a path is that of a file which holds, instead of records, one object of
/// columns: all its values are objects or arrays, and nothing follows it. The file is
/// read up to where that is known, at most to the end of its first object; `stop` ends
/// that.
XSHARDS_EXPORT arrow::Result<bool> HoldsJsonColumns(
    Context& context, const std::string& path,
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

/// Read Parquet; a piece is one or more row groups.
XSHARDS_EXPORT arrow::Result<XShards> ReadParquet(std::shared_ptr<Context> context,
                                                  const Paths& paths,
                                                  const ParquetOptions& options = {});

/// Read ORC; a piece is one or more stripes.
XSHARDS_EXPORT arrow::Result<XShards> ReadOrc(std::shared_ptr<Context> context,
                                              const Paths& paths,
                                              const OrcOptions& options = {});

/// Read Arrow IPC files (Feather); a piece is one or more record batches. Local files are
/// mapped: columns that need no cast are not copied, and the files must not be cut short
/// while what was read is in use (replacing them is fine).
XSHARDS_EXPORT arrow::Result<XShards> ReadIpc(std::shared_ptr<Context> context,
                                              const Paths& paths,
                                              const IpcOptions& options = {});

/// Read TFRecord files of tf.train.Example records: a feature is a column. Unless the
/// options have a schema, kinds and lists are inferred from a sample from the start of
/// every piece, and found anew where a later record does not fit. `stop` ends the looking
/// at files.
XSHARDS_EXPORT arrow::Result<XShards> ReadTfRecord(
    std::shared_ptr<Context> context, const Paths& paths,
    const TfRecordOptions& options = {},
    const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

}  // namespace xshards::io
