// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/dictionary_encoding.h"

#include <algorithm>

#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "io/parquet/file.h"
#include "tests/io/scan_fixture.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::io {
namespace {

class DictionaryChunk : public IoTest {
 protected:
  /// 1000 rows in row groups of 300: `few` of seven texts, every fifth missing, and
  /// `many` that all differ.
  std::string WriteTexts(const std::string& name, bool use_dictionary = true,
                         int64_t dictionary_limit = 1 << 20) {
    arrow::LargeStringBuilder few;
    arrow::LargeStringBuilder many;
    for (int row = 0; row < 1000; ++row) {
      const std::string text = std::string(static_cast<size_t>(row % 7 * 5), 'x');
      EXPECT_TRUE((row % 5 == 0 ? few.AppendNull() : few.Append(text)).ok());
      EXPECT_TRUE(many.Append("text " + std::to_string(row)).ok());
    }
    const auto table =
        arrow::Table::Make(arrow::schema({arrow::field("few", arrow::large_utf8()),
                                          arrow::field("many", arrow::large_utf8())}),
                           {few.Finish().ValueOrDie(), many.Finish().ValueOrDie()});
    parquet::WriterProperties::Builder properties;
    properties.dictionary_pagesize_limit(dictionary_limit)
        ->data_pagesize(256)
        ->write_batch_size(16);
    if (!use_dictionary) properties.disable_dictionary();
    const auto path = directory_.File(name);
    auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    EXPECT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), file, 300,
                                         properties.build()));
    EXPECT_OK(file->Close());
    return path;
  }
  std::unique_ptr<parquet::ColumnChunkMetaData> Chunk(const std::string& path,
                                                      int column) {
    auto file = ParquetFile::Open(path, arrow::default_memory_pool()).ValueOrDie();
    group_ = file->metadata().RowGroup(0);
    file_ = std::move(file);
    return group_->ColumnChunk(column);
  }
  static std::vector<std::string> EncodedNames(const std::vector<Partition>& partitions) {
    std::vector<std::string> names;
    const auto schema = UnifySchemas(partitions).ValueOrDie();
    for (const auto& field : schema->fields()) {
      if (IsEncoded(*field)) names.push_back(field->name());
    }
    return names;
  }

  std::unique_ptr<ParquetFile> file_;
  std::unique_ptr<parquet::RowGroupMetaData> group_;
};

TEST_F(DictionaryChunk, KnowsWhereAWriterGaveUp) {
  EXPECT_TRUE(IsAllDictionary(*Chunk(WriteTexts("all.parquet"), 0)));
  EXPECT_TRUE(IsAllDictionary(*Chunk(WriteTexts("all.parquet"), 1)));
  EXPECT_FALSE(IsAllDictionary(*Chunk(WriteTexts("plain.parquet", false), 0)));
  // Beyond the limit the rest is plain.
  EXPECT_FALSE(IsAllDictionary(*Chunk(WriteTexts("some.parquet", true, 512), 1)));
}

TEST_F(DictionaryChunk, KnowsTheSizeOfADictionary) {
  const int64_t few = DictionaryBytes(*Chunk(WriteTexts("all.parquet"), 0));
  const int64_t many = DictionaryBytes(*Chunk(WriteTexts("all.parquet"), 1));
  EXPECT_GT(few, 0);
  EXPECT_GT(many, 4 * few);
  EXPECT_EQ(DictionaryBytes(*Chunk(WriteTexts("plain.parquet", false), 0)), -1);
}

TEST_F(DictionaryChunk, KeepsDictionariesOfFewValuesInTheEngine) {
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadParquet(context_, WriteTexts("all.parquet")));
  const auto cached = shards.Cache();
  ASSERT_OK_AND_ASSIGN(const auto partitions, cached.Collect());
  EXPECT_EQ(EncodedNames(partitions), std::vector<std::string>{"few"});
  const auto plain = Rows(shards);
  const auto kept = Rows(cached);
  ASSERT_NE(plain, nullptr);
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->Equals(*plain)) << kept->ToString();
  EXPECT_OK(kept->ValidateFull());
}

TEST_F(DictionaryChunk, KeepsNoneThatAFileDoesNotHave) {
  ASSERT_OK_AND_ASSIGN(
      const auto shards,
      ReadParquet(context_, std::vector<std::string>{WriteTexts("a.parquet"),
                                                     WriteTexts("b.parquet", false)}));
  ASSERT_OK_AND_ASSIGN(const auto partitions, shards.Cache().Collect());
  EXPECT_TRUE(EncodedNames(partitions).empty());
}

TEST_F(DictionaryChunk, RefusesAFileThatWasReplacedByAPlainOne) {
  const auto path = WriteTexts("a.parquet");
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, path));
  WriteTexts("a.parquet", false);
  EXPECT_FAILS(IOError, "unchanged since its scan was planned", shards.Cache().Collect());
}

TEST_F(DictionaryChunk, SkipsRowsByThePageIndexAllTheSame) {
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadParquet(context_, WriteTexts("all.parquet")));
  const auto filter = col("many") == lit("text 777");
  const auto found = Rows(shards.Filter(filter).Cache());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(Text(*found, "many"), "[text 777]");
  EXPECT_EQ(found->num_rows(), 1);
  const auto few = Rows(shards.Filter(col("few") == lit("xxxxx")).Cache());
  const auto expected = Rows(shards.Filter(col("few") == lit("xxxxx")));
  ASSERT_NE(few, nullptr);
  EXPECT_GT(few->num_rows(), 100);
  EXPECT_TRUE(few->Equals(*expected));
}

}  // namespace
}  // namespace xshards::io
