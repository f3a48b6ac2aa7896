// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>
#include <random>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/vector_array.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class SketchAccumulator : public OperatorTest {
 protected:
  std::unique_ptr<Accumulator> Make(const std::shared_ptr<arrow::DataType>& input) {
    auto made = Get(MakeAccumulator({.function = "approx_count_distinct",
                                     .input_type = input,
                                     .output_type = arrow::int64(),
                                     .categories = nullptr,
                                     .pool = context_.pool}));
    made->Resize(1);
    return made;
  }

  int64_t Count(const std::shared_ptr<arrow::Array>& values) {
    auto sketch = Make(values->type());
    Check(sketch->Consume(values, Zeros(values->length())));
    return Result(*sketch);
  }

  int64_t Result(Accumulator& sketch) {
    return static_cast<const arrow::Int64Array&>(*Get(sketch.Finish())).Value(0);
  }

  static std::vector<uint32_t> Zeros(int64_t count) {
    return std::vector<uint32_t>(static_cast<size_t>(count), 0);
  }

  static std::vector<int64_t> Numbers(int64_t begin, int64_t count) {
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), begin);
    return numbers;
  }
};

TEST_F(SketchAccumulator, IsWithinFiveStandardErrorsAtEverySize) {
  for (int64_t count : {1, 2, 10, 100, 1000, 1023, 5000, 20'000, 300'000}) {
    const auto found = static_cast<double>(Count(ToArray(Numbers(-count / 3, count))));
    const double allowed = 5 * 1.04 / 64 * static_cast<double>(count);
    EXPECT_LE(std::abs(found - static_cast<double>(count)), std::max(allowed, 0.5))
        << count;
  }
}

TEST_F(SketchAccumulator, EstimatesZeroForNoRows) {
  EXPECT_EQ(Count(Json(arrow::int64(), "[]")), 0);
  EXPECT_EQ(Count(Json(arrow::int64(), "[null, null]")), 0);
  EXPECT_EQ(Count(Json(arrow::int64(), "[7, null, 7, 7]")), 1);
}

TEST_F(SketchAccumulator, CountsAValueOnceWhateverItsWidthOrEncoding) {
  const auto narrow = Json(arrow::int8(), "[1, 2, 3]");
  const auto wide = Json(arrow::uint64(), "[1, 2, 3]");
  auto sketch = Make(arrow::int64());
  Check(sketch->Consume(narrow, Zeros(3)));
  auto other = Make(arrow::uint64());
  Check(other->Consume(wide, Zeros(3)));
  Check(sketch->Merge(Get(other->States()), {0}));
  EXPECT_EQ(Result(*sketch), 3);
  EXPECT_EQ(Count(Strings({"a", "é", "a", ""}, {true, true, true, true})), 3);
}

TEST_F(SketchAccumulator, MergedPartsEqualTheWholeAtEverySize) {
  for (int64_t count : {3, 900, 1500, 40'000}) {
    const auto values = ToArray(Numbers(0, count));
    auto merged = Make(arrow::int64());
    const int64_t half = count / 2;
    // Parts overlap, and the larger may come first or last.
    for (const auto& part : {values->Slice(0, half / 8), values->Slice(half / 10),
                             values->Slice(0, half + 1)}) {
      auto one = Make(arrow::int64());
      Check(one->Consume(part, Zeros(part->length())));
      Check(merged->Merge(Get(one->States()), {0}));
    }
    EXPECT_EQ(Result(*merged), Count(values)) << count;
  }
}

}  // namespace
}  // namespace xshards::ops
