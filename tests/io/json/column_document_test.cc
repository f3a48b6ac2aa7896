// SPDX-License-Identifier: Apache-2.0
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

class JsonTable : public IoTest {
 protected:
  bool Holds(const std::string& text) {
    const auto path = Write("test.json", text);
    const auto holds = HoldsJsonColumns(*context_, path);
    EXPECT_TRUE(holds.ok()) << holds.status();
    return holds.ValueOr(false);
  }
};

TEST_F(JsonTable, IsOneObjectOfObjectsAndArrays) {
  EXPECT_TRUE(Holds(R"({"a":{"0":1},"b":[1,"x",{}]})"));
  EXPECT_TRUE(Holds("\xEF\xBB\xBF \n{ \"a\" : {\"0\":1} \r\n}\n \n"));
  EXPECT_TRUE(Holds(R"({"a\"}:1":["}", "\\", "]"]})"));
  EXPECT_TRUE(Holds("{}"));
}

TEST_F(JsonTable, RejectsOtherDocuments) {
  EXPECT_FALSE(Holds(""));
  EXPECT_FALSE(Holds(" \n"));
  EXPECT_FALSE(Holds("[]"));
  EXPECT_FALSE(Holds("[{\"a\":[1]}]"));
  EXPECT_FALSE(Holds(R"({"a":1})"));
  EXPECT_FALSE(Holds(R"({"a":[1],"b":"x"})"));
  EXPECT_FALSE(Holds("{\"a\":[1]}\n{\"a\":[2]}\n"));
  EXPECT_FALSE(Holds("{\"a\":[1]"));
  ASSERT_OK_AND_ASSIGN(const bool folder, HoldsJsonColumns(*context_, directory_.path()));
  EXPECT_FALSE(folder);
  ASSERT_OK_AND_ASSIGN(const bool none,
                       HoldsJsonColumns(*context_, directory_.File("none.json")));
  EXPECT_FALSE(none);
}

TEST_F(JsonTable, IsReadInBlocks) {
  std::string text = "{\"a\":[\"";
  for (int i = 0; i < 100000; ++i) text += "\\\"{";
  EXPECT_TRUE(Holds(text + "\"]}"));
  EXPECT_FALSE(Holds(text + "\"]}x"));
  EXPECT_FALSE(Holds(text + "\"]"));
}

}  // namespace
}  // namespace xshards::io
