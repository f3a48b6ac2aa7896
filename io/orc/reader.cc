// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "io/columnar/multi_file_plan.h"
#include "io/fs/file_system.h"
#include "io/options/type_names.h"
#include "io/orc/scan.h"
#include "io/readers.h"
#include "xshards/catch_exceptions.h"

namespace xshards::io {

namespace {

/// What a file says about itself; errors do not name it.
arrow::Result<TypedFile> DescribeOrc(arrow::adapters::orc::ORCFileReader& reader) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, reader.ReadSchema());
  TypedFile typed{.schema = EngineSchema(*schema), .groups = {}};
  for (int64_t i = 0; i < reader.NumberOfStripes(); ++i) {
    const auto stripe = reader.GetStripeInformation(i);
    // One that gives no number of rows would be of any number to the planner.
    if (stripe.num_rows < 0) {
      return arrow::Status::Invalid("Stripe ", i, " has ", stripe.num_rows, " rows");
    }
    typed.groups.push_back({.num_bytes = stripe.length, .num_rows = stripe.num_rows});
  }
  return typed;
}

}  // namespace

arrow::Result<XShards> ReadOrc(std::shared_ptr<Context> context, const Paths& paths,
                               const OrcOptions& options) {
  arrow::MemoryPool* const pool = context->memory_pool();
  return ReadTypedFiles(
      "orc", std::move(context), paths, options,
      [&](const InputFile& input) -> arrow::Result<TypedFile> {
        ARROW_ASSIGN_OR_RAISE(const auto reader, OpenOrcFile(input.path, pool));
        auto typed =
            CatchExceptions("Reading an ORC file", [&] { return DescribeOrc(*reader); });
        if (!typed.ok()) {
          return WithPath(typed.status(), "Could not read the schema of", input.path);
        }
        return typed;
      });
}

}  // namespace xshards::io
