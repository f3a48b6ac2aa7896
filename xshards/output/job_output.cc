// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/job_output.h"

namespace xshards {

arrow::Result<WriteMode> WriteModeFromName(const std::string& name) {
  if (name == "error") return WriteMode::kError;
  if (name == "overwrite") return WriteMode::kOverwrite;
  if (name == "append") return WriteMode::kAppend;
  return arrow::Status::Invalid("mode must be 'error', 'overwrite' or 'append', got '",
                                name, "'");
}

}  // namespace xshards
