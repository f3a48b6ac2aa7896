// SPDX-License-Identifier: Apache-2.0
// Any bytes, read as a tf.train.Example: the columns take it if its features are whole
// and each of one kind, and what is written of these columns is read as the same values.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>

#include "io/tfrecord/example.h"
#include "io/tfrecord/feature_columns.h"

namespace xshards::io::fuzz {
namespace {

/// The schema that takes an Example, of lists; nullptr if there can be none.
std::shared_ptr<arrow::Schema> ListSchema(std::string_view example) {
  ExampleReader reader(example);
  Feature feature;
  arrow::FieldVector fields;
  std::set<std::string_view> seen;
  while (true) {
    const auto outcome = reader.Next(&feature);
    if (outcome == ExampleReader::Outcome::kEnd) return arrow::schema(std::move(fields));
    if (outcome != ExampleReader::Outcome::kFeature) return nullptr;
    if (CountValues(feature) < 0 || !seen.insert(feature.name).second) return nullptr;
    FeatureForm form{.kind = feature.kind, .is_list = true};
    if (form.kind == FeatureKind::kNone) form.kind = FeatureKind::kFloat;
    fields.push_back(arrow::field(std::string(feature.name), form.type()));
  }
}

std::shared_ptr<arrow::RecordBatch> Decode(std::string_view example,
                                           const arrow::Schema& schema, bool* is_taken) {
  FeatureColumns columns(schema, schema, /*is_strict=*/true,
                         arrow::default_memory_pool());
  *is_taken = !columns.Append(example).has_value();
  return *is_taken ? columns.Finish().ValueOrDie() : nullptr;
}

void AddColumn(const std::string& name, const arrow::ListArray& lists,
               ExampleBuilder* builder) {
  if (lists.IsNull(0)) return;
  const auto& values = *lists.values();
  switch (values.type_id()) {
    case arrow::Type::INT64:
      builder->AddInt64(name, static_cast<const arrow::Int64Array&>(values).raw_values(),
                        values.length());
      break;
    case arrow::Type::FLOAT:
      builder->AddFloats(name, static_cast<const arrow::FloatArray&>(values).raw_values(),
                         values.length());
      break;
    default: {
      std::vector<std::string_view> texts;
      const auto& binary = static_cast<const arrow::LargeBinaryArray&>(values);
      for (int64_t i = 0; i < binary.length(); ++i) texts.push_back(binary.GetView(i));
      builder->AddBytes(name, texts.data(), binary.length());
    }
  }
}

void Check(std::string_view example) {
  const auto schema = ListSchema(example);
  bool is_taken = false;
  if (schema == nullptr) {
    // Whatever is wrong with it must not take columns of no features.
    Decode(example, *arrow::schema({}), &is_taken);
    return;
  }
  const auto batch = Decode(example, *schema, &is_taken);
  if (!is_taken || !batch->ValidateFull().ok() || batch->num_rows() != 1) std::abort();
  ExampleBuilder builder;
  for (int i = 0; i < batch->num_columns(); ++i) {
    AddColumn(schema->field(i)->name(),
              static_cast<const arrow::ListArray&>(*batch->column(i)), &builder);
  }
  const std::string written(builder.Finish());
  const auto again = Decode(written, *schema, &is_taken);
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
  if (!is_taken || !again->Equals(*batch, /*check_metadata=*/false, equal)) std::abort();
}

}  // namespace
}  // namespace xshards::io::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xshards::io::fuzz::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
