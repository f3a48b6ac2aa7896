// SPDX-License-Identifier: Apache-2.0
// A fragment encoded here, run by another program, gives the rows it gives here.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <gtest/gtest.h>

#include "io/readers.h"
#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "tests/xshards/execution/fragments/fragment_trees.h"
#include "xshards/execution/fragments/fragment.h"

namespace xshards {
namespace {

using testing::NumberedShards;
using testing::TemporaryDirectory;
using testing::TestContext;

class FragmentProcessTest : public ::testing::Test {
 protected:
  arrow::RecordBatchVector RunHere(const Fragment& fragment) {
    arrow::RecordBatchVector batches;
    auto result = RunFragment(fragment, *DefaultOperators(), context_->storage(),
                              arrow::StopToken::Unstoppable());
    EXPECT_TRUE(result.ok()) << result.status();
    for (size_t i = 0; result.ok() && i < result->store->num_blocks(); ++i) {
      batches.push_back(result->store->ReadBlock(i).ValueOrDie());
    }
    return batches;
  }

  arrow::RecordBatchVector RunThere(const Fragment& fragment) {
    auto encoded = EncodeFragment(fragment, context_->storage());
    EXPECT_TRUE(encoded.ok()) << encoded.status();
    if (!encoded.ok()) return {};
    // These and the copies below lack close-on-exec: the other program inherits them.
    const int request = memfd_create("request", 0);
    const int output = memfd_create("output", 0);
    EXPECT_EQ(write(request, encoded->bytes->data(),
                    static_cast<size_t>(encoded->bytes->size())),
              encoded->bytes->size());
    std::vector<std::string> arguments = {
        XSHARDS_FRAGMENT_WORKER, std::to_string(request), std::to_string(output)};
    std::vector<int> copies = {request, output};
    for (const auto& segment : encoded->segments) {
      copies.push_back(dup(segment->fd()));
      arguments.push_back(std::to_string(static_cast<int>(segment->kind())) + ":" +
                          std::to_string(copies.back()) + ":" +
                          std::to_string(segment->size()));
    }
    Spawn(arguments);
    auto batches = ReadBlocks(output);
    for (int fd : copies) close(fd);
    return batches;
  }

  static void Spawn(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    ASSERT_EQ(
        posix_spawn(&child, pointers[0], nullptr, nullptr, pointers.data(), environ), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  static arrow::RecordBatchVector ReadBlocks(int fd) {
    std::string bytes(static_cast<size_t>(lseek(fd, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    arrow::io::BufferReader input(arrow::Buffer::FromString(std::move(bytes)));
    arrow::RecordBatchVector batches;
    while (input.Tell().ValueOrDie() < input.GetSize().ValueOrDie()) {
      auto reader = arrow::ipc::RecordBatchStreamReader::Open(&input).ValueOrDie();
      for (auto& batch : reader->ToRecordBatches().ValueOrDie()) batches.push_back(batch);
    }
    return batches;
  }

  void ExpectSame(const Fragment& fragment) {
    auto expected = RunHere(fragment);
    auto actual = RunThere(fragment);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(actual.size(), expected.size()) << Describe(*fragment.root);
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_TRUE(actual[i]->Equals(*expected[i])) << Describe(*fragment.root);
    }
  }

  std::shared_ptr<Context> context_ = TestContext();
};

TEST_F(FragmentProcessTest, GivesTheSameRowsForEveryNode) {
  for (const auto& tree : testing::FragmentTrees()) ExpectSame({.root = tree});
}

TEST_F(FragmentProcessTest, GivesTheSameRowsForEveryExchange) {
  for (auto mode : {ExchangeMode::kHash, ExchangeMode::kRange, ExchangeMode::kRoundRobin,
                    ExchangeMode::kGather}) {
    SinkSpec sink{.kind = SinkKind::kPartition};
    sink.mode = mode;
    sink.keys = {"key"};
    sink.num_partitions = mode == ExchangeMode::kGather ? 1 : 3;
    sink.sort_keys = {{"id", true}};
    sink.boundaries = testing::Batch(arrow::schema({arrow::field("id", arrow::int64())}),
                                     R"([{"id": 10}, {"id": 20}])");
    sink.total_rows = 50;
    ExpectSame({.root = testing::NumberedLeaf(50), .sink = sink});
  }
}

TEST_F(FragmentProcessTest, ScansFilesOfEveryFormatThere) {
  TemporaryDirectory directory;
  for (const char* format : {"csv", "json", "parquet", "ipc"}) {
    const auto path = directory.File(format);
    ASSERT_OK(NumberedShards(context_, 1, 100).Write(path, format));
    arrow::Result<XShards> shards = arrow::Status::Invalid(format);
    if (format == std::string("csv")) shards = io::ReadCsv(context_, path);
    if (format == std::string("json")) shards = io::ReadJson(context_, path);
    if (format == std::string("parquet")) shards = io::ReadParquet(context_, path);
    if (format == std::string("ipc")) shards = io::ReadIpc(context_, path);
    ASSERT_OK(shards);
    ExpectSame({.root = shards->plan()});
  }
}

TEST_F(FragmentProcessTest, ReadsSpilledDataByDescriptor) {
  auto leaf = testing::NumberedLeaf(100);
  const auto& store = leaf->as<LiteralNode>().partitions[0].blocks()[0].store;
  BlockWriter writer(context_->storage(), Storage::kFile);
  ASSERT_OK_AND_ASSIGN(auto batch, store->ReadBlock(0));
  ASSERT_OK(writer.Append(0, batch));
  ASSERT_OK_AND_ASSIGN(auto spilled, writer.Finish());
  ASSERT_EQ(spilled->storage(), Storage::kFile);
  ExpectSame({.root = MakeNode(LiteralNode{.schema = batch->schema(),
                                           .partitions = {Partition({spilled}, 0)}})});
}

}  // namespace
}  // namespace xshards
