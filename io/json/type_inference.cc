// SPDX-License-Identifier: Apache-2.0
#include "io/json/type_inference.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array/builder_binary.h>

#include "io/json/block_input.h"
#include "io/json/on_demand.h"
#include "io/json/record_boundaries.h"
#include "io/json/scan_options.h"
#include "io/options/option_codec.h"
#include "io/options/type_names.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/text_input.h"
#include "io/text/type_mismatch_location.h"

namespace xshards::io {
namespace {

constexpr int64_t kSampleBytes = 128LL << 10;
constexpr char kShapeColumn[] = "shape";

/// Reads a split for the shape of its records.
class ShapeReader {
 public:
  static arrow::Result<ShapeReader> Make(const Split& split, const JsonOptions& options,
                                         int64_t block_bytes, arrow::MemoryPool* pool) {
    const auto layout =
        options.lines.value_or(true) ? JsonLayout::kLines : JsonLayout::kArray;
    ARROW_ASSIGN_OR_RAISE(auto input, JsonInput::Open(split, layout, block_bytes, pool));
    return ShapeReader(split.path, options, layout, std::move(input), pool);
  }

  /// Add the records of the next block; false at the end. Fails like a scan if some are
  /// not JSON; text between records is not checked.
  arrow::Result<bool> Next(JsonShape* shape) {
    if (rows_left_ == 0) return false;
    ARROW_ASSIGN_OR_RAISE(const auto block, input_.Next());
    const bool is_array = layout_ == JsonLayout::kArray;
    const char* const end = block.text + block.size;
    const char* p = SkipJsonBlanks(block.text, true);
    if (is_array && block.position == 0 && *p == '[') p = SkipJsonBlanks(p + 1, true);
    while (p < end && rows_left_ > 0 && !(is_array && *p == ']')) {
      const char* const record = p;
      JsonFault fault;
      // Only complete records count.
      const bool is_whole = on_bad_lines_ == BadLines::kError ||
                            on_demand_->Check(record, end, &fault) != nullptr;
      p = is_whole ? on_demand_->Observe(record, end, shape, &fault) : nullptr;
      if (p == nullptr && is_array && !block.is_last &&
          end - fault.at <= kLongestJsonToken) {
        input_.Consume(record - block.text);  // it continues in the next block
        return true;
      }
      if (p == nullptr && (is_array || on_bad_lines_ == BadLines::kError)) {
        return NotJson(path_, block, record, fault, pool_);
      }
      if (p == nullptr) {
        p = JsonLineEnd(record, end);
      } else {
        ++num_records_;
        --rows_left_;
      }
      p = SkipJsonBlanks(p, true);
      if (is_array && *p == ',') p = SkipJsonBlanks(p + 1, true);
    }
    input_.Consume(block.size);
    return !block.is_last && p >= end;
  }

  int64_t num_records() const { return num_records_; }
  arrow::Result<int64_t> BytesRead() const { return input_.BytesRead(); }

 private:
  ShapeReader(std::string path, const JsonOptions& options, JsonLayout layout,
              JsonInput input, arrow::MemoryPool* pool)
      : path_(std::move(path)),
        on_bad_lines_(options.on_bad_lines),
        layout_(layout),
        input_(std::move(input)),
        on_demand_(std::make_unique<JsonOnDemand>(layout, pool)),
        pool_(pool),
        rows_left_(options.nrows.value_or(std::numeric_limits<int64_t>::max())) {}

