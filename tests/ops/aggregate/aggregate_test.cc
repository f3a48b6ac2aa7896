// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "tests/ops/aggregate/aggregate_fixture.h"
#include "xshards/plan/aggregate_functions.h"

namespace xshards::ops {
namespace {

using arrow::int64;

/// Every function there is over a column, by every name, and named by it.
std::vector<Aggregate> All(const std::string& column) {
  std::vector<Aggregate> aggregates = {{"quantile(0.9)", column, "quantile(0.9)"}};
  for (const auto& function : AggregateFunctions()) {
    std::vector<std::string_view> names = function.aliases;
    names.push_back(function.name);
    for (const auto name : names) {
      aggregates.push_back({std::string(name), column, std::string(name)});
    }
  }
  return aggregates;
}

TEST_F(AggregateTest, KeepsMissingKeysAsOneGroupInOrderOfAppearance) {
  const auto batch = Batch({{"k", arrow::float64(), "[2, NaN, -0.0, null, 2, 0.0]"},
                            {"v", int64(), "[1, 2, 3, 4, 5, 6]"}});
  const auto out = Both({.keys = {"k"}, .aggregates = {{"sum", "v", "s"}}}, batch);
  ASSERT_EQ(out->num_rows(), 3);
  ExpectArray(out->column(1), Json(int64(), "[6, 6, 9]"));
  EXPECT_EQ(out->schema()->field_names(), (std::vector<std::string>{"k", "s"}));
}

TEST_F(AggregateTest, TakesAColumnNamedStarForAColumn) {
  const auto batch = Batch({{"k", arrow::large_utf8(), R"(["a", "b", "a"])"},
                            {"*", arrow::float64(), "[1, null, 4]"}});
  const auto out = Both({.keys = {"k"},
                         .aggregates = {{"count", kAllRows, "rows"},
                                        {"count", "*", "values"},
                                        {"sum", "*", "sum"}}},
                        batch);
  ExpectBatch(out, Batch({{"k", arrow::large_utf8(), R"(["a", "b"])"},
                          {"rows", int64(), "[2, 1]"},
                          {"values", int64(), "[2, 0]"},
                          {"sum", arrow::float64(), "[5, 0]"}}));
}

TEST_F(AggregateTest, CountsRowsAndValues) {
  const auto batch = Batch({{"k", arrow::large_utf8(), R"(["a", "b", "a", "a"])"},
                            {"v", arrow::float32(), "[1, null, NaN, 4]"}});
  const auto out =
      Both({.keys = {"k"},
            .aggregates = {{"count", kAllRows, "rows"}, {"count", "v", "values"}}},
           batch);
  ExpectBatch(out, Batch({{"k", arrow::large_utf8(), R"(["a", "b"])"},
                          {"rows", int64(), "[3, 1]"},
                          {"values", int64(), "[2, 0]"}}));
}

TEST_F(AggregateTest, GivesDistinctKeysWithoutAggregates) {
  const auto batch = Batch({{"a", arrow::int8(), "[1, 1, 2, null, null]"},
                            {"b", arrow::utf8(), R"(["x", "x", "x", null, null])"}});
  ExpectBatch(Both({.keys = {"b", "a"}}, batch),
              Batch({{"b", arrow::utf8(), R"(["x", "x", null])"},
                     {"a", arrow::int8(), "[1, 2, null]"}}));
}

TEST_F(AggregateTest, GlobalAggregateOfNoRowsGivesOneRow) {
  const auto batch = Batch({{"v", int64(), "[3, null, 4]"}});
  const AggregateNode node{.aggregates = {{"sum", "v", "s"}, {"mean", "v", "m"}}};
  ExpectBatch(Both(node, batch),
              Batch({{"s", int64(), "[7]"}, {"m", arrow::float64(), "[3.5]"}}));
  ExpectBatch(Both(node, batch->Slice(0, 0)),
              Batch({{"s", int64(), "[0]"}, {"m", arrow::float64(), "[null]"}}));
}

TEST_F(AggregateTest, OneGroupAddsUpAsSeveralDo) {
  std::mt19937 random(11);
  std::vector<int64_t> keys;
  std::vector<int64_t> integers;
  std::vector<double> floats;
  std::vector<bool> there;
  for (int i = 0; i < 5000; ++i) {
    keys.push_back(0);
    integers.push_back(2 * static_cast<int64_t>(random() % 1000) - 999);  // never 0
    floats.push_back(std::ldexp(static_cast<double>(random() % 1000), i % 3 * 20) - 7);
    there.push_back(i > 3000 || random() % 3 != 0);  // short runs, then a long one
  }
  const auto one = Batch({{"k", Column(keys)},
                          {"i", Column(integers, there)},
                          {"f", Column(floats, there)}});
  keys[0] = 1;  // a group of its own, from the first batch on
  const auto several = Batch({{"k", Column(keys)},
                              {"i", Column(integers, there)},
                              {"f", Column(floats, there)}});
  AggregateNode node{.aggregates = {{"prod", "i", "prodi"}}};
  for (const char* function : {"sum", "mean", "stddev", "var_pop", "skew", "kurt"}) {
    for (const char* column : {"i", "f"}) {
      node.aggregates.push_back({function, column, std::string(function) + column});
    }
  }
  const auto found = Get(RunToBatch(node, {Cut(one->Slice(1), 1250)}));
  node.keys = {"k"};
  const auto expected = Get(RunToBatch(node, {Cut(several, 1250)}));
  ASSERT_EQ(expected->num_rows(), 2);
  for (const auto& aggregate : node.aggregates) {
    const auto number = [&](const auto& batch) {
      const auto scalar =
          Get(batch->GetColumnByName(aggregate.output)->GetScalar(batch->num_rows() - 1));
      return Get(scalar->CastTo(arrow::float64()));
    };
    const auto value = [&](const auto& batch) {
      return static_cast<const arrow::DoubleScalar&>(*number(batch)).value;
    };
    EXPECT_NEAR(value(found), value(expected), 1e-10 * std::abs(value(expected)))
        << aggregate.output;
  }
}

TEST_F(AggregateTest, GivesNoGroupsOfNoRows) {
  const auto batch = Batch({{"k", int64(), "[]"}, {"v", arrow::float32(), "[]"}});
  const auto out = Both({.keys = {"k"}, .aggregates = All("v")}, batch);
  EXPECT_EQ(out->num_rows(), 0);
  EXPECT_EQ(out->num_columns(), 1 + std::ssize(All("v")));
}

TEST_F(AggregateTest, GivesTheTypesOfPandas) {
  const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::vector<std::string>>>
      cases = {{arrow::int8(), {"int64", "double", "int8"}},
               {arrow::uint16(), {"uint64", "double", "uint16"}},
               {arrow::boolean(), {"int64", "double", "bool"}},
               {arrow::float32(), {"float", "double", "float"}},
               {arrow::float64(), {"double", "double", "double"}},
               {arrow::null(), {"double", "double", "null"}}};
  for (const auto& [type, expected] : cases) {
    const auto values = Get(arrow::MakeArrayOfNull(type, 2));
    const auto out = Both({.keys = {"k"}, .aggregates = All("v")},
                          Batch({{"k", Json(int64(), "[1, 1]")}, {"v", values}}));
    const auto type_of = [&](const char* name) {
      return out->GetColumnByName(name)->type()->ToString();
    };
    EXPECT_EQ(type_of("sum"), expected[0]);
    EXPECT_EQ(type_of("mean"), expected[1]);
    // Of float32, pandas gives the mean as float64 but not the deviation.
    EXPECT_EQ(type_of("stddev"),
              type->id() == arrow::Type::FLOAT ? "float" : expected[1]);
    EXPECT_EQ(type_of("min"), expected[2]);
    EXPECT_EQ(type_of("last"), expected[2]);
    EXPECT_EQ(type_of("nunique"), "int64");
    // All values are missing: their sum is 0, their count too, nothing else is there.
    EXPECT_EQ(Get(out->GetColumnByName("sum")->GetScalar(0))->ToString(), "0");
    EXPECT_EQ(Get(out->GetColumnByName("nunique")->GetScalar(0))->ToString(), "0");
    for (const char* name :
         {"mean", "min", "max", "first", "last", "variance", "var_pop"}) {
      EXPECT_EQ(out->GetColumnByName(name)->null_count(), 1) << name;
    }
  }
}

TEST_F(AggregateTest, PicksExtremesOfAnyOrderedType) {
  const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::string>> cases = {
      {arrow::large_utf8(), R"(["b", "ab", null, "é", ""])"},
      {arrow::utf8(), R"(["b", "ab", null, "é", ""])"},
      {arrow::binary(), R"(["b", "ab", null, "z", ""])"},
      {arrow::boolean(), "[true, true, null, true, false]"},
      {arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), "[5, 4, null, 9, -1]"},
      {arrow::date32(), "[5, 4, null, 9, -1]"},
      {arrow::uint64(), "[5, 4, null, 18446744073709551615, 0]"},
      {arrow::decimal128(10, 2), R"(["5.00", "4.00", null, "9.10", "-1.00"])"}};
  for (const auto& [type, json] : cases) {
    const auto values = Json(type, json);
    const auto out = Both({.aggregates = {{"min", "v", "min"}, {"max", "v", "max"}}},
                          Batch({{"v", values}}));
    ExpectArray(out->column(0), values->Slice(4, 1));
    const bool is_bool = type->id() == arrow::Type::BOOL;
    ExpectArray(out->column(1), values->Slice(is_bool ? 0 : 3, 1));
  }
}

TEST_F(AggregateTest, AddsDecimalsExactly) {
  const auto batch = Batch({{"k", Json(int64(), "[1, 2, 1, 2, 3]")},
                            {"v", Json(arrow::decimal128(5, 2),
                                       R"(["999.99", "-0.01", "0.02", null, null])")}});
  const auto out = Both({.keys = {"k"}, .aggregates = {{"sum", "v", "s"}}}, batch);
  ExpectArray(out->column(1),
              Json(arrow::decimal128(38, 2), R"(["1000.01", "-0.01", "0.00"])"));
}

TEST_F(AggregateTest, RefusesSumsOfTooManyDigits) {
  const std::string nines(38, '9');
  const auto batch = Batch(
      {{"v", Json(arrow::decimal128(38, 0), "[\"" + nines + "\", \"" + nines + "\"]")}});
  const auto out =
      RunToBatch(AggregateNode{.aggregates = {{"sum", "v", "s"}}}, {{batch}});
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.status().message().find("more than 38 digits"), std::string::npos);
}

