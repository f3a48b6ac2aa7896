// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/accumulator.h"

#include <limits>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Accumulators : public OperatorTest {
 protected:
  std::unique_ptr<Accumulator> Make(const std::string& function,
                                    const std::shared_ptr<arrow::DataType>& input,
                                    const std::shared_ptr<arrow::DataType>& output,
                                    bool gives_states = false) {
    return Get(MakeAccumulator({.function = function,
                                .input_type = input,
                                .output_type = output,
                                .categories = nullptr,
                                .gives_states = gives_states,
                                .pool = context_.pool}));
  }

  /// The result over the values as a whole, and over parts whose states are merged.
  std::shared_ptr<arrow::Array> Both(const std::string& function,
                                     const std::shared_ptr<arrow::Array>& values,
                                     const std::vector<uint32_t>& groups,
                                     const std::shared_ptr<arrow::DataType>& output) {
    const size_t num_groups = 3;
    auto whole = Make(function, values->type(), output);
    whole->Resize(num_groups);
    Check(whole->Consume(values, groups));
    auto merged = Make(function, values->type(), output);
    merged->Resize(num_groups);
    for (int64_t i = 0; i < values->length(); ++i) {
      auto part = Make(function, values->type(), output, /*gives_states=*/true);
      part->Resize(1);
      Check(part->Consume(values->Slice(i, 1), {0}));
      Check(merged->Merge(Get(part->States()), {groups[static_cast<size_t>(i)]}));
    }
    auto result = Get(whole->Finish());
    ExpectArray(Get(merged->Finish()), result);
    return result;
  }
};

TEST_F(Accumulators, SkipMissingValues) {
  const auto values = Json(arrow::int64(), "[5, null, 3, null]");
  const std::vector<uint32_t> groups = {0, 0, 0, 1};
  const auto expect = [&](const std::string& function, const std::string& json,
                          const std::shared_ptr<arrow::DataType>& type) {
    ExpectArray(Both(function, values, groups, type), Json(type, json));
  };
  expect("sum", "[8, 0, 0]", arrow::int64());
  expect("count", "[2, 0, 0]", arrow::int64());
  expect("mean", "[4, null, null]", arrow::float64());
  expect("min", "[3, null, null]", arrow::int64());
  expect("max", "[5, null, null]", arrow::int64());
  expect("variance", "[2, null, null]", arrow::float64());
  expect("var_pop", "[1, null, null]", arrow::float64());
  expect("first", "[5, null, null]", arrow::int64());
  expect("last", "[3, null, null]", arrow::int64());
  expect("nunique", "[2, 0, 0]", arrow::int64());
  expect("sum_distinct", "[8, 0, 0]", arrow::int64());
  expect("collect_list", "[[5, 3], [], []]", arrow::large_list(arrow::int64()));
  expect("collect_set", "[[5, 3], [], []]", arrow::large_list(arrow::int64()));
}

TEST_F(Accumulators, CountAndSumEachDistinctValueOfAGroupOnce) {
  const auto values = Json(arrow::int32(), "[5, 5, 3, null, 5, 3, 7]");
  const std::vector<uint32_t> groups = {0, 2, 0, 0, 0, 2, 2};
  const auto expect = [&](const std::string& function, const std::string& json,
                          const std::shared_ptr<arrow::DataType>& type) {
    ExpectArray(Both(function, values, groups, type), Json(type, json));
  };
  const auto lists = arrow::large_list(arrow::int32());
  expect("nunique", "[2, 0, 3]", arrow::int64());
  expect("sum_distinct", "[8, 0, 15]", arrow::int64());
  expect("collect_set", "[[5, 3], [], [5, 3, 7]]", lists);
  expect("collect_list", "[[5, 3, 5], [], [5, 3, 7]]", lists);
}

TEST_F(Accumulators, QuantilesInterpolateLinearly) {
  const auto values = Json(arrow::int32(), "[10, 5, 3, null, 4, 3, 7]");
  const std::vector<uint32_t> groups = {0, 0, 0, 0, 0, 2, 2};
  const auto expect = [&](const std::string& function, const std::string& json) {
    ExpectArray(Both(function, values, groups, arrow::float64()),
                Json(arrow::float64(), json));
  };
  expect("median", "[4.5, null, 5]");
  expect("quantile", "[4.5, null, 5]");
  expect("quantile(0)", "[3, null, 3]");
  expect("quantile(1)", "[10, null, 7]");
  expect("quantile(0.25)", "[3.75, null, 4]");
  for (const char* wrong : {"quantile(2)", "quantile(-1)", "quantile()", "quantile(x)",
                            "quantile(0.5x)", "quantile(nan)"}) {
    EXPECT_FAILS(Invalid, "Expected a quantile between 0 and 1",
                 MakeAccumulator({.function = wrong,
                                  .input_type = arrow::int64(),
                                  .output_type = arrow::float64(),
                                  .categories = nullptr,
                                  .pool = context_.pool}));
  }
}

