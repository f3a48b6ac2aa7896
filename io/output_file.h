// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/status.h>

namespace xshards::io {

/// Fills a file that has been opened for writing; need not close it.
using FillFile =
    std::function<arrow::Status(const std::shared_ptr<arrow::io::OutputStream>& file)>;

/// Write a file that appears at `path` whole or not at all: it is written beside it,
/// under a hidden name of its own, and renamed when complete. What is there already is
/// replaced. On failure the hidden file is removed and the error names `path`. The folder
/// must exist.
arrow::Status WriteWholeFile(const std::string& path, const FillFile& fill);

}  // namespace xshards::io