TEST_F(AggregateTest, PicksFirstAndLastOfAnyType) {
  const auto values = Json(arrow::list(arrow::int64()), "[null, [1], [2, 3], null, []]");
  const auto batch = Batch({{"k", Json(int64(), "[1, 2, 1, 1, 2]")}, {"v", values}});
  const auto out = Both(
      {.keys = {"k"}, .aggregates = {{"first", "v", "f"}, {"last", "v", "l"}}}, batch);
  ExpectArray(out->column(1), Json(arrow::list(arrow::int64()), "[[2, 3], [1]]"));
  ExpectArray(out->column(2), Json(arrow::list(arrow::int64()), "[[2, 3], []]"));
}

TEST_F(AggregateTest, TreatsDictionariesAsTheirValues) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  const auto batch = Batch(
      {{"k", type, R"(["x", "y", "x", null])"}, {"v", type, R"(["b", "q", "a", "c"])"}});
  const auto out = Get(RunInTwoPhases(
      {.keys = {"k"}, .aggregates = {{"min", "v", "min"}, {"nunique", "v", "n"}}},
      {batch, batch}));
  ExpectArray(out->column(1), Json(arrow::large_utf8(), R"(["a", "q", "c"])"));
  ExpectArray(out->column(2), Json(int64(), "[2, 1, 1]"));
}

