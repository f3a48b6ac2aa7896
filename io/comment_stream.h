// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// A stream of CSV text without its comments: from the comment character, where it is not
/// in quotes, to the end of the line. Line ends stay, so that lines keep their numbers.
class CommentStream final : public arrow::io::InputStream {
 public:
  CommentStream(std::shared_ptr<arrow::io::InputStream> input, char comment, char sep,
                std::optional<char> quotechar);

  arrow::Result<int64_t> Read(int64_t num_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t num_bytes) override;
  arrow::Status Close() override { return input_->Close(); }
  bool closed() const override { return input_->closed(); }
  arrow::Result<int64_t> Tell() const override { return position_; }

 private:
  enum class State : uint8_t {
    kFieldStart,
    kInField,
    kInQuotes,
    kQuoteInQuotes,
    kInComment
  };

  // Copies what is not comment; returns how much that is.
  int64_t Strip(const char* begin, const char* end, char* out);

  std::shared_ptr<arrow::io::InputStream> input_;
  const char comment_;
  const char sep_;
  const std::optional<char> quotechar_;
  State state_ = State::kFieldStart;
  int64_t position_ = 0;
};

}  // namespace xshards::io
