// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression.h"

#include <limits>

#include <arrow/array/util.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

using testing::Array;
using testing::Batch;

const auto kSchema = arrow::schema(
    {arrow::field("i", arrow::int64()), arrow::field("f", arrow::float64()),
     arrow::field("s", arrow::large_utf8()), arrow::field("small", arrow::int32())});

/// Run the steps of a bound expression, then itself.
arrow::Result<arrow::Datum> RunBound(const BoundExpression& bound,
                                     const arrow::RecordBatch& batch) {
  arrow::compute::ExecBatch values({}, batch.num_rows());
  for (const int i : bound.columns) values.values.emplace_back(batch.column(i));
  for (const auto& step : bound.steps) {
    ARROW_ASSIGN_OR_RAISE(auto result,
                          arrow::compute::ExecuteScalarExpression(step, values));
    values.values.push_back(std::move(result));
  }
  return arrow::compute::ExecuteScalarExpression(bound.arrow, values);
}

class ExpressionTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(arrow::compute::Initialize()); }

  std::shared_ptr<arrow::Array> Evaluate(const Expression& expression) {
    auto batch = Batch(kSchema, R"([{"i": 1, "f": 0.5, "s": "a", "small": 7},
                                    {"i": null, "f": null, "s": null, "small": null},
                                    {"i": 0, "f": NaN, "s": "κ", "small": -7}])");
    auto bound = expression.Bind(*kSchema);
    EXPECT_TRUE(bound.ok()) << bound.status();
    if (!bound.ok()) return nullptr;
    auto result = RunBound(*bound, *batch);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->make_array() : nullptr;
  }

  void ExpectValues(const Expression& expression,
                    const std::shared_ptr<arrow::DataType>& type,
                    const std::string& json) {
    auto actual = Evaluate(expression);
    ASSERT_NE(actual, nullptr);
    EXPECT_TRUE(actual->Equals(Array(type, json), arrow::EqualOptions().nans_equal(true)))
        << expression.ToString() << " gave " << actual->ToString();
  }
};

TEST_F(ExpressionTest, ComparisonWithAMissingValueIsFalseAndInequalityTrue) {
  ExpectValues(col("i") == lit(1), arrow::boolean(), "[true, false, false]");
  ExpectValues(col("i") != lit(1), arrow::boolean(), "[false, true, true]");
  ExpectValues(col("f") < lit(1.0), arrow::boolean(), "[true, false, false]");
  ExpectValues(col("f") != lit(0.5), arrow::boolean(), "[false, true, true]");
  ExpectValues(!(col("i") >= lit(1)), arrow::boolean(), "[false, true, true]");
  ExpectValues(col("s") == lit("κ"), arrow::boolean(), "[false, false, true]");
}

TEST_F(ExpressionTest, DivisionOfIntegersGivesFloatsAlsoByZero) {
  ExpectValues(col("i") / lit(2), arrow::float64(), "[0.5, null, 0]");
  ExpectValues(lit(1) / col("i"), arrow::float64(), "[1, null, Inf]");
}

TEST_F(ExpressionTest, PlainNumbersTakeTheColumnsType) {
  ExpectValues(col("small") + lit(1), arrow::int32(), "[8, null, -6]");
  ExpectValues(col("small") * lit(0.5), arrow::float64(), "[3.5, null, -3.5]");
  ExpectValues(col("i") - col("small"), arrow::int64(), "[-6, null, 7]");
  ExpectValues(-col("i"), arrow::int64(), "[-1, null, 0]");
}

TEST_F(ExpressionTest, AddingTextConcatenates) {
  ExpectValues(col("s") + lit("!"), arrow::large_utf8(), R"(["a!", null, "κ!"])");
}

TEST_F(ExpressionTest, NullAndNaNAreBothMissing) {
  ExpectValues(col("f").IsNull(), arrow::boolean(), "[false, true, true]");
  ExpectValues(col("i").IsIn(Array(arrow::int64(), "[0, 5]")), arrow::boolean(),
               "[false, false, true]");
}

TEST_F(ExpressionTest, IsInDoesNotParseTextAndTakesAnEmptyList) {
  ExpectValues(col("i").IsIn(Array(arrow::large_utf8(), R"(["1"])")), arrow::boolean(),
               "[false, false, false]");
  ExpectValues(col("s").IsIn(Array(arrow::null(), "[]")), arrow::boolean(),
               "[false, false, false]");
  ExpectValues(col("s").IsIn(Array(arrow::null(), "[null]")), arrow::boolean(),
               "[false, true, false]");
}

