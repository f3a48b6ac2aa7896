// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/writer.h"

#include <algorithm>
#include <utility>

#include <arrow/util/byte_size.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

namespace xshards::io {
namespace {

// A row group is buffered in memory, encoded, until it is complete.
constexpr int64_t kMaxRowGroupBytes = 64LL << 20;

class ParquetWriter final : public FileWriter {
 public:
  ParquetWriter(std::unique_ptr<parquet::arrow::FileWriter> writer,
                int64_t row_group_rows)
      : writer_(std::move(writer)), row_group_rows_(row_group_rows) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    const int64_t num_bytes = arrow::util::TotalBufferSize(batch);
    for (int64_t row = 0; row < batch.num_rows();) {
      if (rows_ == row_group_rows_ || bytes_ >= kMaxRowGroupBytes) {
        ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
        rows_ = 0;
        bytes_ = 0;
      }
      const int64_t count = std::min(batch.num_rows() - row, row_group_rows_ - rows_);
      ARROW_RETURN_NOT_OK(writer_->WriteRecordBatch(*batch.Slice(row, count)));
      rows_ += count;
      bytes_ += num_bytes / batch.num_rows() * count;
      row += count;
    }
    return arrow::Status::OK();
  }

  arrow::Status Finish() override { return writer_->Close(); }

 private:
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  const int64_t row_group_rows_;
  int64_t rows_ = 0;   // in the row group being written
  int64_t bytes_ = 0;  // of these rows in memory
};

arrow::Result<arrow::Compression::type> ParquetCompression(
    const ParquetWriterOptions& options) {
  const auto& name = options.compression;
  // LZ4 in Parquet usually means the raw format without frames.
  auto compression = arrow::util::Codec::GetCompressionType(
      name == "none" ? "uncompressed" : (name == "lz4" ? "lz4_raw" : name));
  if (compression.ok()) return compression;
  return arrow::Status::Invalid(
      "compression must be snappy, zstd, gzip, brotli, lz4 or none, got '", name, "'");
}

}  // namespace

arrow::Status ParquetWriterOptions::Validate() const {
  ARROW_RETURN_NOT_OK(ParquetCompression(*this).status());
  if (row_group_rows >= 1) return arrow::Status::OK();
  return arrow::Status::Invalid("row_group_rows must be 1 or more, got ", row_group_rows);
}

FormatOptionsPointer MakeWriterOptions(const ParquetWriterOptions& options) {
  return MakeOptions(options);
}

arrow::Result<std::unique_ptr<FileWriter>> OpenParquetWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file,
    const ParquetWriterOptions& options, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(const auto compression, ParquetCompression(options));
  ARROW_ASSIGN_OR_RAISE(
      auto writer,
      parquet::arrow::FileWriter::Open(
          *schema, pool, file,
          parquet::WriterProperties::Builder()
              .memory_pool(pool)
              ->compression(compression)
              ->max_row_group_length(options.row_group_rows)
              ->build(),
          parquet::ArrowWriterProperties::Builder().store_schema()->build()));
  return std::make_unique<ParquetWriter>(std::move(writer), options.row_group_rows);
}

}  // namespace xshards::io
