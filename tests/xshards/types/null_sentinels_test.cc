// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/null_sentinels.h"

#include <cmath>
#include <limits>

#include <arrow/array.h>
#include <gtest/gtest.h>

#include "tests/support/test_data.h"

namespace xshards {
namespace {

TEST(NullValues, AreTheMissingValuesOfNumpy) {
  const auto schema = arrow::schema(
      {arrow::field("f", arrow::float32()), arrow::field("d", arrow::float64()),
       arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND)),
       arrow::field("i", arrow::int64()), arrow::field("s", arrow::utf8()),
       arrow::field("z", arrow::null())});
  const char* text = R"([{"f": 1, "d": 2, "t": 3, "i": 4, "s": "five"}, {},
                         {"f": -1, "d": -2, "t": -3, "i": -4, "s": ""}, {}])";
  const auto expected = testing::Batch(schema, text);
  const auto batch = testing::Batch(schema, text);
  WriteNullValues(*batch);
  EXPECT_TRUE(batch->Equals(*expected)) << batch->ToString();
  const auto values = [&](int column) { return batch->column_data(column); };
  for (const int64_t row : {1, 3}) {
    EXPECT_TRUE(std::isnan(values(0)->GetValues<float>(1)[row]));
    EXPECT_TRUE(std::isnan(values(1)->GetValues<double>(1)[row]));
    EXPECT_EQ(values(2)->GetValues<int64_t>(1)[row], std::numeric_limits<int64_t>::min());
  }
}

TEST(NullValues, AreWrittenOnlyWithinASlice) {
  const auto schema = arrow::schema({arrow::field("d", arrow::float64())});
  const auto batch = testing::Batch(schema, R"([{}, {"d": 1}, {}])");
  auto* values =
      reinterpret_cast<double*>(batch->column_data(0)->buffers[1]->mutable_data());
  values[0] = values[2] = 7;
  WriteNullValues(*batch->Slice(1));
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], 1);
  EXPECT_TRUE(std::isnan(values[2]));
}

}  // namespace
}  // namespace xshards