  std::string path_;
  BadLines on_bad_lines_;
  JsonLayout layout_;
  JsonInput input_;
  std::unique_ptr<JsonOnDemand> on_demand_;
  arrow::MemoryPool* pool_;
  int64_t rows_left_;
  int64_t num_records_ = 0;
};

arrow::Result<JsonShape> ReadShape(const ScanNode& scan, const Split& split,
                                   OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<JsonScanOptions>(scan.options));
  const bool is_sample = options->extent == ScanExtent::kSample;
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      ShapeReader::Make(split, options->json, is_sample ? kSampleBytes : kTextBlockBytes,
                        context.pool));
  JsonShape shape = JsonShape::OfRecords();
  for (bool has_more = true; has_more && !(is_sample && reader.num_records() > 0);) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    ARROW_ASSIGN_OR_RAISE(has_more, reader.Next(&shape));
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, reader.BytesRead());
  context.metrics->bytes_read += bytes_read;
  return shape;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenJsonShapes(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  return MakeOneBatch(schema, [&]() -> arrow::Result<arrow::ArrayVector> {
    ARROW_ASSIGN_OR_RAISE(const auto shape, ReadShape(scan, split, context));
    arrow::LargeBinaryBuilder builder(context.pool);
    ARROW_RETURN_NOT_OK(builder.Append(shape.Encode()));
    ARROW_ASSIGN_OR_RAISE(auto shapes, builder.Finish());
    return arrow::ArrayVector{std::move(shapes)};
  });
}

}  // namespace

OpenNode MakeJsonShapesScan() { return MakeScan(OpenJsonShapes); }

arrow::Result<JsonSample> SampleJson(const Split& split, const JsonOptions& options,
                                     JsonShape* shape, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        ShapeReader::Make(split, options, kSampleBytes, pool));
  bool has_more = true;
  while (has_more && reader.num_records() == 0) {
    ARROW_ASSIGN_OR_RAISE(has_more, reader.Next(shape));
  }
  return JsonSample{.num_records = reader.num_records(), .is_whole = !has_more};
}

arrow::Result<std::shared_ptr<arrow::Schema>> JsonSchema(const JsonShape& shape,
                                                         const JsonOptions& options) {
  arrow::FieldVector fields = shape.ToFields();
  for (const auto& [name, type_name] : options.dtype) {
    ARROW_ASSIGN_OR_RAISE(auto type, TypeFromName(type_name));
    auto asked = arrow::field(name, std::move(type));
    const auto same = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
      return field->name() == asked->name();
    });
    if (same == fields.end()) {
      fields.push_back(std::move(asked));
    } else {
      *same = std::move(asked);
    }
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<JsonShape> FindJsonShape(const ScanNode& scan, ScanExtent extent,
                                       const RunPlan& run) {
  ScanNode probe{.format = kJsonShapesFormat};
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<JsonScanOptions>(scan.options));
  probe.options = MakeOptions(JsonScanOptions{.json = options->json, .extent = extent});
  probe.splits = scan.splits;
  probe.schema = arrow::schema({arrow::field(kShapeColumn, arrow::large_binary())});
  ARROW_ASSIGN_OR_RAISE(const auto batches, run(MakeNode(std::move(probe))));
  JsonShape shape = JsonShape::OfRecords();
  for (const auto& batch : batches) {
    const auto& shapes = static_cast<const arrow::LargeBinaryArray&>(*batch->column(0));
    for (int64_t row = 0; row < shapes.length(); ++row) {
      ARROW_ASSIGN_OR_RAISE(const auto more, JsonShape::Decode(shapes.GetView(row)));
      shape.Merge(more);
    }
  }
  return shape;
}

arrow::Result<std::shared_ptr<arrow::Schema>> FindJsonTypes(const ScanNode& scan,
                                                            const RunPlan& run) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<JsonScanOptions>(scan.options));
  ARROW_ASSIGN_OR_RAISE(const auto shape, FindJsonShape(scan, ScanExtent::kWhole, run));
  ARROW_ASSIGN_OR_RAISE(const auto files, JsonSchema(shape, options->json));
  return WithHiveFields(files, scan);
}

std::optional<std::string> DescribeJsonPlace(const ScanNode& scan,
                                             const TypeMismatchLocation& place,
                                             arrow::MemoryPool* pool) {
  return DescribeTextPlace(scan, TextFormat{}, place, pool);
}

}  // namespace xshards::io