TEST_F(AggregateTest, WrapsIntegerSumsAround) {
  const auto batch = Batch({{"v", int64(), "[9223372036854775807, 2]"}});
  ExpectArray(Both({.aggregates = {{"sum", "v", "s"}}}, batch)->column(0),
              Json(int64(), "[-9223372036854775807]"));
}

TEST_F(AggregateTest, MultipliesValues) {
  const auto node = AggregateNode{.keys = {"k"}, .aggregates = {{"prod", "v", "p"}}};
  const std::vector<
      std::tuple<std::shared_ptr<arrow::DataType>, std::string, std::string>>
      cases = {{int64(), "[3, null, -7, 4294967296, 4294967297, null]",
                "[-21, 4294967296, 1]"},
               {arrow::uint64(), "[3, null, 7, 4294967296, 4294967297, null]",
                "[21, 4294967296, 1]"},
               {arrow::float64(), "[1.5, NaN, -4, 1e200, 1e200, null]", "[-6, Inf, 1]"}};
  for (const auto& [type, values, products] : cases) {
    const auto out =
        Both(node, Batch({{"k", int64(), "[1, 1, 1, 2, 2, 3]"}, {"v", type, values}}));
    ExpectArray(out->column(1), Json(type, products));
  }
  const auto flags = Batch({{"k", int64(), "[1, 1, 2, 2]"},
                            {"v", arrow::boolean(), "[true, false, true, null]"}});
  ExpectArray(Both(node, flags)->column(1), Json(int64(), "[0, 1]"));
}

