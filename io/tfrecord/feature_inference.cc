// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/feature_inference.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>

#include "io/options/option_codec.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/tfrecord/feature_columns.h"
#include "io/tfrecord/framing.h"
#include "io/tfrecord/options.h"
#include "io/tfrecord/scan_options.h"

namespace xshards::io {
namespace {

constexpr int64_t kSampleBlockBytes = 128LL << 10;

/// A feature as seen in the records so far.
struct SeenFeature {
  std::string name;
  FeatureForm form;
  std::string path;  // of a file that has it
};

/// Features in the order they appeared.
class SeenFeatures {
 public:
  arrow::Status Add(std::string_view name, FeatureForm form, const std::string& path) {
    const auto found = places_.find(std::string(name));
    if (found == places_.end()) {
      places_.emplace(name, features_.size());
      features_.push_back({std::string(name), form, path});
      return arrow::Status::OK();
    }
    SeenFeature& seen = features_[found->second];
    if (seen.form.kind == FeatureKind::kNone) {
      seen.form.kind = form.kind;
      seen.path = path;
    } else if (form.kind != FeatureKind::kNone && form.kind != seen.form.kind) {
      return arrow::Status::TypeError(
          "Feature '", name, "' holds ", ToString(seen.form.kind), " in '", seen.path,
          "' and ", ToString(form.kind), " in '", path,
          "', which have no common type: list the columns to read in schema, or read the "
          "records with raw=True");
    }
    seen.form.is_list = seen.form.is_list || form.is_list;
    return arrow::Status::OK();
  }

  const std::vector<SeenFeature>& features() const { return features_; }

 private:
  std::unordered_map<std::string, size_t> places_;
  std::vector<SeenFeature> features_;
};

arrow::Status AddExample(std::string_view example, const Split& split, int64_t position,
                         SeenFeatures* seen) {
  ExampleReader reader(example);
  Feature feature;
  while (true) {
    const auto outcome = reader.Next(&feature);
    if (outcome == ExampleReader::Outcome::kEnd) return arrow::Status::OK();
    const bool is_feature = outcome == ExampleReader::Outcome::kFeature;
    const int64_t count = is_feature ? CountValues(feature) : -1;
    if (count < 0) {
      const bool is_sequence = outcome == ExampleReader::Outcome::kSequence;
      return arrow::Status::Invalid(
          "The record at byte ", split.begin + position, " of '", split.path, "' is ",
          is_sequence ? "a tf.train.SequenceExample" : "not a tf.train.Example",
          ": read its bytes with raw=True");
    }
    const bool is_list = feature.kind != FeatureKind::kNone && count != 1;
    ARROW_RETURN_NOT_OK(
        seen->Add(feature.name, {.kind = feature.kind, .is_list = is_list}, split.path));
  }
}

arrow::Result<SeenFeatures> ReadFeatures(const ScanNode& scan, const Split& split,
                                         OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<TfRecordScanOptions>(scan.options));
  const bool is_sample = options->extent == ScanExtent::kSample;
  ARROW_ASSIGN_OR_RAISE(
      auto input,
      RecordInput::Open(split, options->tfrecord.compression,
                        is_sample ? kSampleBlockBytes : kTextBlockBytes, context.pool));
  SeenFeatures seen;
  for (int64_t num_bytes = 0; !is_sample || num_bytes < kSampleBlockBytes;) {
    if (input.is_at_block_end()) ARROW_RETURN_NOT_OK(context.stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto record, input.Next());
    if (!record.has_value()) break;
    ARROW_RETURN_NOT_OK(AddExample(*record, split, input.position(), &seen));
    num_bytes += static_cast<int64_t>(record->size()) + kRecordHeaderBytes;
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, input.BytesRead());
  context.metrics->bytes_read += bytes_read;
  return seen;
}

std::shared_ptr<arrow::Schema> FeaturesSchema() {
  return arrow::schema({arrow::field("name", arrow::large_binary()),
                        arrow::field("kind", arrow::uint8()),
                        arrow::field("is_list", arrow::uint8()),
                        arrow::field("path", arrow::large_binary())});
}

arrow::Result<std::unique_ptr<BatchStream>> OpenFeatures(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  return MakeOneBatch(schema, [&]() -> arrow::Result<arrow::ArrayVector> {
    ARROW_ASSIGN_OR_RAISE(const auto seen, ReadFeatures(scan, split, context));
    arrow::LargeBinaryBuilder names(context.pool);
    arrow::UInt8Builder kinds(context.pool);
    arrow::UInt8Builder lists(context.pool);
    arrow::LargeBinaryBuilder paths(context.pool);
    for (const auto& feature : seen.features()) {
      ARROW_RETURN_NOT_OK(names.Append(feature.name));
      ARROW_RETURN_NOT_OK(kinds.Append(static_cast<uint8_t>(feature.form.kind)));
      ARROW_RETURN_NOT_OK(lists.Append(feature.form.is_list ? 1 : 0));
      ARROW_RETURN_NOT_OK(paths.Append(feature.path));
    }
    arrow::ArrayVector arrays(4);
    ARROW_RETURN_NOT_OK(names.Finish(arrays.data()));
    ARROW_RETURN_NOT_OK(kinds.Finish(&arrays[1]));
    ARROW_RETURN_NOT_OK(lists.Finish(&arrays[2]));
    ARROW_RETURN_NOT_OK(paths.Finish(&arrays[3]));
    return arrays;
  });
}

arrow::Status AddBatch(const arrow::RecordBatch& batch, SeenFeatures* seen) {
  const auto& names = static_cast<const arrow::LargeBinaryArray&>(*batch.column(0));
  const auto& kinds = static_cast<const arrow::UInt8Array&>(*batch.column(1));
  const auto& lists = static_cast<const arrow::UInt8Array&>(*batch.column(2));
  const auto& paths = static_cast<const arrow::LargeBinaryArray&>(*batch.column(3));
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    const FeatureForm form{.kind = static_cast<FeatureKind>(kinds.Value(row)),
                           .is_list = lists.Value(row) != 0};
    ARROW_RETURN_NOT_OK(seen->Add(names.GetView(row), form, paths.GetString(row)));
  }
  return arrow::Status::OK();
}

}  // namespace

