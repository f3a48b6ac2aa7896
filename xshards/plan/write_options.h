// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "xshards/export.h"
#include "xshards/output/job_output.h"
#include "xshards/plan/format_options.h"

namespace xshards {

/// How to write partitions as files, whatever the format.
struct XSHARDS_EXPORT WriteOptions {
  /// By default the directory must hold no file.
  WriteMode mode = WriteMode::kError;
  std::string suffix{};  // added to names: .gz and the like compress text
  /// Write to folders named after the values of these columns: see SinkSpec.
  std::optional<std::vector<std::string>> partition_cols{};
  FormatOptionsPointer format{};  // the writer's own

  /// All but those of the writer.
  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("mode", options.mode);
    visit("suffix", options.suffix);
    visit("partition_cols", options.partition_cols);
  }
};

}  // namespace xshards