TEST_F(ExpressionTest, IndexInGivesThePositionAmongValues) {
  const auto place = [](const char* column, const std::shared_ptr<arrow::Array>& values) {
    return Expression::Call("index_in", {col(column)},
                            std::make_shared<arrow::compute::SetLookupOptions>(values));
  };
  ExpectValues(place("i", Array(arrow::int64(), "[5, 0]")), arrow::int32(),
               "[null, null, 1]");
  ExpectValues(place("i", Array(arrow::large_utf8(), R"(["1"])")), arrow::int32(),
               "[null, null, null]");
}

TEST_F(ExpressionTest, PythonFloatTakesTypeFloat32OfAColumn) {
  auto single = col("f").Cast(arrow::float32()) * lit(0.2);
  ExpectValues(single == lit(0.1), arrow::boolean(), "[true, false, false]");
  ExpectValues(single > lit(0.1), arrow::boolean(), "[false, false, false]");
  ExpectValues(single + col("small"), arrow::float64(), "[7.100000001490116, null, NaN]");
}

TEST_F(ExpressionTest, LogicTreatsMissingAsFalse) {
  ExpectValues(col("i") == lit(1) && col("f") > lit(0.0), arrow::boolean(),
               "[true, false, false]");
  ExpectValues(col("i") == lit(0) || col("s") == lit("a"), arrow::boolean(),
               "[true, false, true]");
}

TEST_F(ExpressionTest, CastsAndCallsArrowFunctionsByName) {
  ExpectValues(col("i").Cast(arrow::float32()), arrow::float32(), "[1, null, 0]");
  ExpectValues(Expression::Call("utf8_upper", {col("s")}), arrow::large_utf8(),
               R"(["A", null, "Κ"])");
}

TEST_F(ExpressionTest, SplitsAndExtractsText) {
  const auto doubled = col("s") + lit("-") + col("s");
  const auto parts = Expression::Call("text_split", {doubled, lit("-"), lit(-1), lit(0)});
  ExpectValues(Expression::Call("list_get", {parts, lit(1)}), arrow::large_utf8(),
               R"(["a", null, "κ"])");
  ExpectValues(Expression::Call("list_get", {parts, lit(2)}), arrow::large_utf8(),
               "[null, null, null]");
  ExpectValues(Expression::Call("text_extract", {doubled, lit("(?P<x>[a-z])-")}),
               arrow::large_utf8(), R"(["a", null, null])");
  EXPECT_FAILS(TypeError, "list_get needs lists, got int64",
               Expression::Call("list_get", {col("i"), lit(0)}).Bind(*kSchema));
  EXPECT_FAILS(TypeError, "text_split needs text, got int64",
               Expression::Call("text_split", {col("i"), lit("-"), lit(-1), lit(0)})
                   .Bind(*kSchema));
}

TEST_F(ExpressionTest, NamesUnknownColumnsAndListsAllColumns) {
  EXPECT_FAILS(KeyError, "There is no column 'nope'; there are: i, f, s, small",
               (col("nope") > lit(1)).Bind(*kSchema));
}

TEST_F(ExpressionTest, NamesAnUnsupportedOperation) {
  EXPECT_FAILS(TypeError, "Cannot compute", (col("s") * lit(2)).Bind(*kSchema));
  EXPECT_FAILS(TypeError, "no order between large_string and int64",
               (col("s") < lit(2)).Bind(*kSchema));
  EXPECT_FAILS(CapacityError, "is out of bounds for int32",
               (col("small") + lit(int64_t{1} << 40)).Bind(*kSchema));
}

TEST_F(ExpressionTest, EqualityOfUnlikeTypesIsFalse) {
  auto equal = (col("s") == lit(2)).Bind(*kSchema);
  ASSERT_OK(equal);
  EXPECT_EQ(equal->arrow.ToString(), "false");
}

TEST_F(ExpressionTest, FloorDivisionRoundsDownAndByZeroIsMissing) {
  auto floor = [](Expression left, Expression right) {
    return Expression::Call("floor_divide", {std::move(left), std::move(right)});
  };
  ExpectValues(floor(col("small"), lit(2)), arrow::int32(), "[3, null, -4]");
  ExpectValues(floor(col("small"), col("i")), arrow::int64(), "[7, null, null]");
  ExpectValues(Expression::Call("modulo", {col("small"), lit(4)}), arrow::int32(),
               "[3, null, 1]");
}

