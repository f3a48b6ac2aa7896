// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_system.h"

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

TEST(WithoutSecrets, TakesCredentialsOutOfUris) {
  EXPECT_EQ(WithoutSecrets("Could not open 's3://key:se%2Fcret@bucket/a@b.csv?x=y'"),
            "Could not open 's3://bucket/a@b.csv?x=y'");
  EXPECT_EQ(WithoutSecrets("s3://a:b@c and s3://d@e/f"), "s3://c and s3://e/f");
  for (const char* plain :
       {"", "s3://bucket/a@b", "s3://", "://@", "/tmp/a@b:c", "a@b 's3://x' y@z",
        "http://host:80/?q=a@b", "s3://bucket 'a@b'"}) {
    const std::string expected = std::string(plain) == "://@" ? "://" : plain;
    EXPECT_EQ(WithoutSecrets(plain), expected);
  }
}

TEST(BarePath, IsWhatIsBehindTheHost) {
  EXPECT_EQ(BarePath("/a/k=1/b?c%20d"), "/a/k=1/b?c%20d");
  EXPECT_EQ(BarePath("s3://key:a%2Fk%3D2@bucket/a/k%3Dx%252Fy/b%20c.csv?region=a/b"),
            "/a/k=x%2Fy/b c.csv");
  EXPECT_EQ(BarePath("file:///a/b%20c"), "/a/b c");
  EXPECT_EQ(BarePath("s3://bucket"), "");
}

TEST(WithPath, ShowsNoCredentials) {
  const auto status = WithPath(arrow::Status::IOError("s3://key:secret@b/c is not there"),
                               "Could not open", "s3://key:secret@b/c");
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(status.message(), "Could not open 's3://b/c': s3://b/c is not there");
  EXPECT_TRUE(WithPath(arrow::Status::OK(), "Could not open", "x").ok());
}

}  // namespace
}  // namespace xshards::io
