// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/type_inference.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <arrow/array/builder_primitive.h>

#include "io/csv/convert/time_columns.h"
#include "io/csv/parse/rows.h"
#include "io/csv/plan/footer.h"
#include "io/csv/scan_options.h"
#include "io/csv/text_format.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/text_input.h"
#include "io/text/type_mismatch_location.h"

namespace xshards::io {
namespace {

constexpr int64_t kKindsBlockBytes = 256LL << 10;
constexpr int64_t kKindsSampleBytes = 64LL << 10;

/// Reads a split for the kinds of its values.
class KindsReader {
 public:
  static arrow::Result<KindsReader> Make(const CsvScanOptions& scan, const Split& split,
                                         const std::vector<std::string>& columns,
                                         ScanExtent extent, arrow::MemoryPool* pool) {
    const CsvOptions options = scan.OptionsFor(split);
    const auto line = scan.FirstLineOf(split);
    const auto& file_columns = scan.ColumnsOf(split.path);
    ARROW_ASSIGN_OR_RAISE(auto input, OpenCsvText(split, scan, pool));
    // There may be many columns.
    std::unordered_map<std::string_view, int64_t> known;
    for (size_t i = 0; i < file_columns.size(); ++i) {
      known.emplace(file_columns[i], static_cast<int64_t>(i));
    }
    CsvColumnValues all_values(options);
    std::vector<int64_t> indices;
    std::vector<const CsvValues*> values;
    std::vector<std::optional<TimeFormat>> times;
    for (const auto& name : columns) {
      indices.push_back(known.at(name));
      values.push_back(&all_values.Of(name));
      times.push_back(TimesOf(name, options));
    }
    const int64_t block_bytes =
        extent == ScanExtent::kSample ? kKindsSampleBytes : kKindsBlockBytes;
    KindsReader reader(split.path, options, extent,
                       TextBlocks(std::move(input), block_bytes, pool, kMaxCsvBlockBytes),
                       static_cast<int64_t>(file_columns.size()), std::move(indices),
                       std::move(all_values), std::move(values), std::move(times));
    if (split.num_rows >= 0) reader.max_rows_ = split.num_rows;
    if (line.has_value()) reader.rows_.NumberFrom(*line);
    return reader;
  }

  /// Add the kinds of all values that a scan may read, or of the first block that has
  /// some; returns the number of rows. Ends before a record that cannot be parsed: the
  /// scan itself reports its error.
  arrow::Result<int64_t> Read(const arrow::StopToken& stop,
                              std::vector<CsvKinds>* kinds) {
    int64_t rows_left = max_rows_;
    bool at_end = false;
    while (rows_left > 0 && !at_end) {
      ARROW_RETURN_NOT_OK(stop.Poll());
      auto block = blocks_.Next();
      if (!block.ok()) return WithPath(block.status(), "Could not read", path_);
      const int64_t size = block->buffer->size();
      rows_.Find(block->mutable_text(), size, block->is_last, num_columns_);
      const int64_t count = std::min(rows_.num_rows(), rows_left);
      for (size_t i = 0; i < indices_.size(); ++i) {
        (*kinds)[i] |=
            times_[i].has_value()
                ? TimeKindsOf(*times_[i], *values_[i], rows_, indices_[i], count)
                : values_[i]->KindsOf(rows_, indices_[i], count);
      }
      rows_left -= count;
      const int64_t consumed = std::min(rows_.consumed(), size);
      blocks_.Consume(consumed);
      at_end = rows_.too_long().has_value() ||
               (extent_ == ScanExtent::kSample && count > 0) ||
               (block->is_last && (consumed == size || consumed == 0));
    }
    return max_rows_ - rows_left;
  }

  arrow::Result<int64_t> BytesRead() const { return blocks_.BytesRead(); }

 private:
  KindsReader(std::string path, const CsvOptions& options, ScanExtent extent,
              TextBlocks blocks, int64_t num_columns, std::vector<int64_t> indices,
              CsvColumnValues all_values, std::vector<const CsvValues*> values,
              std::vector<std::optional<TimeFormat>> times)
      : path_(std::move(path)),
        extent_(extent),
        all_values_(std::move(all_values)),
        rows_(options),
        blocks_(std::move(blocks)),
        num_columns_(num_columns),
        max_rows_(options.nrows.value_or(std::numeric_limits<int64_t>::max())),
        indices_(std::move(indices)),
        values_(std::move(values)),
        times_(std::move(times)) {}