TEST_F(AggregateTest, KeepsTheVarianceOfLargeCloseNumbers) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(1e9 + i % 2);
  const auto out = Get(RunInTwoPhases({.aggregates = {{"var_pop", "v", "v"}}},
                                      Cut(Batch({{"v", Column(values)}}), 99)));
  EXPECT_NEAR(static_cast<const arrow::DoubleArray&>(*out->column(0)).Value(0), 0.25,
              1e-9);
}

TEST_F(AggregateTest, ComputesSkewAndKurtosis) {
  // Of 1, 1, 1, 1, 6: the mean is 2; sums of powers of distances 20, 60, 260.
  const auto batch = Batch({{"k", int64(), "[1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]"},
                            {"v", int64(), "[1, 1, 6, 1, 1, 4, 4, 4, 4, 1, 2, null]"}});
  const AggregateNode node{.keys = {"k"},
                           .aggregates = {{"skewness", "v", "a"},
                                          {"kurtosis", "v", "b"},
                                          {"skew", "v", "c"},
                                          {"kurt", "v", "d"}}};
  for (const auto& out : {Get(RunToBatch(node, {Cut(batch, 3)})),
                          Get(RunInTwoPhases(node, Cut(batch, 2)))}) {
    const std::vector<double> expected = {1.5, 0.25, std::sqrt(5.0), 5};
    for (int i = 0; i < 4; ++i) {
      const auto& found = static_cast<const arrow::DoubleArray&>(*out->column(i + 1));
      EXPECT_NEAR(found.Value(0), expected[static_cast<size_t>(i)], 1e-12) << i;
      // Equal values have no shape; two are too few for a sample.
      EXPECT_TRUE(found.IsNull(1)) << i;
      EXPECT_EQ(found.IsNull(2), i >= 2) << i;
    }
  }
}

TEST_F(AggregateTest, AgreesWithALoopOverRandomGroups) {
  std::mt19937 random(41);
  struct Group {
    std::vector<double> values;  // not missing, in order
    int64_t rows = 0;
  };
  std::map<std::optional<int64_t>, Group> groups;
  std::vector<std::optional<int64_t>> order;
  std::vector<int32_t> keys;
  std::vector<bool> key_valid;
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) {
    std::optional<int64_t> key;
    if (random() % 50 != 0) key = static_cast<int64_t>(random() % 700) - 350;
    const bool missing = random() % 6 == 0;
    const double value = static_cast<double>(random() % 2001) / 8 - 125;
    keys.push_back(static_cast<int32_t>(key.value_or(0)));
    key_valid.push_back(key.has_value());
    values.push_back(missing ? std::nan("") : value);
    if (!groups.contains(key)) order.push_back(key);
    ++groups[key].rows;
    if (!missing) groups[key].values.push_back(value);
  }
  const auto batch = Batch({{"k", Column(keys, key_valid)}, {"v", Column(values)}});
  AggregateNode node{.keys = {"k"}, .aggregates = All("v")};
  node.aggregates.push_back({"count", kAllRows, "rows"});

  // A tiny batch size makes the partial phase give its groups out again and again.
  for (int64_t batch_bytes : {int64_t{1} << 22, int64_t{512}}) {
    context_.batch_bytes = batch_bytes;
    for (const auto& out : {Get(RunToBatch(node, {Cut(batch, 777)})),
                            Get(RunInTwoPhases(node, Cut(batch, 3333)))}) {
      ASSERT_EQ(out->num_rows(), static_cast<int64_t>(order.size()));
      for (size_t i = 0; i < order.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        const auto& key = static_cast<const arrow::Int32Array&>(*out->column(0));
        ASSERT_EQ(key.IsValid(row), order[i].has_value());
        if (order[i]) {
          ASSERT_EQ(key.Value(row), *order[i]);
        }
        const Group& group = groups[order[i]];
        const auto n = static_cast<double>(group.values.size());
        double sum = 0;
        for (double value : group.values) sum += value;
        double m2 = 0;
        for (double value : group.values) m2 += (value - sum / n) * (value - sum / n);
        const auto real = [&](const char* name) {
          return static_cast<const arrow::DoubleArray&>(*out->GetColumnByName(name))
              .Value(row);
        };
        const auto integer = [&](const char* name) {
          return static_cast<const arrow::Int64Array&>(*out->GetColumnByName(name))
              .Value(row);
        };
        EXPECT_DOUBLE_EQ(real("sum"), sum);
        EXPECT_DOUBLE_EQ(real("mean"), sum / n);
        EXPECT_DOUBLE_EQ(real("avg"), sum / n);
        EXPECT_EQ(real("min"),
                  *std::min_element(group.values.begin(), group.values.end()));
        EXPECT_EQ(real("max"),
                  *std::max_element(group.values.begin(), group.values.end()));
        EXPECT_EQ(real("first"), group.values.front());
        EXPECT_EQ(real("last"), group.values.back());
        EXPECT_NEAR(real("variance"), m2 / (n - 1), 1e-7);
        EXPECT_NEAR(real("var_pop"), m2 / n, 1e-7);
        EXPECT_NEAR(real("stddev"), std::sqrt(m2 / (n - 1)), 1e-7);
        EXPECT_NEAR(real("stddev_pop"), std::sqrt(m2 / n), 1e-7);
        EXPECT_EQ(integer("count"), static_cast<int64_t>(group.values.size()));
        EXPECT_EQ(integer("rows"), group.rows);
        EXPECT_EQ(integer("nunique"),
                  static_cast<int64_t>(
                      std::set<double>(group.values.begin(), group.values.end()).size()));
      }
    }
  }
}

