// SPDX-License-Identifier: Apache-2.0
#include "io/write/hive_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>

#include "io/options/quoted_names.h"
#include "io/scan/hive_partitions.h"

namespace xshards::io {

namespace cp = arrow::compute;

PartitionedFiles::PartitionedFiles(OpenWriter open, Options options,
                                   arrow::MemoryPool* pool)
    : open_(std::move(open)),
      options_(std::move(options)),
      pool_(pool),
      context_(pool, /*executor=*/nullptr) {}

arrow::Result<std::unique_ptr<PartitionedFiles>> PartitionedFiles::Make(
    OpenWriter open, Options options, std::shared_ptr<arrow::Schema> schema,
    arrow::MemoryPool* pool) {
  std::unique_ptr<PartitionedFiles> made(
      new PartitionedFiles(std::move(open), std::move(options), pool));
  ARROW_ASSIGN_OR_RAISE(made->location_, Locate(made->options_.path));
  std::vector<arrow::TypeHolder> key_types;
  for (const auto& name : made->options_.columns) {
    const int index = schema->GetFieldIndex(name);
    if (index < 0) {
      return arrow::Status::KeyError("partition_cols: no column '", name, "'; there are ",
                                     QuotedNames(schema->field_names()));
    }
    made->key_indices_.push_back(index);
    key_types.emplace_back(schema->field(index)->type());
  }
  arrow::FieldVector others;
  for (int i = 0; i < schema->num_fields(); ++i) {
    const auto& keys = made->key_indices_;
    if (std::find(keys.begin(), keys.end(), i) != keys.end()) continue;
    made->other_indices_.push_back(i);
    others.push_back(schema->field(i));
  }
  if (others.empty()) {
    return arrow::Status::Invalid(
        "partition_cols must leave at least one column to write, got all columns: ",
        QuotedNames(made->options_.columns));
  }
  made->file_schema_ = arrow::schema(std::move(others));
  auto grouper = cp::Grouper::Make(key_types, &made->context_);
  if (!grouper.ok()) {
    return grouper.status().WithMessage(
        "partition_cols: ", QuotedNames(made->options_.columns),
        " cannot be folder names: ", grouper.status().message());
  }
  made->grouper_ = grouper.MoveValueUnsafe();
  return made;
}

arrow::Status PartitionedFiles::Write(const arrow::RecordBatch& batch) {
  if (batch.num_rows() == 0) return arrow::Status::OK();
  std::vector<arrow::Datum> keys;
  for (const int index : key_indices_) keys.emplace_back(batch.column(index));
  const cp::ExecBatch key_batch(std::move(keys), batch.num_rows());
  ARROW_ASSIGN_OR_RAISE(const auto ids, grouper_->Consume(cp::ExecSpan(key_batch)));
  ARROW_RETURN_NOT_OK(OpenFiles());
  const auto ids_array = ids.make_array();
  ARROW_ASSIGN_OR_RAISE(
      const auto groups,
      cp::Grouper::MakeGroupings(static_cast<const arrow::UInt32Array&>(*ids_array),
                                 grouper_->num_groups(), &context_));
  arrow::ArrayVector others;
  for (const int index : other_indices_) others.push_back(batch.column(index));
  const auto rest =
      arrow::RecordBatch::Make(file_schema_, batch.num_rows(), std::move(others));
  for (int64_t group = 0; group < groups->length(); ++group) {
    if (groups->value_length(group) == 0) continue;
    ARROW_ASSIGN_OR_RAISE(const auto rows,
                          cp::Take(rest, groups->value_slice(group),
                                   cp::TakeOptions::NoBoundsCheck(), &context_));
    auto& [file, writer] = files_[static_cast<size_t>(group)];
    const auto status = writer->Write(*rows.record_batch());
    if (!status.ok()) {
      writer.reset();
      return file->Abandon(status);
    }
  }
  return BoundHeld();
}

// The files with most buffered bytes are flushed, until enough memory is free for a
// while: many small writes would cost more than the memory is worth.
arrow::Status PartitionedFiles::BoundHeld() {
  int64_t held = 0;
  std::vector<std::pair<int64_t, File*>> files;
  for (auto& file : files_) {
    files.emplace_back(file.writer->held_bytes(), &file);
    held += files.back().first;
  }
  if (held <= options_.max_held_bytes) return arrow::Status::OK();
  std::sort(files.begin(), files.end(), std::greater<>());
  for (auto& [bytes, file] : files) {
    const auto status = file->writer->Release();
    if (!status.ok()) {
      file->writer.reset();
      return file->file->Abandon(status);
    }
    held -= bytes;
    if (held <= options_.max_held_bytes / 2) break;
  }
  return arrow::Status::OK();
}

arrow::Status PartitionedFiles::OpenFiles() {
  const auto num_groups = static_cast<size_t>(grouper_->num_groups());
  if (num_groups == files_.size()) return arrow::Status::OK();
  if (num_groups > kMaxFiles) {
    return arrow::Status::Invalid(
        "partition_cols ", QuotedNames(options_.columns), " have more than ", kMaxFiles,
        " distinct values in one partition, and each needs a file; choose columns with "
        "fewer values, or sort or repartition by them first");
  }
  ARROW_ASSIGN_OR_RAISE(const auto uniques, grouper_->GetUniques());
  auto& file_system = *location_.file_system;
  const size_t slash = location_.path.rfind('/');
  const std::string base = location_.path.substr(0, slash + 1);
  while (files_.size() < num_groups) {
    std::string folder = base;
    for (size_t i = 0; i < options_.columns.size(); ++i) {
      const auto values = uniques.values[i].make_array();
      ARROW_ASSIGN_OR_RAISE(const auto value,
                            values->GetScalar(static_cast<int64_t>(files_.size())));
      auto name = HiveFolder(options_.columns[i], *value);
      if (!name.ok()) {
        return name.status().WithMessage(
            "partition_cols: column '", options_.columns[i], "' of type ",
            values->type()->ToString(),
            " cannot be written as text: ", name.status().message());
      }
      folder += *name + "/";
    }
    if (!HasObjects(file_system)) {
      ARROW_RETURN_NOT_OK(
          WithPath(file_system.CreateDir(folder), "Could not make the folder", folder));
    }
    Location location = location_;
    location.path = folder + location_.path.substr(slash + 1);
    ARROW_ASSIGN_OR_RAISE(const auto path,
                          PathBelow(options_.path, location_, location.path));
    ARROW_ASSIGN_OR_RAISE(auto file, OutputFile::Open(path, std::move(location)));
    auto writer = open_(file_schema_, file->stream(), options_.writer_options, pool_);
    if (!writer.ok()) return file->Abandon(writer.status());
    files_.push_back({std::move(file), writer.MoveValueUnsafe()});
  }
  return arrow::Status::OK();
}

arrow::Status PartitionedFiles::Finish() {
  for (auto& [file, writer] : files_) {
    auto status = writer->Finish();
    writer.reset();
    if (!status.ok()) return file->Abandon(status);
    ARROW_ASSIGN_OR_RAISE(const int64_t size, file->stream()->Tell());
    num_bytes_ += size;
    ARROW_RETURN_NOT_OK(file->Complete());
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