TEST_F(ExpressionTest, UnsignedAndSignedCompareExactly) {
  auto big = col("i").Cast(arrow::uint64());
  const auto most = std::numeric_limits<uint64_t>::max();
  ExpectValues(big < lit(most), arrow::boolean(), "[true, false, true]");
  ExpectValues(big > lit(-1), arrow::boolean(), "[true, false, true]");
  ExpectValues(col("i") != lit(most), arrow::boolean(), "[true, true, true]");
  ExpectValues(big + col("i"), arrow::float64(), "[2, null, 0]");
}

TEST_F(ExpressionTest, NullableDtypesGiveNullableDtypes) {
  auto schema = arrow::schema({WithDtype(arrow::field("n", arrow::int8()), "Int8"),
                               arrow::field("f", arrow::float32())});
  auto dtype = [&](const Expression& expression) {
    auto bound = expression.Bind(*schema);
    EXPECT_TRUE(bound.ok()) << bound.status();
    return bound.ok() ? DtypeName(*bound->field) : "";
  };
  EXPECT_EQ(dtype(col("n") + lit(1)), "Int8");
  EXPECT_EQ(dtype(col("n") + col("f")), "Float32");
  EXPECT_EQ(dtype(col("n") / lit(2)), "Float64");
  EXPECT_EQ(dtype(col("n") > lit(2)), "boolean");
  EXPECT_EQ(dtype(col("n").IsNull()), "");
  EXPECT_EQ(dtype(col("f") + lit(1)), "");
  EXPECT_EQ(dtype(Expression::Call("fill_missing", {col("n"), lit(0)})), "Int8");
}

