// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_system.h"

#include <gtest/gtest.h>

namespace xshards::io {
namespace {

TEST(WithoutSecrets, RemovesCredentialsFromUris) {
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

TEST(WithoutSecrets, FindsSecretsWithASlashThatIsNotQuoted) {
  for (const char* uri :
       {"s3://key:a/secret@bucket/x.csv", "s3://key:1/secret@bucket/x.csv",
        "gs://key:/secret/@bucket/x.csv", "https://user:12/secret@bucket/x.csv",
        "https://user:secret/?#@bucket/x.csv", "s3://key:secret@bucket/x.csv",
        "file:///a 's3://key:/secret@bucket/x.csv' b"}) {
    const std::string shown = WithoutSecrets(uri);
    EXPECT_EQ(shown.find("secret"), std::string::npos) << shown;
    EXPECT_NE(shown.find("bucket/x.csv"), std::string::npos) << shown;
  }
  EXPECT_EQ(WithoutSecrets("hdfs://node:8020/a@b.csv"), "hdfs://node:8020/a@b.csv");
}

TEST(WithoutSecrets, HidesSignaturesAndKeysOfQueries) {
  EXPECT_EQ(WithoutSecrets("https://a.b/c?sv=2024&se=2026&sig=secret%3D&sp=r rest"),
            "https://a.b/c?sv=2024&se=2026&sig=***&sp=r rest");
  EXPECT_EQ(WithoutSecrets("s3://b/c?region=eu&secret_key=secret&Access_Key=secret"),
            "s3://b/c?region=eu&secret_key=***&Access_Key=***");
  EXPECT_EQ(WithoutSecrets("'https://b/c?X-Amz-Signature=secret'"),
            "'https://b/c?X-Amz-Signature=***'");
  EXPECT_EQ(WithoutSecrets("s3://b?endpoint_override=http%3A%2F%2Fu%3Asecret%40h"),
            "s3://b?endpoint_override=***");
}

TEST(CheckSecretsQuoted, RefusesASlashInAPassword) {
  for (const char* uri : {"s3://key:a/secret@bucket/x", "s3://key:12/secret@bucket/x",
                          "https://user:a/secret@host/x", "gs://a:b?secret@host/x"}) {
    const auto status = CheckSecretsQuoted(uri);
    EXPECT_TRUE(status.IsInvalid()) << uri;
    EXPECT_EQ(status.message().find("secret@"), std::string::npos) << status;
    EXPECT_FALSE(Locate(uri).ok());
  }
  for (const char* uri :
       {"s3://key:a%2Fsecret@bucket/x@y", "http://host:80/a@b", "s3://bucket/a@b",
        "hdfs://node:8020/a@b", "/a:b/c@d", "s3://bucket/x?endpoint_override=a:1"}) {
    EXPECT_TRUE(CheckSecretsQuoted(uri).ok()) << uri;
  }
}

TEST(BarePath, IsThePathAfterTheHost) {
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
  const std::string odd = "s3://key:a 'secret\" /x@b/c";
  EXPECT_EQ(WithPath(arrow::Status::IOError(odd + " is not there"), "Could not open", odd)
                .message(),
            "Could not open 's3://b/c': s3://b/c is not there");
}

}  // namespace
}  // namespace xshards::io
