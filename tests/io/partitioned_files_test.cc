// SPDX-License-Identifier: Apache-2.0
#include "io/partitioned_files.h"

#include <filesystem>

#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using PartitionedFilesTest = IoTest;

TEST_F(PartitionedFilesTest, NameTheFileThatAWriterCannotBegin) {
  const OpenWriter fail = [](const auto&, const auto&, const auto&, auto*) {
    return arrow::Result<std::unique_ptr<FileWriter>>(
        arrow::Status::IOError("Error writing bytes to file"));
  };
  const auto path = Write("begun", "") + ".parts/a.csv";
  const auto batch = testing::Batch(arrow::schema({arrow::field("k", arrow::int64()),
                                                   arrow::field("v", arrow::int64())}),
                                    R"([{"k": 1, "v": 2}])");
  ASSERT_OK_AND_ASSIGN(const auto files,
                       PartitionedFiles::Make(fail, {.path = path, .columns = {"k"}},
                                              batch->schema(), context_->memory_pool()));
  EXPECT_FAILS(IOError, "k=1/a.csv': Error writing bytes to file", files->Write(*batch));
  // Nothing is left of it.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(path).parent_path())) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
}

}  // namespace
}  // namespace xshards::io
