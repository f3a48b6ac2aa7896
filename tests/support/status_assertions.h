// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <gtest/gtest.h>

namespace xshards::testing {

inline const arrow::Status& StatusOf(const arrow::Status& status) { return status; }
template <typename T>
const arrow::Status& StatusOf(const arrow::Result<T>& result) {
  return result.status();
}

}  // namespace xshards::testing

#define XSHARDS_CONCAT_INNER(a, b) a##b
#define XSHARDS_CONCAT(a, b) XSHARDS_CONCAT_INNER(a, b)

#define ASSERT_OK(expression)                                             \
  do {                                                                    \
    const auto& outcome_ = (expression);                                  \
    ASSERT_TRUE(outcome_.ok()) << #expression << ": "                     \
                               << ::xshards::testing::StatusOf(outcome_); \
  } while (false)

#define EXPECT_OK(expression)                                             \
  do {                                                                    \
    const auto& outcome_ = (expression);                                  \
    EXPECT_TRUE(outcome_.ok()) << #expression << ": "                     \
                               << ::xshards::testing::StatusOf(outcome_); \
  } while (false)

#define ASSERT_OK_AND_ASSIGN(target, expression)                            \
  auto XSHARDS_CONCAT(result_, __LINE__) = (expression);                    \
  ASSERT_TRUE(XSHARDS_CONCAT(result_, __LINE__).ok())                       \
      << #expression << ": " << XSHARDS_CONCAT(result_, __LINE__).status(); \
  target = std::move(XSHARDS_CONCAT(result_, __LINE__)).ValueUnsafe()

/// The expression fails with this status code and its message contains the text.
#define EXPECT_FAILS(code, text, expression)                               \
  do {                                                                     \
    const auto& outcome_ = (expression);                                   \
    EXPECT_FALSE(outcome_.ok()) << #expression << " was expected to fail"; \
    const auto& status_ = ::xshards::testing::StatusOf(outcome_);          \
    EXPECT_TRUE(status_.Is##code()) << status_;                            \
    EXPECT_NE(status_.message().find(text), std::string::npos) << status_; \
  } while (false)
