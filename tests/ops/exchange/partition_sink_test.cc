// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <random>

#include "ops/exchange/hash_partition.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class PartitionSink : public OperatorTest {
 protected:
  /// Rows with a key (some missing) and their number.
  static std::shared_ptr<arrow::RecordBatch> Numbered(int64_t num_rows, int num_keys) {
    std::mt19937 random(17);
    std::vector<std::string> keys;
    std::vector<bool> valid;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < num_rows; ++i) {
      keys.push_back("κ" + std::to_string(random() % static_cast<uint32_t>(num_keys)));
      valid.push_back(random() % 10 != 0);
      numbers.push_back(i);
    }
    return Batch({{"key", Strings(keys, valid)}, {"row", Column(numbers)}});
  }
  static std::vector<int64_t> Rows(const arrow::RecordBatch& batch) {
    const auto& rows =
        static_cast<const arrow::Int64Array&>(*batch.GetColumnByName("row"));
    return {rows.raw_values(), rows.raw_values() + rows.length()};
  }
  static SinkSpec Hash(int32_t num_partitions) {
    return {.kind = SinkKind::kPartition,
            .mode = ExchangeMode::kHash,
            .keys = {"key"},
            .num_partitions = num_partitions};
  }
};

TEST_F(PartitionSink, BringsEqualKeysTogetherInOrder) {
  const auto batch = Numbered(5000, 40);
  for (auto storage : {Storage::kHeap, Storage::kShared}) {
    for (int32_t num_partitions : {1, 2, 7, 64}) {
      auto spec = Hash(num_partitions);
      spec.storage = storage;
      const auto parts = Get(RunSink(spec, Cut(batch, 333)));
      std::map<std::string, size_t> home;
      int64_t total = 0;
      for (size_t d = 0; d < parts.size(); ++d) {
        if (parts[d] == nullptr) continue;
        total += parts[d]->num_rows();
        const auto rows = Rows(*parts[d]);
        EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
        for (int64_t i = 0; i < parts[d]->num_rows(); ++i) {
          const auto key = Get(parts[d]->column(0)->GetScalar(i))->ToString();
          EXPECT_EQ(home.try_emplace(key, d).first->second, d) << key;
          // All columns of the row were moved together.
          const auto original = rows[static_cast<size_t>(i)];
          EXPECT_EQ(key, Get(batch->column(0)->GetScalar(original))->ToString());
        }
      }
      EXPECT_EQ(total, batch->num_rows());
      EXPECT_EQ(home.size(), 41);
    }
  }
}

TEST_F(PartitionSink, DestinationsDoNotDependOnBatchBoundaries) {
  const auto batch = Numbered(1000, 40);
  const auto whole = Get(RunSink(Hash(5), {batch}));
  const auto cut = Get(RunSink(Hash(5), Cut(batch, 1)));
  for (size_t d = 0; d < whole.size(); ++d) ExpectBatch(cut[d], whole[d]);
}

TEST_F(PartitionSink, FlushesOftenWhenMemoryIsTight) {
  const auto batch = Numbered(20000, 40);
  const auto expected = Get(RunSink(Hash(3), {batch}));
  context_.batch_bytes = 1000;
  const auto parts = Get(RunSink(Hash(3), Cut(batch, 100)));
  for (size_t d = 0; d < parts.size(); ++d) ExpectBatch(parts[d], expected[d]);
}

TEST_F(PartitionSink, KeepsTheSchemaOfAnEmptyInput) {
  const auto nothing = Numbered(0, 1);
  for (auto mode :
       {ExchangeMode::kHash, ExchangeMode::kRoundRobin, ExchangeMode::kGather}) {
    auto spec = Hash(3);
    spec.mode = mode;
    const auto parts = Get(RunSink(spec, {nothing}));
    ASSERT_NE(parts[0], nullptr);
    EXPECT_TRUE(parts[0]->schema()->Equals(*nothing->schema()));
    EXPECT_EQ(parts[0]->num_rows(), 0);
  }
}

