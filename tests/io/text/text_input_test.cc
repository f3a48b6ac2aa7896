// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_input.h"

#include <arrow/io/memory.h>
#include <gtest/gtest.h>

#include "io/fs/file_system.h"
#include "io/options/split_size.h"
#include "io/text/comment_stream.h"
#include "io/text/line_starts.h"
#include "io/text/text_splits.h"
#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

arrow::MemoryPool* Pool() { return arrow::default_memory_pool(); }

class TextInputTest : public ::testing::Test {
 protected:
  xshards::testing::TemporaryDirectory directory_;
};

TEST_F(TextInputTest, BlocksCarryOverUnconsumedBytes) {
  const std::string text = "aaaabbbbccccdd";
  const auto path = directory_.Write("t.txt", text);
  ASSERT_OK_AND_ASSIGN(auto input, TextInput::Open(path, {}, 2, 13, Pool()));
  TextBlocks blocks(std::move(input), 4, Pool());
  std::string seen;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const auto block, blocks.Next());
    // Take two thirds, and all of the last.
    const size_t used = block.is_last ? block.text().size() : block.text().size() * 2 / 3;
    seen += block.text().substr(0, used);
    blocks.Consume(static_cast<int64_t>(used));
    EXPECT_EQ(blocks.position(), static_cast<int64_t>(seen.size()));
    if (block.is_last) break;
  }
  EXPECT_EQ(seen, text.substr(2, 11));
  ASSERT_OK_AND_ASSIGN(const int64_t bytes_read, blocks.BytesRead());
  EXPECT_EQ(bytes_read, 11);
}

TEST_F(TextInputTest, ABlockGrowsWhileNothingIsConsumed) {
  const auto path = directory_.Write("t.txt", std::string(1000, 'x'));
  ASSERT_OK_AND_ASSIGN(auto input, TextInput::Open(path, {}, 0, 1000, Pool()));
  TextBlocks blocks(std::move(input), 10, Pool());
  size_t size = 0;
  while (true) {
    ASSERT_OK_AND_ASSIGN(const auto block, blocks.Next());
    if (block.is_last) {
      EXPECT_EQ(block.text().size(), 1000);
      break;
    }
    EXPECT_GT(block.text().size(), size);
    size = block.text().size();
  }
}

TEST_F(TextInputTest, AnEmptyRangeIsOneEmptyLastBlock) {
  const auto path = directory_.Write("t.txt", "abc");
  ASSERT_OK_AND_ASSIGN(auto input, TextInput::Open(path, {}, 3, 3, Pool()));
  TextBlocks blocks(std::move(input), 10, Pool());
  ASSERT_OK_AND_ASSIGN(const auto block, blocks.Next());
  EXPECT_TRUE(block.is_last);
  EXPECT_EQ(block.text(), "");
}

TEST_F(TextInputTest, CountsLines) {
  const auto path = directory_.Write("t.txt", "a\nb\n\nc");
  for (const auto& [position, line] : {std::pair(0, 1), std::pair(1, 1), std::pair(2, 2),
                                       std::pair(4, 3), std::pair(5, 4)}) {
    ASSERT_OK_AND_ASSIGN(const int64_t number,
                         LineNumber(path, {}, {.begin = position}, Pool()));
    EXPECT_EQ(number, line) << position;
  }
}

std::string Strip(const std::string& text, int64_t read_bytes) {
  CommentStream stream(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(text)), '#',
      ',', '"');
  std::string stripped(text.size(), '\0');
  size_t size = 0;
  while (true) {
    const int64_t got = stream.Read(read_bytes, stripped.data() + size).ValueOrDie();
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  stripped.resize(size);
  return stripped;
}

TEST(CommentStream, DropsCommentsButKeepsLinesAndQuotes) {
  for (const auto& [text, expected] :
       {std::pair("a#b\nc\n", "a\nc\n"), std::pair("#all\n#x", "\n"),
        std::pair("\"#\",1#\"\n2", "\"#\",1\n2"),
        std::pair("\"a\"\"#\"#x\r\n", "\"a\"\"#\"\r\n"), std::pair("a\"#b\"\n", "a\"\n"),
        std::pair("\"x\ny#\"\n", "\"x\ny#\"\n"), std::pair("", "")}) {
    for (const int64_t read_bytes : {1, 2, 100}) {
      EXPECT_EQ(Strip(text, read_bytes), expected) << text;
    }
  }
}

TEST_F(TextInputTest, LineSplitsCoverTheFileAndStartAtLines) {
  std::string text = "\xEF\xBB\xBF";
  for (int i = 0; i < 50; ++i)
    text += std::string(static_cast<size_t>(i % 7), 'x') + "\n";
  const InputFile file{directory_.Write("t.txt", text),
                       static_cast<int64_t>(text.size())};
  for (int64_t target = 1; target < file.size + 10; ++target) {
    ASSERT_OK_AND_ASSIGN(const auto input, OpenFile(file.path));
    ASSERT_OK_AND_ASSIGN(
        const auto starts,
        FindLineStarts(*input, file.size, EvenTargets(0, file.size, target), Pool()));
    int64_t at = 0;
    for (const auto& split : CutAt(file, 0, starts)) {
      EXPECT_EQ(split.begin, at);
      EXPECT_GT(split.end, split.begin);
      EXPECT_TRUE(at == 0 || text[static_cast<size_t>(at) - 1] == '\n');
      at = split.end;
    }
    EXPECT_EQ(at, file.size);
  }
}

}  // namespace
}  // namespace xshards::io