  std::string path_;
  ScanExtent extent_;
  CsvColumnValues all_values_;
  CsvRows rows_;
  TextBlocks blocks_;
  int64_t num_columns_;  // of the file
  int64_t max_rows_;
  // Of the requested columns: their positions, null markers and booleans, and time
  // formats.
  std::vector<int64_t> indices_;
  std::vector<const CsvValues*> values_;
  std::vector<std::optional<TimeFormat>> times_;
};

arrow::Result<std::unique_ptr<BatchStream>> OpenCsvKinds(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  return MakeOneBatch(schema, [&]() -> arrow::Result<arrow::ArrayVector> {
    ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<CsvScanOptions>(scan.options));
    ARROW_ASSIGN_OR_RAISE(auto reader,
                          KindsReader::Make(*options, split, schema->field_names(),
                                            options->extent, context.pool));
    std::vector<CsvKinds> kinds(static_cast<size_t>(schema->num_fields()));
    ARROW_RETURN_NOT_OK(reader.Read(context.stop, &kinds));
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, reader.BytesRead());
    context.metrics->bytes_read += bytes_read;
    arrow::ArrayVector arrays;
    for (const CsvKinds seen : kinds) {
      arrow::UInt16Builder builder(context.pool);
      ARROW_RETURN_NOT_OK(builder.Append(seen));
      ARROW_ASSIGN_OR_RAISE(auto array, builder.Finish());
      arrays.push_back(std::move(array));
    }
    return arrays;
  });
}

// The columns whose inferred types more values can change. Text stays text: if it might
// not, the reader has already inspected all values.
std::vector<std::string> ChangeableColumns(const arrow::Schema& files,
                                           const CsvOptions& options) {
  std::vector<std::string> columns;
  for (const auto& field : files.fields()) {
    const bool is_text = field->type()->id() == arrow::Type::LARGE_STRING;
    if (!is_text && !options.dtype.contains(field->name())) {
      columns.push_back(field->name());
    }
  }
  return columns;
}

}  // namespace

OpenNode MakeCsvKindsScan() { return MakeScan(OpenCsvKinds); }

arrow::Result<std::vector<CsvKinds>> FindCsvKinds(const ScanNode& scan,
                                                  const std::vector<std::string>& columns,
                                                  ScanExtent extent, const RunPlan& run) {
  ScanNode probe{.format = kCsvKindsFormat};
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<CsvScanOptions>(scan.options));
  CsvScanOptions of_probe = *options;
  of_probe.extent = extent;
  probe.options = MakeOptions(std::move(of_probe));
  probe.splits = scan.splits;
  arrow::FieldVector fields;
  for (const auto& name : columns) fields.push_back(arrow::field(name, arrow::uint16()));
  probe.schema = arrow::schema(std::move(fields));
  ARROW_ASSIGN_OR_RAISE(const auto batches, run(MakeNode(std::move(probe))));
  std::vector<CsvKinds> kinds(columns.size());
  for (const auto& batch : batches) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto& seen =
          static_cast<const arrow::UInt16Array&>(*batch->column(static_cast<int>(i)));
      for (int64_t row = 0; row < seen.length(); ++row) kinds[i] |= seen.Value(row);
    }
  }
  return kinds;
}

arrow::Status KeepFirstCsvRows(int64_t num_rows, const arrow::StopToken& stop,
                               arrow::MemoryPool* pool, const CsvScanOptions& scan,
                               std::vector<Split>* splits) {
  for (size_t i = 0; i < splits->size(); ++i) {
    Split& split = (*splits)[i];
    split.num_rows = num_rows;
    ARROW_ASSIGN_OR_RAISE(auto reader, KindsReader::Make(scan, split, /*columns=*/{},
                                                         ScanExtent::kWhole, pool));
    std::vector<CsvKinds> of_no_column;
    ARROW_ASSIGN_OR_RAISE(const int64_t found, reader.Read(stop, &of_no_column));
    if (found == num_rows) {
      splits->resize(i + 1);
      return arrow::Status::OK();
    }
    num_rows -= found;
    split.num_rows = -1;
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Schema>> FindCsvTypes(const ScanNode& scan,
                                                           const RunPlan& run) {
  ARROW_ASSIGN_OR_RAISE(const auto scan_options, OptionsOf<CsvScanOptions>(scan.options));
  const CsvOptions& options = scan_options->csv;
  const auto columns = ChangeableColumns(*FileSchema(scan), options);
  ARROW_ASSIGN_OR_RAISE(const auto kinds,
                        FindCsvKinds(scan, columns, ScanExtent::kWhole, run));
  auto fields = scan.schema->fields();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (kinds[i] == 0) continue;
    auto& field = fields[static_cast<size_t>(scan.schema->GetFieldIndex(columns[i]))];
    const auto times = TimesOf(columns[i], options);
    field = times.has_value() ? TimeFieldOf(*times, kinds[i], field)
                              : FieldOf(kinds[i], field);
  }
  return arrow::schema(std::move(fields), scan.schema->metadata());
}

std::optional<std::string> DescribeCsvPlace(const ScanNode& scan,
                                            const TypeMismatchLocation& place,
                                            arrow::MemoryPool* pool) {
  const auto options = OptionsOf<CsvScanOptions>(scan.options);
  if (!options.ok()) return std::nullopt;
  auto described = DescribeTextPlace(scan, ToTextFormat((*options)->csv), place, pool);
  if (!described.has_value()) return std::nullopt;
  return *described + "; to read such values as missing, list them in na_values";
}

}  // namespace xshards::io
