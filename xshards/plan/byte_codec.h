// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards {

/// Appends plain values to bytes, little endian. Each call has a matching one in
/// ByteReader.
class ByteWriter {
 public:
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void Put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Put(const std::string& value) {
    Put(static_cast<int64_t>(value.size()));
    bytes_.append(value);
  }
  void Put(const arrow::Buffer& value) {
    Put(value.size());
    bytes_.append(reinterpret_cast<const char*>(value.data()),
                  static_cast<size_t>(value.size()));
  }
  void Put(const std::vector<std::string>& values) {
    Put(static_cast<int64_t>(values.size()));
    for (const auto& value : values) Put(value);
  }
  void Put(const std::vector<int32_t>& values) {
    Put(static_cast<int64_t>(values.size()));
    for (const int32_t value : values) Put(value);
  }
  std::shared_ptr<arrow::Buffer> Finish() {
    return arrow::Buffer::FromString(std::move(bytes_));
  }

 private:
  std::string bytes_;
};

/// Reads them back. Every read is checked: bytes from another process may be truncated or
/// foreign.
class ByteReader {
 public:
  explicit ByteReader(std::shared_ptr<arrow::Buffer> bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  arrow::Status Get(T* out) {
    ARROW_RETURN_NOT_OK(Need(sizeof(T)));
    if constexpr (std::is_same_v<T, bool>) {
      *out = bytes_->data()[position_] != 0;
    } else {
      std::memcpy(out, bytes_->data() + position_, sizeof(T));
    }
    position_ += static_cast<int64_t>(sizeof(T));
    return arrow::Status::OK();
  }
  arrow::Status Get(std::string* out) {
    std::shared_ptr<arrow::Buffer> bytes;
    ARROW_RETURN_NOT_OK(Get(&bytes));
    *out = bytes->ToString();
    return arrow::Status::OK();
  }
  /// Zero copy: a slice of the bytes being read.
  arrow::Status Get(std::shared_ptr<arrow::Buffer>* out) {
    int64_t length = 0;
    ARROW_RETURN_NOT_OK(GetCount(&length));
    *out = arrow::SliceBuffer(bytes_, position_, length);
    position_ += length;
    return arrow::Status::OK();
  }
  arrow::Status Get(std::vector<std::string>* out) {
    int64_t count = 0;
    ARROW_RETURN_NOT_OK(GetCount(&count));
    out->resize(static_cast<size_t>(count));
    for (auto& value : *out) ARROW_RETURN_NOT_OK(Get(&value));
    return arrow::Status::OK();
  }
  arrow::Status Get(std::vector<int32_t>* out) {
    int64_t count = 0;
    ARROW_RETURN_NOT_OK(GetCount(&count));
    out->resize(static_cast<size_t>(count));
    for (auto& value : *out) ARROW_RETURN_NOT_OK(Get(&value));
    return arrow::Status::OK();
  }
  /// A count of items of at least one byte each: more than the remaining bytes is an
  /// error, before anything is allocated.
  arrow::Status GetCount(int64_t* out) {
    ARROW_RETURN_NOT_OK(Get(out));
    if (*out < 0) return Cut();
    return Need(static_cast<size_t>(*out));
  }
  arrow::Status ExpectEnd() const {
    if (position_ == bytes_->size()) return arrow::Status::OK();
    return arrow::Status::Invalid("Encoded fragment has ", bytes_->size() - position_,
                                  " bytes too many");
  }

 private:
  arrow::Status Need(size_t length) const {
    if (static_cast<int64_t>(length) <= bytes_->size() - position_) {
      return arrow::Status::OK();
    }
    return Cut();
  }
  arrow::Status Cut() const {
    return arrow::Status::Invalid("Encoded fragment is truncated or damaged at byte ",
                                  position_, " of ", bytes_->size());
  }

  std::shared_ptr<arrow::Buffer> bytes_;
  int64_t position_ = 0;
};

}  // namespace xshards