TEST_F(ExpressionTest, ListsColumnsAndConjunctsAndSubstitutes) {
  auto expression = (col("a") + col("b")) > lit(1) && col("a") == lit(2);
  EXPECT_EQ(expression.Columns(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(expression.Conjuncts().size(), 2);
  EXPECT_EQ(*col("a").column_name(), "a");
  EXPECT_EQ(expression.column_name(), nullptr);
  auto replaced = (col("a") > lit(1)).Substitute({{"a", col("x") * lit(2)}});
  EXPECT_TRUE(replaced.Equals(col("x") * lit(2) > lit(1)));
}

TEST_F(ExpressionTest, ComputesSharedPartsOnce) {
  const auto sum = col("f") + lit(1.0);
  const auto bound = (sum * sum).Bind(*kSchema);
  ASSERT_OK(bound);
  EXPECT_EQ(bound->steps.size(), 1);
  ExpectValues(sum * sum, arrow::float64(), "[2.25, null, NaN]");
}

TEST_F(ExpressionTest, GrowsLinearlyWhereALoopBuildsIt) {
  // Written out, it would have 2^200 calls.
  auto logistic = col("f");
  double expected = 0.5;
  for (int i = 0; i < 200; ++i) {
    logistic = lit(3.7) * logistic * (lit(1.0) - logistic);
    expected = 3.7 * expected * (1.0 - expected);
  }
  EXPECT_EQ(logistic.Columns(), std::vector<std::string>{"f"});
  EXPECT_LT(logistic.ToString().size(), 40'000);
  const auto array = Evaluate(logistic);
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(static_cast<const arrow::DoubleArray&>(*array).Value(0), expected);
  EXPECT_TRUE(array->IsNull(1));
}

TEST_F(ExpressionTest, GrowsLinearlyWhereRulesRepeatTheirOperands) {
  // Each of these becomes several calls of kernels that read the same operand.
  auto chain = col("small");
  int expected = 7;
  for (int i = 0; i < 60; ++i) {
    chain = Expression::Call("floor_divide", {chain * lit(5), lit(3)});
    expected = static_cast<int>((int64_t{expected} * 5 / 3) % 1000);
    chain = Expression::Call("modulo", {chain, lit(1000)});
  }
  const auto array = Evaluate(chain);
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(static_cast<const arrow::Int32Array&>(*array).Value(0), expected);
  auto truth = col("i") == lit(1);
  for (int i = 0; i < 60; ++i) truth = truth == (col("f") < lit(1.0));
  ExpectValues(truth, arrow::boolean(), "[true, false, false]");
}

TEST_F(ExpressionTest, ListsARepeatedConjunctOnce) {
  auto condition = col("i") > lit(1);
  for (int i = 0; i < 100; ++i) condition = condition && condition;
  EXPECT_EQ(condition.Conjuncts().size(), 1);
}

/// Decimals of two digits behind the point, beside others.
class DecimalExpressionTest : public ExpressionTest {
 protected:
  std::shared_ptr<arrow::Array> Of(const Expression& expression) {
    const auto schema = arrow::schema({arrow::field("d", arrow::decimal128(4, 2))});
    const auto batch =
        Batch(schema, R"([{"d": "1.50"}, {"d": null}, {"d": "-0.10"}, {"d": "0.10"}])");
    auto bound = expression.Bind(*schema);
    EXPECT_TRUE(bound.ok()) << bound.status();
    if (!bound.ok()) return nullptr;
    auto result = RunBound(*bound, *batch);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return nullptr;
    return result->is_scalar()
               ? arrow::MakeArrayFromScalar(*result->scalar(), 4).ValueOrDie()
               : result->make_array();
  }
  void ExpectTruths(const Expression& expression, const std::string& json) {
    const auto actual = Of(expression);
    ASSERT_NE(actual, nullptr);
    EXPECT_TRUE(actual->Equals(Array(arrow::boolean(), json)))
        << expression.ToString() << " gave " << actual->ToString();
  }
};

TEST_F(DecimalExpressionTest, ComparesWithWholeNumbersExactly) {
  ExpectTruths(col("d") > lit(1), "[true, false, false, false]");
  ExpectTruths(lit(int64_t{1} << 62) > col("d"), "[true, false, true, true]");
  ExpectTruths(col("d") != lit(0), "[true, true, true, true]");
}

TEST_F(DecimalExpressionTest, ComparesWithFloatsExactly) {
  ExpectTruths(col("d") == lit(1.5), "[true, false, false, false]");
  // The float is a little more than a tenth, and less than minus a tenth.
  ExpectTruths(col("d") == lit(0.1), "[false, false, false, false]");
  ExpectTruths(col("d") != lit(0.1), "[true, true, true, true]");
  ExpectTruths(col("d") < lit(0.1), "[false, false, true, true]");
  ExpectTruths(col("d") <= lit(0.1), "[false, false, true, true]");
  ExpectTruths(col("d") > lit(-0.1), "[true, false, true, true]");
  ExpectTruths(lit(-0.1) >= col("d"), "[false, false, false, false]");
  ExpectTruths(col("d") >= lit(5e-324), "[true, false, false, true]");
  ExpectTruths(col("d") < lit(1e300), "[true, false, true, true]");
  ExpectTruths(col("d") > lit(-std::numeric_limits<double>::infinity()),
               "[true, false, true, true]");
  ExpectTruths(col("d") < lit(std::numeric_limits<double>::quiet_NaN()),
               "[false, false, false, false]");
}

TEST_F(DecimalExpressionTest, IsNeverEqualToText) {
  ExpectTruths(col("d") == lit("1.50"), "[false, false, false, false]");
  const auto schema = arrow::schema({arrow::field("d", arrow::decimal128(4, 2))});
  EXPECT_FAILS(TypeError, "there is no order between decimal128(4, 2) and",
               (col("d") < lit("κ")).Bind(*schema));
  EXPECT_FAILS(TypeError, "unsupported operands for add: decimal128(4, 2) and",
               (col("d") + lit("κ")).Bind(*schema));
}

TEST_F(DecimalExpressionTest, KeepsAllDigits) {
  const auto type = [](const Expression& expression) {
    const auto schema = arrow::schema({arrow::field("d", arrow::decimal128(4, 2)),
                                       arrow::field("sum", arrow::decimal128(38, 2))});
    const auto bound = expression.Bind(*schema);
    return bound.ok() ? bound->field->type()->ToString() : bound.status().ToString();
  };
  EXPECT_EQ(type(col("d") + lit(1)), "decimal128(22, 2)");
  EXPECT_EQ(type(col("d") * lit(2)), "decimal128(24, 2)");
  EXPECT_EQ(type(col("sum") * lit(100)), "decimal256(42, 2)");
  EXPECT_EQ(type(col("sum") - col("d")), "decimal256(39, 2)");
  EXPECT_NE(type(col("sum") * col("sum")).find("more than 76 digits"), std::string::npos);
}

}  // namespace
}  // namespace xshards
