// SPDX-License-Identifier: Apache-2.0
#include "ops/join/build_side.h"

#include <functional>
#include <numeric>
#include <thread>

#include "ops/join/match_pairs.h"
#include "ops/join/perfect_hash_rows.h"
#include "ops/kernels/gather.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

constexpr int64_t kNumRows = 200'000;  // enough for a table in several parts
constexpr size_t kNumThreads = 4;

/// Returns some batches, then fails.
class FailingStream final : public BatchStream {
 public:
  explicit FailingStream(std::shared_ptr<arrow::RecordBatch> batch)
      : batch_(std::move(batch)), schema_(batch_->schema()) {}
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (batch_ != nullptr) return std::move(batch_);
    return arrow::Status::IOError("The disk is gone");
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::shared_ptr<arrow::Schema> schema_;
};

class JoinBuildTest : public OperatorTest {
 protected:
  using Built = arrow::Result<std::shared_ptr<const HeldRows>>;

  /// Numbers in an order of their own, `factor` apart from each other.
  static std::shared_ptr<arrow::RecordBatch> Numbers(int64_t factor) {
    std::vector<int64_t> numbers(kNumRows);
    for (int64_t i = 0; i < kNumRows; ++i) {
      numbers[static_cast<size_t>(i)] = i * 7919 % kNumRows * factor;
    }
    return Batch({{"k", Column(numbers)}});
  }

  /// The tables that several threads get concurrently.
  std::vector<Built> Build(JoinBuild& build,
                           const std::function<std::unique_ptr<BatchStream>()>& open) {
    std::vector<Built> built(kNumThreads, Built(arrow::Status::UnknownError("not run")));
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < kNumThreads; ++i) {
      threads.emplace_back([&, i] {
        Input input(open(), context_);
        built[i] = build.Get(input, context_);
      });
    }
    threads.clear();  // joins them
    return built;
  }

  const JoinBuild::Spec spec_{
      .keys = {0}, .kind = JoinKeyKind::kWord, .max_bytes = int64_t{1} << 30};
};

TEST_F(JoinBuildTest, ThreadsMakeOneTableTogether) {
  for (int64_t factor : {1, 1'000'003}) {
    const auto rows = Numbers(factor);
    JoinBuild build(spec_, context_);
    const auto built = Build(build, [&] {
      return std::make_unique<VectorStream>(rows->schema(), Cut(rows, 1000));
    });
    EXPECT_FALSE(build.has_more());
    const auto table = Get(built[0]);
    for (const auto& other : built) EXPECT_EQ(Get(other), table);
    EXPECT_FALSE(table->has_repeats());
    const auto keys = Get(JoinKeys::Make(*rows, {0}, JoinKeyKind::kWord, context_.pool));
    ScratchVector<uint32_t> first;
    table->Find(keys, &first);
    ScratchVector<uint32_t> expected(first.size());
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(first, expected) << factor;
  }
}

TEST_F(JoinBuildTest, OrdersRowsIfAllowedAndDense) {
  auto spec = spec_;
  spec.taken = {1};
  for (int64_t factor : {1, 1'000'003}) {
    const auto keys = Numbers(factor)->column(0);
    // Beside keys that repeat, too: that is found when rows are placed already.
    for (const bool repeats : {false, true}) {
      const auto repeated = keys->Slice(0, repeats ? 1 : 0);
      const auto all = Get(arrow::Concatenate({keys, repeated}));
      const auto rows = Batch({{"k", all}, {"v", all}});
      JoinBuild build(spec, context_);
      const auto built = Build(build, [&] {
        return std::make_unique<VectorStream>(rows->schema(), Cut(rows, 70'000));
      });
      const auto held = Get(built[0]);
      for (const auto& other : built) EXPECT_EQ(Get(other), held);
      const bool is_ordered = dynamic_cast<const OrderedRows*>(held.get()) != nullptr;
      EXPECT_EQ(is_ordered, factor == 1);
      EXPECT_EQ(held->has_repeats(), repeats);
      const auto asked = Get(JoinKeys::Make(*rows->Slice(0, kNumRows), {0},
                                            JoinKeyKind::kWord, context_.pool));
      ScratchVector<uint32_t> first;
      held->Find(asked, &first);
      const auto partners = ViewRows(first.data(), first.size());
      ExpectArray(Get(Gather(held->rows()->column(1), partners, context_.pool)), keys);
    }
  }
}

TEST_F(JoinBuildTest, AFailureReachesAllThreads) {
  const auto rows = Numbers(1);
  JoinBuild build(spec_, context_);
  for (const auto& built :
       Build(build, [&] { return std::make_unique<FailingStream>(rows); })) {
    EXPECT_FAILS(IOError, "The disk is gone", built);
  }
}

TEST_F(JoinBuildTest, StaysWithinItsByteLimit) {
  const auto rows = Numbers(1);
  auto spec = spec_;
  spec.max_bytes = 100'000;
  JoinBuild build(spec, context_);
  Input input(std::make_unique<VectorStream>(rows->schema(), Cut(rows, 1000)), context_);
  const auto table = Get(build.Get(input, context_));
  EXPECT_TRUE(build.has_more());
  EXPECT_EQ(table->rows()->num_rows(), 13'000);  // the first to be over 100,000 bytes
  ExpectBatch(build.TakeNextBatch(), rows->Slice(13'000, 1000));
}

}  // namespace
}  // namespace xshards::ops
