// SPDX-License-Identifier: Apache-2.0
#include "io/csv_inference.h"

#include <vector>

#include <gtest/gtest.h>

#include "io/csv_dialect.h"

namespace xshards::io {
namespace {

CsvGuess Guess(const std::string& lines) {
  arrow::csv::BlockParser parser(ToParseOptions({}), 1);
  uint32_t used = 0;
  EXPECT_TRUE(parser.ParseFinal(lines, &used).ok());
  return GuessColumn(parser, 0, ToConvertOptions({}), arrow::default_memory_pool())
      .ValueOrDie();
}

TEST(CsvInference, SeesWhatPandasSees) {
  EXPECT_EQ(Guess(""), CsvGuess::kNoRows);
  EXPECT_EQ(Guess("NA\n\"\"\nnull\n"), CsvGuess::kMissing);
  EXPECT_EQ(Guess("1\nNA\n-3\n"), CsvGuess::kInt64);
  EXPECT_EQ(Guess("9223372036854775808\n"), CsvGuess::kUInt64);
  EXPECT_EQ(Guess("99999999999999999999\nNone\n"), CsvGuess::kText);
  EXPECT_EQ(Guess("99999999999999999999\n0.5\n"), CsvGuess::kFloat64);
  EXPECT_EQ(Guess("1\n2.0\n"), CsvGuess::kFloat64);
  EXPECT_EQ(Guess("1e5\ninf\n"), CsvGuess::kFloat64);
  EXPECT_EQ(Guess("-inf\n"), CsvGuess::kFloat64);
  EXPECT_EQ(Guess("True\nFALSE\nfalse\n"), CsvGuess::kBool);
  EXPECT_EQ(Guess("True\n1\n"), CsvGuess::kText);
  EXPECT_EQ(Guess("yes\n"), CsvGuess::kText);
  EXPECT_EQ(Guess("0xFF\n"), CsvGuess::kText);
  EXPECT_EQ(Guess("2020-01-01\n"), CsvGuess::kText);
}

TEST(CsvInference, WideningIsCommutativeAssociativeAndIdempotent) {
  std::vector<CsvGuess> all;
  for (int i = 0; i <= static_cast<int>(CsvGuess::kText); ++i) {
    all.push_back(static_cast<CsvGuess>(i));
  }
  for (const auto a : all) {
    EXPECT_EQ(Widen(a, a), a);
    for (const auto b : all) {
      EXPECT_EQ(Widen(a, b), Widen(b, a));
      for (const auto c : all) {
        EXPECT_EQ(Widen(Widen(a, b), c), Widen(a, Widen(b, c)));
      }
    }
  }
}

TEST(CsvInference, WidensNumbersAndGivesUpToText) {
  EXPECT_EQ(Widen(CsvGuess::kInt64, CsvGuess::kFloat64), CsvGuess::kFloat64);
  EXPECT_EQ(Widen(CsvGuess::kMissing, CsvGuess::kBool), CsvGuess::kBool);
  EXPECT_EQ(Widen(CsvGuess::kBool, CsvGuess::kInt64), CsvGuess::kText);
  EXPECT_EQ(Widen(CsvGuess::kNoRows, CsvGuess::kMissing), CsvGuess::kMissing);
}

}  // namespace
}  // namespace xshards::io
