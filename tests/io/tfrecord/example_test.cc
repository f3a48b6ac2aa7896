// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/example.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "io/tfrecord/feature_columns.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using Outcome = ExampleReader::Outcome;

std::vector<int64_t> Int64Values(std::string_view list) {
  std::vector<int64_t> values;
  EXPECT_TRUE(ForEachInt64(list, [&](int64_t value) { values.push_back(value); }));
  return values;
}

TEST(Example, RoundTrips) {
  constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> integers = {0, -1, 127, 128, kSmallest};
  const std::vector<float> floats = {0.5F, -2.0F};
  const std::vector<std::string_view> texts = {"", "text"};
  ExampleBuilder builder;
  builder.AddInt64("i", integers.data(), 5);
  builder.AddFloats("f", floats.data(), 2);
  builder.AddBytes("", texts.data(), 2);
  builder.AddInt64("none", nullptr, 0);
  const std::string bytes(builder.Finish());

  ExampleReader reader(bytes);
  Feature feature;
  ASSERT_EQ(reader.Next(&feature), Outcome::kFeature);
  EXPECT_EQ(feature.name, "i");
  EXPECT_EQ(feature.kind, FeatureKind::kInt64);
  EXPECT_THAT(Int64Values(feature.list), ElementsAre(0, -1, 127, 128, kSmallest));
  ASSERT_EQ(reader.Next(&feature), Outcome::kFeature);
  EXPECT_EQ(feature.kind, FeatureKind::kFloat);
  EXPECT_EQ(CountValues(feature), 2);
  ASSERT_EQ(reader.Next(&feature), Outcome::kFeature);
  EXPECT_EQ(feature.name, "");
  EXPECT_EQ(CountValues(feature), 2);
  ASSERT_EQ(reader.Next(&feature), Outcome::kFeature);
  EXPECT_EQ(feature.kind, FeatureKind::kInt64);
  EXPECT_EQ(CountValues(feature), 0);
  EXPECT_EQ(reader.Next(&feature), Outcome::kEnd);
}

TEST(Example, ReadsNumbersThatAreNotPacked) {
  EXPECT_THAT(Int64Values({"\x08\x05\x08\x07", 4}), ElementsAre(5, 7));
  int count = 0;
  const std::string_view one("\x0d\x00\x00\x80\x3f", 5);
  EXPECT_TRUE(ForEachFloats(one, [&](std::string_view) { ++count; }));
  EXPECT_EQ(count, 1);
}

TEST(FeatureColumn, RefusesMoreValuesThanListsCanCount) {
  const std::vector<int64_t> integers = {1, 2, 3};
  const std::vector<float> floats = {1, 2, 3};
  const std::vector<std::string_view> texts = {"a", "", "c"};
  ExampleBuilder builder;
  builder.AddInt64("i", integers.data(), 3);
  builder.AddFloats("f", floats.data(), 3);
  builder.AddBytes("b", texts.data(), 3);
  const std::string bytes(builder.Finish());
  ExampleReader reader(bytes);
  Feature feature;
  while (reader.Next(&feature) == Outcome::kFeature) {
    for (const int64_t max_values : {3, 5, 6}) {
      FeatureColumn column({.kind = feature.kind, .is_list = true},
                           arrow::default_memory_pool(), max_values);
      ASSERT_EQ(column.Append(feature), FeatureColumn::Outcome::kOk);
      EXPECT_EQ(column.Append(feature), max_values == 6
                                            ? FeatureColumn::Outcome::kOk
                                            : FeatureColumn::Outcome::kTooManyValues)
          << max_values;
    }
  }
}

TEST(Example, PrefixesAreReadOrRejectedWithinBounds) {
  const std::vector<int64_t> integers = {1, 300};
  const std::vector<std::string_view> texts = {"some text"};
  ExampleBuilder builder;
  builder.AddInt64("a", integers.data(), 2);
  builder.AddBytes("b", texts.data(), 1);
  const std::string bytes(builder.Finish());
  for (size_t size = 1; size < bytes.size(); ++size) {
    // A copy of exact size, so that the address sanitizer detects reads past it.
    const std::vector<char> prefix(bytes.begin(),
                                   bytes.begin() + static_cast<int64_t>(size));
    ExampleReader reader({prefix.data(), prefix.size()});
    Feature feature;
    EXPECT_EQ(reader.Next(&feature), Outcome::kDamaged) << size;
  }
}

TEST(Example, NumbersThatEndTooEarlyAreDamaged) {
  Feature feature{.name = "x", .kind = FeatureKind::kInt64, .list = {"\x0a\x01\x80", 3}};
  EXPECT_EQ(CountValues(feature), -1);
  feature = {.name = "x", .kind = FeatureKind::kFloat, .list = {"\x0a\x02xx", 4}};
  EXPECT_EQ(CountValues(feature), -1);
}

TEST(FeatureForm, FollowsTheTypeOfAColumn) {
  EXPECT_EQ(FormFor(*arrow::int8())->kind, FeatureKind::kInt64);
  EXPECT_EQ(FormFor(*arrow::boolean())->kind, FeatureKind::kInt64);
  EXPECT_EQ(FormFor(*arrow::float64())->kind, FeatureKind::kFloat);
  EXPECT_EQ(FormFor(*arrow::large_utf8())->kind, FeatureKind::kBytes);
  EXPECT_TRUE(FormFor(*arrow::large_list(arrow::utf8()))->is_list);
  EXPECT_TRUE(FormFor(*arrow::fixed_size_list(arrow::float32(), 3))->is_list);
  EXPECT_EQ(FormFor(*arrow::date32()), std::nullopt);
  EXPECT_EQ(FormFor(*arrow::list(arrow::list(arrow::int64()))), std::nullopt);
}

TEST(FeatureColumns, ARowThatFailsLeavesTheRowsBeforeIt) {
  const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
  FeatureColumns columns(*schema, *schema, /*is_strict=*/true,
                         arrow::default_memory_pool());
  const std::vector<int64_t> one = {7};
  ExampleBuilder builder;
  builder.AddInt64("a", one.data(), 1);
  EXPECT_EQ(columns.Append(builder.Finish()), std::nullopt);
  builder.AddInt64("other", one.data(), 1);
  const auto fault = columns.Append(builder.Finish());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FeatureColumns::Fault::kUnknown);
  EXPECT_EQ(fault->feature, "other");
  EXPECT_EQ(columns.num_rows(), 1);
}

}  // namespace
}  // namespace xshards::io
