// SPDX-License-Identifier: Apache-2.0
#include "io/ipc/writer.h"

#include <utility>

#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>

namespace xshards::io {
namespace {

class IpcWriter final : public FileWriter {
 public:
  explicit IpcWriter(std::shared_ptr<arrow::ipc::RecordBatchWriter> writer)
      : writer_(std::move(writer)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    return writer_->WriteRecordBatch(batch);
  }
  arrow::Status Finish() override { return writer_->Close(); }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

}  // namespace

arrow::Status IpcWriterOptions::Validate() const {
  if (compression == "none" || compression == "lz4" || compression == "zstd") {
    return arrow::Status::OK();
  }
  return arrow::Status::Invalid("compression must be lz4, zstd or none, got '",
                                compression, "'");
}

FormatOptionsPointer MakeWriterOptions(const IpcWriterOptions& options) {
  return MakeOptions(options);
}

arrow::Result<std::unique_ptr<FileWriter>> OpenIpcWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const IpcWriterOptions& options,
    arrow::MemoryPool* pool) {
  auto write_options = arrow::ipc::IpcWriteOptions::Defaults();
  write_options.memory_pool = pool;
  write_options.use_threads = false;
  if (options.compression != "none") {
    ARROW_ASSIGN_OR_RAISE(write_options.codec,
                          arrow::util::Codec::Create(options.compression == "lz4"
                                                         ? arrow::Compression::LZ4_FRAME
                                                         : arrow::Compression::ZSTD));
  }
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        arrow::ipc::MakeFileWriter(file, schema, write_options));
  return std::make_unique<IpcWriter>(std::move(writer));
}

}  // namespace xshards::io
