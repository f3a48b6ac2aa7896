// SPDX-License-Identifier: Apache-2.0
#include "io/file_writer.h"

#include <utility>

#include "io/json_shape.h"
#include "io/output_file.h"
#include "io/type_names.h"
#include "xshards/conform.h"

namespace xshards::io {
namespace {

// The schema as people see it: dictionaries replaced by their values, and without the
// notes in metadata that only the process that made them may read. JSON files hold the
// values of JSON text, not the text.
std::shared_ptr<arrow::Schema> PlainSchema(const arrow::Schema& schema,
                                           const std::string& format) {
  arrow::FieldVector fields;
  for (const auto& field : schema.fields()) {
    if (format == "json" && IsJsonText(*field)) {
      fields.push_back(JsonTextField(field->name()));
      continue;
    }
    const bool is_dictionary = field->type()->id() == arrow::Type::DICTIONARY;
    fields.push_back(arrow::field(
        field->name(), is_dictionary ? EngineType(field->type()) : field->type(),
        field->nullable()));
  }
  return arrow::schema(std::move(fields));
}

arrow::Status WriteAll(const OpenWriter& open, const SinkSpec& spec, BatchStream& input,
                       const std::shared_ptr<arrow::io::OutputStream>& file,
                       OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(auto batch, input.Next());
  // Where only running tells the schema, the first batch does.
  auto schema = batch != nullptr ? batch->schema() : input.schema();
  if (schema == nullptr) {
    return arrow::Status::Invalid("Expected a table to write as ", spec.format,
                                  ", got a partition without columns");
  }
  schema = PlainSchema(*schema, spec.format);
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        open(schema, file, spec.options, context.pool));
  int64_t num_rows = 0;
  while (batch != nullptr) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    num_rows += batch->num_rows();
    ARROW_ASSIGN_OR_RAISE(batch, Conform(std::move(batch), schema, context.pool));
    ARROW_RETURN_NOT_OK(writer->Write(*batch));
    ARROW_ASSIGN_OR_RAISE(batch, input.Next());
  }
  ARROW_RETURN_NOT_OK(writer->Finish());
  ARROW_ASSIGN_OR_RAISE(const int64_t num_bytes, file->Tell());
  context.metrics->rows_out += num_rows;
  context.metrics->bytes_out += num_bytes;
  return arrow::Status::OK();
}

}  // namespace

RunSink MakeWriter(OpenWriter open) {
  return [open = std::move(open)](const SinkSpec& spec, BatchStream& input,
                                  BlockWriter& /*out*/, OperatorContext& context) {
    return WriteWholeFile(spec.path,
                          [&](const std::shared_ptr<arrow::io::OutputStream>& file) {
                            return WriteAll(open, spec, input, file, context);
                          });
  };
}

}  // namespace xshards::io