TEST_F(PartitionSink, BalancesRowsAsArraySplitDoes) {
  for (int64_t total : {0, 1, 2, 9, 10, 11, 100}) {
    const auto batch = Numbered(total, 5);
    for (int32_t num_partitions : {1, 2, 3, 10, 13}) {
      // Three producers, of a third of the rows each.
      std::vector<std::vector<int64_t>> rows(static_cast<size_t>(num_partitions));
      for (int64_t producer = 0; producer < 3; ++producer) {
        const int64_t begin = total * producer / 3;
        const int64_t end = total * (producer + 1) / 3;
        const auto parts = Get(RunSink({.kind = SinkKind::kPartition,
                                        .mode = ExchangeMode::kRoundRobin,
                                        .num_partitions = num_partitions,
                                        .first_row = begin,
                                        .total_rows = total},
                                       Cut(batch->Slice(begin, end - begin), 2)));
        for (size_t d = 0; d < parts.size(); ++d) {
          if (parts[d] == nullptr) continue;
          const auto some = Rows(*parts[d]);
          rows[d].insert(rows[d].end(), some.begin(), some.end());
        }
      }
      int64_t next = 0;
      for (int32_t d = 0; d < num_partitions; ++d) {
        const int64_t count = total / num_partitions + (d < total % num_partitions);
        std::vector<int64_t> expected(static_cast<size_t>(count));
        std::iota(expected.begin(), expected.end(), next);
        next += count;
        EXPECT_EQ(rows[static_cast<size_t>(d)], expected);
      }
    }
  }
}

TEST_F(PartitionSink, GathersEverythingInOrder) {
  const auto batch = Numbered(100, 5);
  const auto parts = Get(RunSink(
      {.kind = SinkKind::kPartition, .mode = ExchangeMode::kGather}, Cut(batch, 7)));
  ExpectBatch(parts.at(0), batch);
}

TEST_F(PartitionSink, SendsRowsByRange) {
  const auto batch = Batch({{"a", arrow::int64(), "[5, 1, null, 3, 2, 4, 3]"}});
  SinkSpec spec{.kind = SinkKind::kPartition,
                .mode = ExchangeMode::kRange,
                .num_partitions = 3,
                .sort_keys = {{"a"}},
                .boundaries = Batch({{"a", arrow::int64(), "[3, 5]"}})};
  const auto parts = Get(RunSink(spec, Cut(batch, 2)));
  ExpectArray(parts[0]->column(0), Json(arrow::int64(), "[1, 2]"));
  ExpectArray(parts[1]->column(0), Json(arrow::int64(), "[3, 4, 3]"));
  ExpectArray(parts[2]->column(0), Json(arrow::int64(), "[5, null]"));
}

TEST_F(PartitionSink, RejectsInvalidSpecifications) {
  const auto batch = Numbered(10, 5);
  EXPECT_FAILS(Invalid, "Expected 1 or more partitions, got 0",
               RunSink(Hash(0), {batch}));
  auto unknown = Hash(2);
  unknown.keys = {"nope"};
  EXPECT_FAILS(KeyError, "nope", RunSink(unknown, {batch}));
  SinkSpec range{.kind = SinkKind::kPartition,
                 .mode = ExchangeMode::kRange,
                 .num_partitions = 1,
                 .sort_keys = {{"row"}},
                 .boundaries = Batch({{"row", arrow::int64(), "[1]"}})};
  EXPECT_FAILS(Invalid, "fewer boundaries", RunSink(range, {batch}));
  SinkSpec balanced{.kind = SinkKind::kPartition,
                    .mode = ExchangeMode::kRoundRobin,
                    .num_partitions = 2,
                    .total_rows = 3};
  EXPECT_FAILS(Invalid, "at most 3 rows", RunSink(balanced, {batch}));
}

TEST_F(PartitionSink, UsesEveryDestination) {
  const auto batch = Numbered(20000, 5000);
  std::vector<int64_t> counts(16);
  for (int32_t d : Get(HashDestinations(*batch, {"row"}, 16, context_.pool))) {
    ++counts.at(static_cast<size_t>(d));
  }
  for (int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 1250, 200);
}

}  // namespace
}  // namespace xshards::ops
