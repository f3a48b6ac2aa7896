// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "io/columnar/multi_file_plan.h"
#include "io/fs/file_system.h"
#include "io/options/type_names.h"
#include "io/orc/scan.h"
#include "io/readers.h"

namespace xshards::io {

arrow::Result<XShards> ReadOrc(std::shared_ptr<Context> context, const Paths& paths,
                               const OrcOptions& options) {
  arrow::MemoryPool* const pool = context->memory_pool();
  return ReadTypedFiles(
      "orc", std::move(context), paths, options,
      [&](const InputFile& input) -> arrow::Result<TypedFile> {
        int64_t bytes_read = 0;
        ARROW_ASSIGN_OR_RAISE(const auto reader,
                              OpenOrcFile(input.path, &bytes_read, pool));
        auto schema = reader->ReadSchema();
        if (!schema.ok()) {
          return WithPath(schema.status(), "Could not read the schema of", input.path);
        }
        TypedFile typed{.schema = EngineSchema(**schema), .groups = {}};
        for (int64_t i = 0; i < reader->NumberOfStripes(); ++i) {
          const auto stripe = reader->GetStripeInformation(i);
          typed.groups.push_back(
              {.num_bytes = stripe.length, .num_rows = stripe.num_rows});
        }
        return typed;
      });
}

}  // namespace xshards::io
