// SPDX-License-Identifier: Apache-2.0
#include "ops/row/evaluate.h"

#include <limits>

#include <arrow/array/array_dict.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Evaluate : public OperatorTest {
 protected:
  static std::shared_ptr<arrow::Array> Encode(const std::string& places,
                                              const std::string& values) {
    return Get(arrow::DictionaryArray::FromArrays(
        arrow::dictionary(arrow::int32(), arrow::large_utf8()),
        Json(arrow::int32(), places), Json(arrow::large_utf8(), values)));
  }
  static std::shared_ptr<arrow::Array> Compute(
      const Expression& expression, const std::shared_ptr<arrow::RecordBatch>& batch) {
    arrow::compute::ExecContext exec;
    auto bound = Get(RowExpression::Make(expression, *batch->schema()));
    auto result = Get(bound.Evaluate(*batch, &exec));
    // A second time, with the cached results of the dictionary.
    EXPECT_TRUE(Get(bound.Evaluate(*batch, &exec))->Equals(*result));
    return result;
  }
  /// The same expression of encoded columns and of their values gives the same.
  static void ExpectSame(const Expression& expression,
                         const std::shared_ptr<arrow::RecordBatch>& encoded,
                         const std::shared_ptr<arrow::RecordBatch>& plain) {
    ExpectArray(Compute(expression, encoded), Compute(expression, plain));
  }

  const std::shared_ptr<arrow::RecordBatch> encoded_ =
      Batch({{"t", Encode("[0, 2, null, 0, 1, 2, null, 0]", R"(["b", "a", "é"])")},
             {"u", Encode("[1, 1, 1, 0, 0, null, 0, 0]", R"(["b", "x"])")},
             {"n", Json(arrow::int64(), "[1, 2, 3, 4, 5, 6, 7, 8]")}});
  const std::shared_ptr<arrow::RecordBatch> plain_ =
      Batch({{"t", arrow::large_utf8(), R"(["b", "é", null, "b", "a", "é", null, "b"])"},
             {"u", arrow::large_utf8(), R"(["x", "x", "x", "b", "b", null, "b", "b"])"},
             {"n", arrow::int64(), "[1, 2, 3, 4, 5, 6, 7, 8]"}});
};

TEST_F(Evaluate, GivesEqualResultsForEncodedColumns) {
  const auto upper = Expression::Call("utf8_upper", {col("t")});
  for (const auto& expression :
       {col("t") == lit("b"), col("t") != lit("b"), col("t").IsNull(), !col("t").IsNull(),
        upper, upper == lit("É"),
        col("t").IsIn(Json(arrow::large_utf8(), R"(["a", "é"])")), col("t") == col("u"),
        col("t") == lit("b") && col("n") > lit(2), col("n") + lit(1)}) {
    SCOPED_TRACE(expression.ToString());
    ExpectSame(expression, encoded_, plain_);
    for (int64_t begin : {1, 3, 8}) {
      ExpectSame(expression, encoded_->Slice(begin), plain_->Slice(begin));
    }
  }
}

TEST_F(Evaluate, IgnoresFailuresOfUnusedDictionaryValues) {
  const auto encoded = Batch({{"t", Encode("[0, 1, 0, 1, 0, 1]", R"(["1", "2", "x"])")}});
  ExpectArray(Compute(col("t").Cast(arrow::int64()), encoded),
              Json(arrow::int64(), "[1, 2, 1, 2, 1, 2]"));
}

TEST_F(Evaluate, ReportsFailuresOfUsedDictionaryValues) {
  const auto encoded = Batch({{"t", Encode("[0, 1, 0, 1, 0, 0]", R"(["1", "x"])")}});
  arrow::compute::ExecContext exec;
  auto bound =
      Get(RowExpression::Make(col("t").Cast(arrow::int64()), *encoded->schema()));
  const auto status = bound.Evaluate(*encoded, &exec).status();
  EXPECT_NE(status.message().find("'x'"), std::string::npos) << status;
}

TEST_F(Evaluate, RepeatsConstants) {
  ExpectArray(Compute(lit(7), plain_->Slice(0, 3)), Json(arrow::int64(), "[7, 7, 7]"));
}

