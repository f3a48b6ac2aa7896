// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "io/options/option_map.h"
#include "io/options/split_size.h"
#include "io/text/text_compression.h"
#include "xshards/export.h"

namespace xshards::io {

/// How to read TFRecord files of tf.train.Example records.
struct XSHARDS_EXPORT TfRecordOptions {
  /// Read only these columns, in this order.
  std::optional<std::vector<std::string>> columns{};
  /// The columns there are, and their types: features that a record lacks are missing,
  /// others are not read. nullptr: inferred from samples.
  std::shared_ptr<arrow::Schema> schema{};
  /// Do not decode records: one column, `record`, of their bytes.
  bool raw = false;
  std::optional<TextCompression> compression{};  // unset: as the file's name says
  SplitSize split{};

  arrow::Status Validate() const;
  /// Less the columns and the schema, which a ScanNode has itself.
  OptionMap ToMap() const;
  static arrow::Result<TfRecordOptions> FromMap(const OptionMap& map);
};

}  // namespace xshards::io
