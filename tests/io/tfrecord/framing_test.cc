// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/framing.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "io/fs/file_system.h"
#include "io/tfrecord/crc32c.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST(Crc32c, GivesTheValuesOfRfc3720) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(Crc32c, IsTheSameByInstructionAndByTable) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(Crc32c(bytes), Crc32cByTable(bytes)) << i;
    bytes += static_cast<char>(i * 37);
  }
}

class TfRecordFraming : public IoTest {
 protected:
  static std::vector<std::string> Numbers(int count) {
    std::vector<std::string> records;
    for (int i = 0; i < count; ++i)
      records.push_back(std::string(i % 7, 'x') + std::to_string(i));
    return records;
  }
  static std::string Frame(const std::vector<std::string>& records) {
    std::string bytes;
    for (const auto& record : records) AppendRecord(record, &bytes);
    return bytes;
  }
  arrow::Result<std::vector<std::string>> Read(const std::string& path, int64_t begin,
                                               int64_t end, int64_t block_bytes) const {
    const Split split{.path = path, .begin = begin, .end = end};
    ARROW_ASSIGN_OR_RAISE(auto input, RecordInput::Open(split, std::nullopt, block_bytes,
                                                        context_->memory_pool()));
    std::vector<std::string> records;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto record, input.Next());
      if (!record.has_value()) return records;
      records.emplace_back(*record);
    }
  }
  arrow::Result<std::vector<int64_t>> Starts(const std::string& path,
                                             int64_t target) const {
    ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
    ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
    int64_t bytes_read = 0;
    return FindTfRecordStarts(*file, size, target, arrow::StopToken::Unstoppable(),
                              &bytes_read);
  }
};

TEST_F(TfRecordFraming, RoundTripsInBlocksOfAnySize) {
  const auto records = Numbers(100);
  const auto bytes = Frame(records);
  const auto path = Write("a.tfrecord", bytes);
  for (const int64_t block_bytes : {1, 13, 64, 1 << 20}) {
    ASSERT_OK_AND_ASSIGN(const auto found,
                         Read(path, 0, static_cast<int64_t>(bytes.size()), block_bytes));
    EXPECT_THAT(found, ElementsAreArray(records)) << block_bytes;
  }
}

TEST_F(TfRecordFraming, SplitsGiveAllRecordsOnceForEveryTarget) {
  auto records = Numbers(50);
  records.push_back(std::string(10000, 'l'));  // longer than a block
  records.push_back("last");
  const auto bytes = Frame(records);
  const auto path = Write("a.tfrecord", bytes);
  for (int64_t target = 1; target < static_cast<int64_t>(bytes.size()) + 2;
       target += 17) {
    ASSERT_OK_AND_ASSIGN(auto starts, Starts(path, target));
    starts.push_back(static_cast<int64_t>(bytes.size()));
    std::vector<std::string> found;
    int64_t begin = 0;
    for (const int64_t end : starts) {
      ASSERT_OK_AND_ASSIGN(const auto piece, Read(path, begin, end, 64));
      found.insert(found.end(), piece.begin(), piece.end());
      begin = end;
    }
    EXPECT_THAT(found, ElementsAreArray(records)) << target;
  }
}

TEST_F(TfRecordFraming, RejectsImpossibleLengths) {
  std::string bytes(8, '\xff');
  const uint32_t crc = MaskedCrc32c(bytes);
  bytes.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
  EXPECT_EQ(ReadRecordLength(bytes.data()), std::nullopt);
  bytes.append(100, 'x');
  const auto path = Write("huge.tfrecord", bytes);
  EXPECT_FAILS(Invalid, "byte 0", Starts(path, 1).status());
  EXPECT_FAILS(Invalid, "huge.tfrecord",
               Read(path, 0, static_cast<int64_t>(bytes.size()), 64).status());
}

TEST_F(TfRecordFraming, NamesTheByteOfATruncatedRecord) {
  const auto bytes = Frame({"first", "second"});
  for (size_t size = 22; size < bytes.size(); ++size) {
    const auto path = Write("cut.tfrecord", bytes.substr(0, size));
    EXPECT_FAILS(Invalid, "byte 21", Starts(path, 1).status());
    EXPECT_FAILS(Invalid, "byte 21",
                 Read(path, 0, static_cast<int64_t>(size), 64).status());
  }
}

TEST_F(TfRecordFraming, EveryChangedByteIsDetected) {
  const auto bytes = Frame({"some data"});
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    const auto path = Write("damaged.tfrecord", damaged);
    EXPECT_FAILS(Invalid, "damaged.tfrecord",
                 Read(path, 0, static_cast<int64_t>(bytes.size()), 64).status());
  }
}

TEST_F(TfRecordFraming, AnEmptyFileHasNoRecords) {
  const auto path = Write("empty.tfrecord", "");
  ASSERT_OK_AND_ASSIGN(const auto starts, Starts(path, 1));
  EXPECT_THAT(starts, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const auto records, Read(path, 0, 0, 64));
  EXPECT_THAT(records, IsEmpty());
}

}  // namespace
}  // namespace xshards::io
