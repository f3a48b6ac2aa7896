// SPDX-License-Identifier: Apache-2.0
#include "io/pandas_note.h"

#include <arrow/util/key_value_metadata.h>

namespace xshards::io {

std::shared_ptr<arrow::Schema> WithPandasNote(
    const std::shared_ptr<arrow::Schema>& schema, const OptionMap& options) {
  const auto note = GetString(options, kPandasKey);
  if (!note.has_value()) return schema;
  return schema->WithMetadata(arrow::key_value_metadata({kPandasKey}, {*note}));
}

}  // namespace xshards::io
