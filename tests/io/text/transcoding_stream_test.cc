// SPDX-License-Identifier: Apache-2.0
#include "io/text/transcoding_stream.h"

#include <arrow/io/memory.h>

#include "tests/io/csv/csv_fixture.h"

namespace xshards::io {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace)

// Read in pieces of every small size: characters are cut at all places.
arrow::Result<std::string> Decode(const std::string& bytes, TextEncoding encoding,
                                  int64_t piece) {
  TranscodingStream stream(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)),
      encoding, /*position=*/100);
  std::string text;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto got, stream.Read(piece));
    text += std::string_view(*got);
    if (got->size() < piece) return text;
  }
}

TEST(TranscodingStream, GivesUtf8OfAllEncodings) {
  struct Case {
    TextEncoding encoding;
    std::string bytes;
    std::string text;
  };
  const std::string ascii = "plain text, long enough for eight bytes at a time";
  for (const auto& [encoding, bytes, text] : std::vector<Case>{
           {TextEncoding::kLatin1, ascii + "\xE9\x80\xFF", ascii + "é\u0080ÿ"},
           {TextEncoding::kLatin1, "\xE9" + ascii, "é" + ascii},
           {TextEncoding::kCp1252, "\x80 \x9F\xE9", "€ Ÿé"},
           {TextEncoding::kUtf16,
            "\xFF\xFE"
            "a\0\xE9\0"s,
            "aé"},
           {TextEncoding::kUtf16,
            "\xFE\xFF"
            "\0a\x20\xAC"s,
            "a€"},
           {TextEncoding::kUtf16, "\xFF\xFE"s, ""},
           {TextEncoding::kUtf16Le,
            "\xFF\xFE"
            "a\0"s,
            "\uFEFFa"},
           {TextEncoding::kUtf16Le,
            "\x3D\xD8\x00\xDE"
            "b\0"s,
            "😀b"},
           {TextEncoding::kUtf16Be, "\xD8\x3D\xDE\x00\0b"s, "😀b"},
           {TextEncoding::kUtf16, "", ""},
       }) {
    for (int64_t piece = 1; piece < 20; ++piece) {
      ASSERT_OK_AND_ASSIGN(const auto decoded, Decode(bytes, encoding, piece));
      EXPECT_EQ(decoded, text) << NameOf(encoding) << " by " << piece;
    }
  }
}

TEST(TranscodingStream, NamesInvalidBytes) {
  for (const int64_t piece : {1, 5, 1000}) {
    EXPECT_FAILS(Invalid, "Expected text in cp1252, got 0x81 at byte 110, which",
                 Decode("123456789\xE9\x81x", TextEncoding::kCp1252, piece));
    EXPECT_FAILS(Invalid, "utf-16-le, got 0x3d 0xd8 at byte 104",
                 Decode("\xFF\xFE"
                        "b\0\x3D\xD8"
                        "c\0"s,
                        TextEncoding::kUtf16, piece));
    EXPECT_FAILS(Invalid, "begins with a byte order mark",
                 Decode("a\0b\0"s, TextEncoding::kUtf16, piece));
    EXPECT_FAILS(Invalid, "utf-16-le, got 0x3d 0xd8 at byte 100",
                 Decode("\x3D\xD8"s, TextEncoding::kUtf16Le, piece));
    EXPECT_FAILS(Invalid, "utf-16-be, got 0xdc 0x00 at byte 100",
                 Decode("\xDC\0\xD8\0"s, TextEncoding::kUtf16Be, piece));
    EXPECT_FAILS(Invalid, "utf-16-le, got 0x78 at byte 102",
                 Decode("a\0x"s, TextEncoding::kUtf16Le, piece));
  }
}

using CsvEncodings = CsvTest;

TEST_F(CsvEncodings, OneByteEncodingsAreSplitAnywhere) {
  const std::string text = "\xE9,b\n\xE9\xE9\xE9,\"\xFF\n\"\n1,2\n\xE9,x\n";
  for (const auto encoding : {TextEncoding::kLatin1, TextEncoding::kCp1252}) {
    const CsvOptions options{.encoding = encoding};
    const auto table = Read(text, options);
    EXPECT_EQ(Text(*table, "é"), "[ééé,1,é]");
    EXPECT_EQ(Text(*table, "b"), "[ÿ\n,2,x]");
    CheckEverySplit(text, options);
    CsvOptions skipping{.skip_lines = {2}, .encoding = encoding};
    EXPECT_EQ(Text(*Read(text, skipping), "b"), "[ÿ\n,x]");
    CheckEverySplit(text, skipping);
    CheckEverySplit(text, {.skipfooter = 1, .encoding = encoding});
  }
}

TEST_F(CsvEncodings, ErrorsNameTheLineAfterMultiByteCharacters) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100; ++i) text += "\xE9\xE9\xE9,2\n";
  CsvOptions options{.encoding = TextEncoding::kLatin1};
  options.split.block_size = 100;
  EXPECT_FAILS(Invalid, "line 102, saw 3", Error(text + "1,2,3\n", options));
  EXPECT_FAILS(Invalid, "Could not read",
               Error(text + "\x81,2\n", {.encoding = TextEncoding::kCp1252}));
  EXPECT_FAILS(Invalid, "must be ASCII",
               Error("a\n", {.sep = '\xE9', .encoding = TextEncoding::kLatin1}));
}

}  // namespace
}  // namespace xshards::io