OpenNode MakeTfRecordFeaturesScan() { return MakeScan(OpenFeatures); }

arrow::Result<std::shared_ptr<arrow::Schema>> InferFeatures(const ScanNode& scan,
                                                            ScanExtent extent,
                                                            const RunPlan& run) {
  ScanNode probe{.format = kTfRecordFeaturesFormat};
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<TfRecordScanOptions>(scan.options));
  probe.options =
      MakeOptions(TfRecordScanOptions{.tfrecord = options->tfrecord, .extent = extent});
  probe.splits = scan.splits;
  probe.schema = FeaturesSchema();
  ARROW_ASSIGN_OR_RAISE(const auto batches, run(MakeNode(std::move(probe))));
  SeenFeatures seen;
  for (const auto& batch : batches) ARROW_RETURN_NOT_OK(AddBatch(*batch, &seen));
  arrow::FieldVector fields;
  for (const auto& feature : seen.features()) {
    FeatureForm form = feature.form;
    // A feature without any value may have any type; floats can hold missing values.
    if (form.kind == FeatureKind::kNone) form.kind = FeatureKind::kFloat;
    fields.push_back(arrow::field(feature.name, form.type()));
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<std::shared_ptr<arrow::Schema>> FindTfRecordTypes(const ScanNode& scan,
                                                                const RunPlan& run) {
  ARROW_ASSIGN_OR_RAISE(const auto files, InferFeatures(scan, ScanExtent::kWhole, run));
  return WithHiveFields(files, scan);
}

std::optional<std::string> DescribeTfRecordPlace(const ScanNode& scan,
                                                 const TypeMismatchLocation& place,
                                                 arrow::MemoryPool* /*pool*/) {
  const bool reads_it =
      std::any_of(scan.splits.begin(), scan.splits.end(),
                  [&](const Split& split) { return split.path == place.path(); });
  if (!reads_it) return std::nullopt;
  return "feature '" + place.column() + "' of the record at byte " +
         std::to_string(place.begin() + place.offset()) + " of '" + place.path() +
         "': set its type in schema";
}

}  // namespace xshards::io
