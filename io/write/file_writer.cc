// SPDX-License-Identifier: Apache-2.0
#include "io/write/file_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "io/options/type_names.h"
#include "io/write/atomic_file.h"
#include "io/write/hive_writer.h"
#include "io/write/pandas_metadata.h"
#include "io/writers.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/types/conform.h"
#include "xshards/types/json_text_field.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::io {
namespace {

// The share of the budget that the open files of a partition may buffer on each thread.
constexpr int64_t kHeldInBudget = 32;

// The schema as users see it: dictionaries replaced by their values, and without metadata
// that is internal to the process that made it. JSON files store the values of JSON text,
// not the text. The remaining metadata is for WithPandasNote.
std::shared_ptr<arrow::Schema> PlainSchema(const arrow::Schema& schema,
                                           const std::string& format) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) {
    if (format == "json" && IsJsonText(*field)) {
      fields.push_back(JsonTextField(field->name()));
      continue;
    }
    const bool is_dictionary = field->type()->id() == arrow::Type::DICTIONARY;
    auto plain = arrow::field(field->name(),
                              is_dictionary ? EngineType(field->type()) : field->type(),
                              field->nullable());
    fields.push_back(IsNotedForPandas(*field) ? WithDtype(plain, DtypeName(*field))
                                              : std::move(plain));
  }
  return arrow::schema(std::move(fields));
}

// The destination of a partition's batches.
struct Target {
  std::function<arrow::Status(const arrow::RecordBatch&)> write;
  std::function<arrow::Result<int64_t>()> finish;  // the bytes written
};

// Write a partition to the target that `open_target` creates for its schema.
arrow::Status WriteAll(
    const SinkSpec& spec, BatchStream& input, OperatorContext& context,
    const std::function<arrow::Result<Target>(const std::shared_ptr<arrow::Schema>&)>&
        open_target) {
  ARROW_ASSIGN_OR_RAISE(auto batch, input.Next());
  // If the schema is not known before running, it is that of the first batch.
  auto schema = batch != nullptr ? batch->schema() : input.schema();
  if (schema == nullptr) {
    return arrow::Status::Invalid("Expected a table to write as ", spec.format,
                                  ", got a partition without columns");
  }
  schema = PlainSchema(*schema, spec.format);
  ARROW_ASSIGN_OR_RAISE(const auto target, open_target(schema));
  int64_t num_rows = 0;
  while (batch != nullptr) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    num_rows += batch->num_rows();
    ARROW_ASSIGN_OR_RAISE(batch, Conform(std::move(batch), schema, context.pool));
    ARROW_RETURN_NOT_OK(target.write(*batch));
    ARROW_ASSIGN_OR_RAISE(batch, input.Next());
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t num_bytes, target.finish());
  context.metrics->rows_out += num_rows;
  context.metrics->bytes_out += num_bytes;
  return arrow::Status::OK();
}

arrow::Status WriteOneFile(const OpenWriter& open, const SinkSpec& spec,
                           BatchStream& input, OperatorContext& context) {
  const auto fill = [&](const std::shared_ptr<arrow::io::OutputStream>& file) {
    const auto open_target =
        [&](const std::shared_ptr<arrow::Schema>& schema) -> arrow::Result<Target> {
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<FileWriter> writer,
                            open(schema, file, spec.options, context.pool));
      return Target{
          .write =
              [writer](const arrow::RecordBatch& batch) { return writer->Write(batch); },
          .finish = [writer, file]() -> arrow::Result<int64_t> {
            ARROW_RETURN_NOT_OK(writer->Finish());
            return file->Tell();
          }};
    };
    return WriteAll(spec, input, context, open_target);
  };
  return WriteWholeFile(spec.path, fill);
}

arrow::Status WritePartitioned(const OpenWriter& open, const SinkSpec& spec,
                               BatchStream& input, OperatorContext& context) {
  PartitionedFiles::Options options{
      .path = spec.path, .columns = *spec.partition_cols, .writer_options = spec.options};
  if (context.storage.budget != nullptr) {
    options.max_held_bytes =
        std::min(options.max_held_bytes, context.storage.budget->limit() / kHeldInBudget);
  }
  const auto open_target =
      [&](const std::shared_ptr<arrow::Schema>& schema) -> arrow::Result<Target> {
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<PartitionedFiles> files,
        PartitionedFiles::Make(open, std::move(options), schema, context.pool));
    return Target{
        .write = [files](const arrow::RecordBatch& batch) { return files->Write(batch); },
        .finish = [files]() -> arrow::Result<int64_t> {
          ARROW_RETURN_NOT_OK(files->Finish());
          return files->num_bytes();
        }};
  };
  return WriteAll(spec, input, context, open_target);
}

}  // namespace

FormatOptionsPointer MakeWriterOptions(const NoOptions& options) {
  return MakeOptions(options);
}

RunSink MakeWriter(OpenWriter open) {
  return [open = std::move(open)](const SinkSpec& spec, BatchStream& input,
                                  BlockWriter& /*out*/,
                                  OperatorContext& context) -> arrow::Status {
    if (!spec.partition_cols.has_value()) return WriteOneFile(open, spec, input, context);
    return WritePartitioned(open, spec, input, context);
  };
}

}  // namespace xshards::io
