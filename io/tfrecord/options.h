// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/status.h>
#include <arrow/type.h>

#include "io/options/split_size.h"
#include "io/text/text_compression.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read TFRecord files of tf.train.Example records.
struct XSHARDS_EXPORT TfRecordOptions {
  /// Read only these columns, in this order.
  std::optional<std::vector<std::string>> columns{};
  /// The columns to read and their types: features that a record lacks are null, other
  /// features are not read. nullptr: inferred from samples.
  std::shared_ptr<arrow::Schema> schema{};
  /// Do not decode records: one column, `record`, of their bytes.
  bool raw = false;
  std::optional<TextCompression> compression{};  // unset: by the file's name
  SplitSize split{};

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("columns", options.columns);
    visit("schema", options.schema);
    visit("raw", options.raw);
    visit("compression", options.compression);
    SplitSize::VisitMembers(options.split, visit);
  }
};

}  // namespace xshards::io
