// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "io/columnar/multi_file_plan.h"
#include "io/ipc/scan.h"
#include "io/options/type_names.h"
#include "io/readers.h"

namespace xshards::io {

arrow::Result<XShards> ReadIpc(std::shared_ptr<Context> context, const Paths& paths,
                               const IpcOptions& options) {
  arrow::MemoryPool* const pool = context->memory_pool();
  return ReadTypedFiles(
      "ipc", std::move(context), paths, options,
      [&](const InputFile& input) -> arrow::Result<TypedFile> {
        ARROW_ASSIGN_OR_RAISE(const auto reader, OpenIpcFile(input.path, pool));
        TypedFile typed{.schema = EngineSchema(*reader->schema()), .groups = {}};
        // The footer does not contain the sizes of batches; they are usually similar.
        const int num_batches = reader->num_record_batches();
        const int64_t num_bytes =
            std::max(input.size / std::max(num_batches, 1), int64_t{1});
        typed.groups.assign(static_cast<size_t>(num_batches), {.num_bytes = num_bytes});
        return typed;
      });
}

}  // namespace xshards::io