TEST_F(Evaluate, NamesTheFloatThatIsNotAnInteger) {
  const auto batch = Batch({{"f", arrow::float64(), "[1, 1.5]"},
                            {"inf", arrow::float64(), "[1, Inf]"},
                            {"large", arrow::float32(), "[1, 1e30]"}});
  arrow::compute::ExecContext exec;
  const auto fail = [&](const Expression& expression) {
    auto bound = Get(RowExpression::Make(expression, *batch->schema()));
    return bound.Evaluate(*batch, &exec);
  };
  EXPECT_FAILS(
      Invalid,
      "1.5 (from column 'f') cannot be converted to int64: it has a fraction, which "
      "round() or trunc removes",
      fail(col("f").Cast(arrow::int64())));
  EXPECT_FAILS(
      Invalid,
      "inf (from column 'inf') cannot be converted to int8: Cannot convert non-finite "
      "values (NA or inf) to integer; replace infinite and missing values "
      "first, or convert to float64",
      fail(col("inf").Cast(arrow::int8())));
  EXPECT_FAILS(Invalid,
               "(from column 'large') cannot be converted to uint64: it is out of range",
               fail(col("large").Cast(arrow::uint64())));
  EXPECT_FAILS(Invalid, "(from column 'inf', 'f') cannot be converted to int32",
               fail((col("inf") + col("f")).Cast(arrow::int32())));
  EXPECT_FAILS(Invalid, "inf cannot be converted to int32",
               fail(lit(std::numeric_limits<double>::infinity()).Cast(arrow::int32())));
}

TEST_F(Evaluate, RejectsMissingValuesInIntegerCasts) {
  const auto batch = Batch({{"f", Json(arrow::float64(), "[1.5, NaN, null]")},
                            {"g", Json(arrow::float32(), "[1.5, 2, -3.5]")},
                            {"none", Json(arrow::float64(), "[null, null, null]")},
                            {"i", Json(arrow::int64(), "[1, null, 3]")},
                            {"all", Json(arrow::int64(), "[1, 2, 3]")},
                            {"b", Json(arrow::boolean(), "[true, null, false]")},
                            {"text", Encode("[0, null, 0]", R"(["1"])")}});
  const auto as = [](const Expression& value,
                     const std::shared_ptr<arrow::DataType>& type,
                     int64_t may_be_missing) {
    return Expression::Call("as_type", {value, lit(""), lit(may_be_missing)},
                            std::make_shared<arrow::compute::CastOptions>(
                                arrow::compute::CastOptions::Safe(type)));
  };
  arrow::compute::ExecContext exec;
  const auto evaluate = [&](const Expression& expression,
                            const arrow::RecordBatch& rows) {
    auto bound = Get(RowExpression::Make(expression, *batch->schema()));
    return bound.Evaluate(rows, &exec);
  };
  for (const char* name : {"f", "none", "i", "b", "text"}) {
    SCOPED_TRACE(name);
    const auto strict = as(col(name), arrow::uint8(), 0);
    const auto message =
        std::string("a missing value (from column '") + name +
        "') cannot be converted to uint8: Cannot convert non-finite values (NA or "
        "inf) to integer; fill missing values first (fillna), or keep "
        "them with astype('UInt8')";
    EXPECT_FAILS(Invalid, message, evaluate(strict, *batch));
    // Also deep inside.
    EXPECT_FAILS(Invalid, "(from column", evaluate(strict + lit(1), *batch));
    // No value is missing in an empty batch or in the first one, but in the one of all
    // nulls.
    EXPECT_OK(evaluate(strict, *batch->Slice(0, 0)));
    const auto first = evaluate(strict, *batch->Slice(0, 1));
    EXPECT_EQ(first.ok(), name != std::string("none")) << first.status();
    const auto kept = Get(evaluate(as(col(name), arrow::uint8(), 1), *batch));
    EXPECT_TRUE(kept->IsNull(1)) << name;
  }
  // A dictionary with a null value that no row uses.
  const auto there =
      Batch({{"text", Encode("[0, 1, 0, 1, 1, 0]", R"(["1", "2", null])")}});
  auto strict =
      Get(RowExpression::Make(as(col("text"), arrow::uint8(), 0), *there->schema()));
  EXPECT_EQ(Get(strict.Evaluate(*there, &exec))->ToString(),
            Json(arrow::uint8(), "[1, 2, 1, 2, 2, 1]")->ToString());
  const auto gone =
      Batch({{"text", Encode("[0, 1, 2, 1, 1, 0]", R"(["1", "2", null])")}});
  EXPECT_FAILS(Invalid, "a missing value (from column 'text')",
               strict.Evaluate(*gone, &exec));
  const auto cut = Get(evaluate(as(col("g"), arrow::int8(), 0), *batch));
  EXPECT_EQ(cut->ToString(), Json(arrow::int8(), "[1, 2, -3]")->ToString());
  const auto same = Get(evaluate(as(col("all"), arrow::int64(), 0), *batch));
  EXPECT_EQ(same->ToString(), batch->GetColumnByName("all")->ToString());
}

}  // namespace
}  // namespace xshards::ops
