// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <numeric>
#include <utility>

#include "io/fs/file_fingerprint.h"
#include "io/fs/file_listing.h"
#include "io/json/block_input.h"
#include "io/json/scan_options.h"
#include "io/json/split_planner.h"
#include "io/json/structure.h"
#include "io/json/type_inference.h"
#include "io/options/option_codec.h"
#include "io/readers.h"
#include "io/scan/hive_scan.h"
#include "io/text/text_splits.h"
#include "xshards/plan/result_store.h"

namespace xshards::io {
namespace {

/// Plans a scan of JSON files.
class JsonPlanner {
 public:
  JsonPlanner(const JsonOptions& options, RunPlan run, arrow::MemoryPool* pool)
      : options_(options), run_(std::move(run)), pool_(pool) {}

  arrow::Result<ScanNode> Plan(const std::vector<InputFile>& files, int cores) {
    if (!options_.lines.has_value()) {
      ARROW_ASSIGN_OR_RAISE(options_.lines, AreLines(files));
    }
    scan_.format = "json";
    scan_.options = MakeOptions(JsonScanOptions{.json = options_});
    const int64_t total =
        std::accumulate(files.begin(), files.end(), int64_t{0},
                        [](int64_t sum, const InputFile& f) { return sum + f.size; });
    const int64_t target_bytes = options_.split.TargetBytes(total, cores, options_.nrows);
    ARROW_ASSIGN_OR_RAISE(scan_.splits,
                          CutJsonFiles(files, target_bytes, options_, run_));
    DropEmptySplits(&scan_.splits);
    ARROW_ASSIGN_OR_RAISE(scan_.schema, InferSchema());
    ARROW_ASSIGN_OR_RAISE(const auto folders, HiveFields(files));
    AddHiveFields(folders, &scan_);
    // Even if dtype specifies all types: there may be keys that no sample has.
    scan_.inferred = true;
    return std::move(scan_);
  }

 private:
  // Whether files contain lines, by their first characters.
  arrow::Result<bool> AreLines(const std::vector<InputFile>& files) const {
    std::optional<JsonLayout> layout;
    for (const auto& file : files) {
      if (file.size == 0) continue;
      ARROW_ASSIGN_OR_RAISE(const auto found, FindJsonLayout(file.path, pool_));
      if (found != layout.value_or(found)) {
        return arrow::Status::Invalid(
            "Expected either JSON lines or arrays of objects in all files; '", file.path,
            "' differs from the files before it");
      }
      layout = found;
    }
    return layout.value_or(JsonLayout::kLines) == JsonLayout::kLines;
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> InferSchema() {
    JsonShape shape = JsonShape::OfRecords();
    if (options_.nrows.has_value()) {
      ARROW_RETURN_NOT_OK(SampleFirstRows(&shape));
    } else {
      ARROW_ASSIGN_OR_RAISE(shape, FindJsonShape(scan_, ScanExtent::kSample, run_));
    }
    return JsonSchema(shape, options_);
  }

  // Rows after the first nrows are not read, so they do not affect the types.
  arrow::Status SampleFirstRows(JsonShape* shape) {
    JsonOptions options = options_;
    for (size_t i = 0; i < scan_.splits.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto sample,
                            SampleJson(scan_.splits[i], options, shape, pool_));
      if (sample.num_records >= *options.nrows) scan_.splits.resize(i + 1);
      if (sample.is_whole) *options.nrows -= sample.num_records;
    }
    return arrow::Status::OK();
  }

  JsonOptions options_;
  const RunPlan run_;
  arrow::MemoryPool* const pool_;
  ScanNode scan_;
};

}  // namespace

arrow::Result<XShards> ReadJson(std::shared_ptr<Context> context, const Paths& paths,
                                const JsonOptions& options,
                                const arrow::StopToken& stop) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(auto files, ListFiles(paths.values));
  ARROW_RETURN_NOT_OK(TakeFingerprints(&files));
  JsonPlanner planner(options, context->MakeProbe(stop), context->memory_pool());
  ARROW_ASSIGN_OR_RAISE(auto scan, planner.Plan(files, context->cores()));
  scan.found = context->results().MakeId();
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.nrows.has_value() ? shards.Head(*options.nrows) : shards;
}

}  // namespace xshards::io
