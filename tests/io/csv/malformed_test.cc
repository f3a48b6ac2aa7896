// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <functional>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "io/text/parse_error.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

class CsvFaults : public IoTest {};

// Run a function as an unprivileged user. The system call changes the credentials of the
// calling thread only; the library's function changes those of all threads.
void RunWithoutRights(const std::function<void()>& work) {
  std::jthread([&] {
    constexpr int kNobody = 65534;
    if (geteuid() == 0) {
      ASSERT_EQ(syscall(SYS_setresuid, -1, kNobody, -1), 0);
    }
    work();
  });
}

TEST_F(CsvFaults, NamesAnUnreadableFile) {
  const auto one = Write("1.csv", "a\n1\n");
  const auto two = Write("2.csv", "a\n2\n");
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(one.c_str(), 0644), 0);
  ASSERT_EQ(chmod(two.c_str(), 0), 0);
  arrow::Status status;
  RunWithoutRights([&] { status = ReadCsv(context_, directory_.path()).status(); });
  EXPECT_FAILS(IOError, "2.csv", status);
  EXPECT_NE(status.ToString().find("Permission denied"), std::string::npos) << status;
}

TEST_F(CsvFaults, NamesAFileThatShrinksWhileItIsRead) {
  std::string text = "a\n";
  while (text.size() < (1 << 20)) text += "12345\n";
  const auto path = Write("a.csv", text);
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, path));
  OperatorTable operators;
  AddOperators(operators);
  FragmentMetrics metrics;
  OperatorContext context;
  context.pool = context_->memory_pool();
  context.storage = context_->storage();
  context.metrics = &metrics;
  context.batch_bytes = 64 << 10;
  const auto node = MakeNode(ScanOf(shards));
  ASSERT_OK_AND_ASSIGN(const OpenNode* open, operators.Find(*node));
  ASSERT_OK_AND_ASSIGN(auto stream, (*open)(*node, {}, context));
  ASSERT_OK_AND_ASSIGN(const auto first, stream->Next());
  ASSERT_NE(first, nullptr);
  // After the bytes already read, and between two records.
  ASSERT_EQ(truncate(path.c_str(), 2 + 6 * 130000), 0);
  const auto rest = ReadAll(*stream);
  EXPECT_FAILS(IOError, "a.csv", rest.status());
  EXPECT_FAILS(IOError, "the file was truncated", rest.status());
}

TEST_F(CsvFaults, ReportsTheKindOfFault) {
  const auto fault_of = [&](const std::string& text, const CsvOptions& options = {}) {
    auto shards = ReadCsv(context_, Write("test.csv", text), options);
    const auto status = shards.ok() ? shards->ToTable().status() : shards.status();
    const TextFault* const fault = TextFault::Of(status);
    return fault == nullptr ? std::nullopt : std::optional(fault->kind());
  };
  EXPECT_EQ(fault_of("a\n1,2\n3,4,5\n"), TextFault::Kind::kMalformed);
  EXPECT_EQ(fault_of("a\n\"1\n"), TextFault::Kind::kMalformed);
  EXPECT_EQ(fault_of("a,b\n1,2\n", {.header = true, .names = {"a", "b", "c"}}),
            TextFault::Kind::kMalformed);
  EXPECT_EQ(fault_of(""), TextFault::Kind::kNoColumns);
  EXPECT_EQ(fault_of("a\n\xff\n"), TextFault::Kind::kUndecodable);
  EXPECT_EQ(fault_of("a\xff\n1\n"), TextFault::Kind::kUndecodable);
  EXPECT_EQ(fault_of("a\nx\n", {.dtype = {{"a", "int64"}}}), std::nullopt);
}

TEST_F(CsvFaults, NamesAFileThatChangedSinceItWasPlanned) {
  const auto path = Write("a.csv", "a\n1\n2\n");
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, path));
  ASSERT_NE(Rows(shards), nullptr);
  const timespec times[] = {{.tv_sec = 1000, .tv_nsec = 1},
                            {.tv_sec = 1000, .tv_nsec = 1}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_FAILS(IOError, "a.csv': Expected the file to be unchanged",
               shards.ToTable().status());
  Write("a.csv", "a\n1\n");
  EXPECT_FAILS(IOError, "It had 6 bytes, and now has 4", shards.ToTable().status());
}

}  // namespace
}  // namespace xshards::io