TEST_F(AggregateTest, HasNoSampleVarianceOfOneValue) {
  const auto batch = Batch({{"v", int64(), "[7]"}});
  ExpectBatch(
      Both({.aggregates = {{"stddev", "v", "s"}, {"stddev_pop", "v", "p"}}}, batch),
      Batch({{"s", arrow::float64(), "[null]"}, {"p", arrow::float64(), "[0]"}}));
}

TEST_F(AggregateTest, ReleasesItsMemory) {
  const int64_t before = budget_.used();
  {
    const auto batch = Batch({{"k", arrow::large_utf8(), R"(["a", "b"])"}});
    const auto stream = Get(Open(AggregateNode{.keys = {"k"}}, {{batch}}));
    ASSERT_OK(stream->Next());
  }
  EXPECT_EQ(budget_.used(), before);
}

TEST_F(AggregateTest, RejectsInvalidPlans) {
  const auto batch = Batch({{"k", arrow::large_utf8(), R"(["a"])"}});
  EXPECT_FAILS(KeyError, "nope", Open(AggregateNode{.keys = {"nope"}}, {{batch}}));
  EXPECT_FAILS(KeyError, "nope",
               Open(AggregateNode{.aggregates = {{"sum", "nope", "s"}}}, {{batch}}));
  EXPECT_FAILS(TypeError, "'k'",
               Open(AggregateNode{.aggregates = {{"sum", "k", "s"}}}, {{batch}}));
  EXPECT_FAILS(Invalid, "mode",
               Open(AggregateNode{.aggregates = {{"mode", "k", "s"}}}, {{batch}}));
  EXPECT_FAILS(TypeError, "median of column 'k'",
               Open(AggregateNode{.aggregates = {{"median", "k", "s"}}}, {{batch}}));
  EXPECT_FAILS(
      Invalid, "between 0 and 1",
      Open(AggregateNode{.aggregates = {{"quantile(1.5)", "k", "s"}}}, {{batch}}));
  EXPECT_FAILS(Invalid, "partial states",
               Open(AggregateNode{.aggregates = {{"min", "k", "s"}},
                                  .phase = AggregatePhase::kFinal},
                    {{batch}}));
}

TEST_F(AggregateTest, AcceptsASchemaFoundAtRunTime) {
  const auto batch = Batch({{"k", int64(), "[1, 1]"}});
  const auto stream = Get(OpenLate(
      AggregateNode{.keys = {"k"}, .aggregates = {{"count", kAllRows, "n"}}}, {{batch}}));
  EXPECT_EQ(stream->schema(), nullptr);
  ExpectBatch(Get(ReadAll(*stream)).at(0),
              Batch({{"k", int64(), "[1]"}, {"n", int64(), "[2]"}}));
}

}  // namespace
}  // namespace xshards::ops
