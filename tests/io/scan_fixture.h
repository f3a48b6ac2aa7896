// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/table.h>
#include <gtest/gtest.h>

#include "io/operators.h"
#include "io/readers.h"
#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/execution/fragments/fragment.h"

namespace xshards::io {

/// A temporary directory and a Context, for tests that read and write files.
class IoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = xshards::testing::TestContext();
    ASSERT_NE(context_, nullptr);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    return directory_.Write(name, text);
  }

  /// All rows of a plan as one table; fails the test and returns nullptr on errors.
  std::shared_ptr<arrow::Table> Rows(const arrow::Result<XShards>& shards) const {
    if (!shards.ok()) {
      ADD_FAILURE() << shards.status();
      return nullptr;
    }
    auto table = shards->ToTable();
    if (!table.ok()) {
      ADD_FAILURE() << table.status();
      return nullptr;
    }
    auto combined = (*table)->CombineChunks();
    return combined.ok() ? *combined : nullptr;
  }

  /// A column as JSON-like text: [1,null,2.5].
  static std::string Text(const arrow::Table& table, const std::string& column) {
    const auto values = table.GetColumnByName(column);
    if (values == nullptr) return "no such column";
    std::string text = "[";
    for (int64_t i = 0; i < values->length(); ++i) {
      if (i > 0) text += ',';
      text += values->GetScalar(i).ValueOrDie()->ToString();
    }
    return text + "]";
  }
  static std::string TypeName(const arrow::Table& table, const std::string& column) {
    const auto field = table.schema()->GetFieldByName(column);
    return field == nullptr ? "no such column" : field->type()->ToString();
  }

  /// The result and metrics of a scan, run split by split.
  struct Scanned {
    std::shared_ptr<arrow::Table> table;
    FragmentMetrics metrics;
  };
  arrow::Result<Scanned> RunScan(const ScanNode& scan) const {
    OperatorTable operators;
    AddOperators(operators);
    Scanned scanned;
    OperatorContext context;
    context.pool = context_->memory_pool();
    context.storage = context_->storage();
    context.metrics = &scanned.metrics;
    context.batch_bytes = 64 << 10;
    const auto node = MakeNode(scan);
    ARROW_ASSIGN_OR_RAISE(const OpenNode* open, operators.Find(*node));
    ARROW_ASSIGN_OR_RAISE(auto stream, (*open)(*node, {}, context));
    ARROW_ASSIGN_OR_RAISE(auto batches, ReadAll(*stream));
    ARROW_ASSIGN_OR_RAISE(scanned.table,
                          arrow::Table::FromRecordBatches(stream->schema(), batches));
    return scanned;
  }
  static const ScanNode& ScanOf(const XShards& shards) {
    return shards.plan()->as<ScanNode>();
  }

  xshards::testing::TemporaryDirectory directory_;
  std::shared_ptr<Context> context_;
};

}  // namespace xshards::io
