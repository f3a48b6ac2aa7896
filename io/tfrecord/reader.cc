// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "io/fs/file_fingerprint.h"
#include "io/fs/file_listing.h"
#include "io/options/option_codec.h"
#include "io/options/type_names.h"
#include "io/readers.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/text_splits.h"
#include "io/tfrecord/feature_inference.h"
#include "io/tfrecord/scan.h"
#include "io/tfrecord/scan_options.h"
#include "io/tfrecord/split_planner.h"
#include "xshards/plan/result_store.h"

namespace xshards::io {
namespace {

arrow::Result<std::shared_ptr<arrow::Schema>> SchemaOf(const TfRecordOptions& options,
                                                       const ScanNode& scan,
                                                       const RunPlan& run) {
  if (options.raw) {
    return arrow::schema({arrow::field(kRawRecordColumn, arrow::large_binary())});
  }
  if (options.schema == nullptr) return InferFeatures(scan, ScanExtent::kSample, run);
  arrow::FieldVector fields;
  for (const auto& field : options.schema->fields()) {
    fields.push_back(field->WithType(EngineType(field->type()))->WithNullable(true));
  }
  return arrow::schema(std::move(fields));
}

}  // namespace

arrow::Result<XShards> ReadTfRecord(std::shared_ptr<Context> context, const Paths& paths,
                                    const TfRecordOptions& options,
                                    const arrow::StopToken& stop) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(auto files, ListFiles(paths.values));
  ARROW_RETURN_NOT_OK(TakeFingerprints(&files));
  int64_t total = 0;
  for (const auto& file : files) total += file.size;
  const RunPlan run = context->MakeProbe(stop);
  ScanNode scan;
  scan.format = "tfrecord";
  TfRecordOptions of_scan = options;
  of_scan.columns.reset();
  of_scan.schema.reset();
  scan.options = MakeOptions(TfRecordScanOptions{.tfrecord = std::move(of_scan)});
  const int64_t target_bytes = options.split.TargetBytes(total, context->cores());
  ARROW_ASSIGN_OR_RAISE(scan.splits, CutTfRecordFiles(files, target_bytes, options, run));
  DropEmptySplits(&scan.splits);
  ARROW_ASSIGN_OR_RAISE(scan.schema, SchemaOf(options, scan, run));
  ARROW_ASSIGN_OR_RAISE(const auto folders, HiveFields(files));
  AddHiveFields(folders, &scan);
  if (options.schema == nullptr && !options.raw) {
    scan.inferred = true;
    scan.found = context->results().MakeId();
  }
  if (options.columns.has_value()) {
    ARROW_RETURN_NOT_OK(SelectFields(*scan.schema, *options.columns).status());
  }
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.columns.has_value() ? shards.Select(*options.columns) : shards;
}

}  // namespace xshards::io
