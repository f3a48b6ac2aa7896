// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tests/io/scan_fixture.h"

namespace xshards::io {

/// For tests that read CSV texts.
class CsvTest : public IoTest {
 protected:
  std::shared_ptr<arrow::Table> Read(const std::string& text,
                                     const CsvOptions& options = {}) {
    return Rows(ReadCsv(context_, Write("test.csv", text), options));
  }
  arrow::Status Error(const std::string& text, const CsvOptions& options = {}) {
    auto shards = ReadCsv(context_, Write("test.csv", text), options);
    return shards.ok() ? shards->ToTable().status() : shards.status();
  }
  // Check that a file gives the same table as one split and cut at every possible
  // position.
  void CheckEverySplit(const std::string& text, CsvOptions options = {}) {
    const auto path = Write("split.csv", text);
    options.split.num_partitions = 1;
    const auto whole = Rows(ReadCsv(context_, path, options));
    ASSERT_NE(whole, nullptr);
    options.split.num_partitions = 0;
    for (size_t bytes = 1; bytes <= text.size(); ++bytes) {
      options.split.block_size = static_cast<int64_t>(bytes);
      ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, path, options));
      const auto cut = Rows(shards);
      ASSERT_NE(cut, nullptr);
      ASSERT_TRUE(cut->Equals(*whole)) << "pieces of " << bytes << "\n"
                                       << cut->ToString() << whole->ToString();
    }
  }
};

}  // namespace xshards::io