TEST_F(Accumulators, FirstAndLastValueKeepNulls) {
  const auto values = Strings({"", "b", "c", ""}, {false, true, true, false});
  const auto& type = arrow::large_utf8();
  ExpectArray(Both("first_value", values, {0, 0, 1, 1}, type),
              Strings({"", "c", ""}, {false, true, false}));
  ExpectArray(Both("last_value", values, {0, 0, 1, 1}, type),
              Strings({"b", "", ""}, {true, false, false}));
}

TEST_F(Accumulators, SumsWrapAroundAsNumpyDoes) {
  const auto values = Json(arrow::uint64(), "[18446744073709551615, 2]");
  ExpectArray(Both("sum", values, {0, 0}, arrow::uint64()),
              Json(arrow::uint64(), "[1, 0, 0]"));
}

TEST_F(Accumulators, FloatSumsAreCompensated) {
  // Added up plainly, each 1 is lost.
  const auto values = Json(arrow::float64(), "[1e16, 1, 1, 1, 1, -1e16, 0.5]");
  const std::vector<uint32_t> groups(7, 0);
  ExpectArray(Both("sum", values, groups, arrow::float64()),
              Json(arrow::float64(), "[4.5, 0, 0]"));
  const auto six = values->Slice(0, 6);
  ExpectArray(Both("mean", six, {0, 0, 0, 0, 0, 0}, arrow::float64()),
              Json(arrow::float64(), "[0.6666666666666666, null, null]"));
}

TEST_F(Accumulators, InfiniteSumsStayInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto values = Column<double>({1, infinity, 2, 1, -infinity, 1.5e308, 1.5e308});
  const std::vector<uint32_t> groups = {0, 0, 0, 1, 1, 2, 2};
  for (const char* function : {"sum", "mean"}) {
    ExpectArray(Both(function, values, groups, arrow::float64()),
                Column<double>({infinity, -infinity, infinity}));
  }
}

TEST_F(Accumulators, MeansOfIntegersAreOfExactSums) {
  const auto values = Json(arrow::int64(),
                           "[9223372036854775807, 9223372036854775807, 3, "
                           "-9223372036854775807, -9223372036854775807, 1]");
  ExpectArray(Both("mean", values, {0, 0, 1, 0, 0, 1}, arrow::float64()),
              Json(arrow::float64(), "[0, 2, null]"));
  const auto large = Json(arrow::uint64(), "[18446744073709551615, 1, 7]");
  ExpectArray(Both("mean", large, {0, 0, 2}, arrow::float64()),
              Json(arrow::float64(), "[9223372036854775808, null, 7]"));
}

TEST_F(Accumulators, DecimalsAddUpExactly) {
  const auto type = arrow::decimal128(5, 1);
  const auto values = Json(type, R"(["0.1", "0.2", null, "-0.3", "-0.2", null])");
  const std::vector<uint32_t> groups = {0, 0, 0, 1, 1, 2};
  const auto expect = [&](const std::string& function, const std::string& json,
                          const std::shared_ptr<arrow::DataType>& result) {
    ExpectArray(Both(function, values, groups, result), Json(result, json));
  };
  expect("sum", R"(["0.3", "-0.5", "0.0"])", arrow::decimal128(38, 1));
  // Half away from zero.
  expect("mean", R"(["0.2", "-0.3", null])", type);
  expect("mean", "[0.15, -0.25, null]", arrow::float64());
  expect("median", "[0.15000000000000002, -0.25, null]", arrow::float64());
}

TEST_F(Accumulators, RejectsSumsOfTooManyDigits) {
  const auto type = arrow::decimal128(38, 0);
  const std::string nines(38, '9');
  const auto values = Json(type, "[\"" + nines + "\", \"" + nines + "\"]");
  for (const char* function : {"sum", "mean"}) {
    auto accumulator = Make(function, type, type);
    accumulator->Resize(1);
    Check(accumulator->Consume(values, {0, 0}));
    EXPECT_FAILS(Invalid, "more than 38 digits", accumulator->Finish());
  }
}

TEST_F(Accumulators, RejectsAnUnknownFunction) {
  EXPECT_FAILS(NotImplemented, "There is no aggregate 'mode'",
               MakeAccumulator({.function = "mode",
                                .input_type = arrow::int64(),
                                .output_type = arrow::int64(),
                                .categories = nullptr,
                                .pool = context_.pool}));
  EXPECT_FAILS(NotImplemented, "There is no min of values of type",
               MakeAccumulator({.function = "min",
                                .input_type = arrow::list(arrow::int8()),
                                .output_type = arrow::list(arrow::int8()),
                                .categories = nullptr,
                                .pool = context_.pool}));
}

}  // namespace
}  // namespace xshards::ops
