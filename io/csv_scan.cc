// SPDX-License-Identifier: Apache-2.0
#include "io/csv_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "io/csv_block.h"
#include "io/csv_dialect.h"
#include "io/file_system.h"
#include "io/scan_stream.h"
#include "io/text_input.h"

namespace xshards::io {
namespace {

constexpr char kFileColumns[] = "file_columns";

class CsvSplitStream final : public BatchStream {
 public:
  CsvSplitStream(std::string path, int64_t begin, TextBlocks blocks,
                 std::unique_ptr<CsvBlockReader> reader, int64_t max_rows,
                 std::shared_ptr<arrow::Schema> schema, FragmentMetrics* metrics)
      : path_(std::move(path)),
        begin_(begin),
        blocks_(std::move(blocks)),
        reader_(std::move(reader)),
        rows_left_(max_rows),
        schema_(std::move(schema)),
        metrics_(metrics) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (!at_end_ && rows_left_ > 0) {
      auto block = blocks_.Next();
      if (!block.ok()) return WithPath(block.status(), "Could not read", path_);
      ARROW_RETURN_NOT_OK(CountBytes());
      at_end_ = block->is_last;
      ARROW_ASSIGN_OR_RAISE(auto read,
                            reader_->Read({.text = block->text(),
                                           .is_last = block->is_last,
                                           .path = &path_,
                                           .position = begin_ + blocks_.position()},
                                          rows_left_));
      blocks_.Consume(read.consumed);
      rows_left_ -= read.batch->num_rows();
      if (read.batch->num_rows() > 0) return read.batch;
    }
    return nullptr;
  }

 private:
  arrow::Status CountBytes() {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, blocks_.BytesRead());
    metrics_->bytes_read += bytes_read - counted_;
    counted_ = bytes_read;
    return arrow::Status::OK();
  }

  const std::string path_;
  const int64_t begin_;
  TextBlocks blocks_;
  const std::unique_ptr<CsvBlockReader> reader_;
  int64_t rows_left_;
  const std::shared_ptr<arrow::Schema> schema_;
  FragmentMetrics* const metrics_;
  int64_t counted_ = 0;  // bytes already in the metrics
  bool at_end_ = false;
};

arrow::Result<std::unique_ptr<BatchStream>> OpenCsvSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, CsvOptions::FromMap(scan.options));
  ARROW_ASSIGN_OR_RAISE(const auto columns, GetFileColumns(split.path, scan.options));
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(split.path, ToTextFormat(options), split.begin,
                                        split.end, context.pool));
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        CsvBlockReader::Make(options, columns, schema, context.pool));
  return std::make_unique<CsvSplitStream>(
      split.path, split.begin,
      TextBlocks(std::move(input), TextBlockBytes(context.batch_bytes, scan.limit),
                 context.pool),
      std::move(reader), scan.limit.value_or(std::numeric_limits<int64_t>::max()), schema,
      context.metrics);
}

}  // namespace

OpenNode MakeCsvScan() { return MakeScan(OpenCsvSplit); }

void SetFileColumns(const std::string& path, const std::vector<std::string>& columns,
                    OptionMap* options) {
  std::string encoded = EncodeList(columns);
  const auto [common, is_first] = options->emplace(kFileColumns, encoded);
  if (!is_first && common->second != encoded) {
    (*options)[kFileColumns + (":" + path)] = std::move(encoded);
  }
}

arrow::Result<std::vector<std::string>> GetFileColumns(const std::string& path,
                                                       const OptionMap& options) {
  auto own = options.find(kFileColumns + (":" + path));
  if (own == options.end()) own = options.find(kFileColumns);
  if (own == options.end()) {
    return arrow::Status::Invalid("The scan of '", path,
                                  "' does not say what columns the file has");
  }
  return DecodeList(own->second);
}

}  // namespace xshards::io
