// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "io/write/file_writer.h"
#include "io/writers.h"

namespace xshards::io {

/// TFRecord files of tf.train.Example records: a column is a feature, which is absent in
/// records with a missing value. Integers and booleans become int64, floats float32, text
/// and binary bytes; lists of these become features of several values. No options.
arrow::Result<std::unique_ptr<FileWriter>> OpenTfRecordWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const NoOptions& /*options*/,
    arrow::MemoryPool* pool);

}  // namespace xshards::io
