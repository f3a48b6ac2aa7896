// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/plan/byte_codec.h"
#include "xshards/plan/format_options.h"

namespace xshards::io {

// Options are structs that name each of their members once:
//
//   struct SplitSize {
//     int num_partitions = 0;
//     int64_t block_size = 0;
//
//     template <typename Options, typename Visit>
//     static void VisitMembers(Options& options, const Visit& visit) {
//       visit("num_partitions", options.num_partitions);
//       visit("block_size", options.block_size);
//     }
//   };
//
// The codec below uses the order of the members, the binding to Python (see
// python/src/bind/options.h) by their names. An enumeration among them has a function
// LastValue(its type), beyond which values are refused.

/// Writes options as bytes.
class OptionWriter {
 public:
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                  std::is_same_v<T, std::string>) {
      bytes_.Put(value);
    } else {
      T::VisitMembers(value,
                      [this](const char*, const auto& member) { this->Put(member); });
    }
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    bytes_.Put(value.has_value());
    if (value.has_value()) Put(*value);
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    bytes_.Put(static_cast<int64_t>(values.size()));
    for (const auto& value : values) Put(value);
  }
  template <typename First, typename Second>
  void Put(const std::pair<First, Second>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <typename Key, typename Value>
  void Put(const std::map<Key, Value>& values) {
    bytes_.Put(static_cast<int64_t>(values.size()));
    for (const auto& [key, value] : values) {
      Put(key);
      Put(value);
    }
  }
  void Put(const std::shared_ptr<arrow::Schema>& schema) {
    bytes_.Put(schema != nullptr);
    if (schema == nullptr || !status_.ok()) return;
    auto bytes = arrow::ipc::SerializeSchema(*schema);
    status_ = bytes.status();
    if (bytes.ok()) bytes_.Put(**bytes);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Finish() {
    ARROW_RETURN_NOT_OK(status_);
    return bytes_.Finish();
  }

 private:
  ByteWriter bytes_;
  arrow::Status status_;
};

/// Reads them back; trusts nothing.
class OptionReader {
 public:
  explicit OptionReader(std::shared_ptr<arrow::Buffer> bytes)
      : bytes_(std::move(bytes)) {}

  template <typename T>
  arrow::Status Get(T* value) {
    if constexpr (std::is_enum_v<T>) {
      ARROW_RETURN_NOT_OK(bytes_.Get(value));
      if (*value <= LastValue(T{})) return arrow::Status::OK();
      return arrow::Status::Invalid("Encoded options have an unknown value: ",
                                    static_cast<int64_t>(*value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return bytes_.Get(value);
    } else {
      arrow::Status status;
      T::VisitMembers(*value, [&](const char*, auto& member) {
        if (status.ok()) status = Get(&member);
      });
      return status;
    }
  }
  template <typename T>
  arrow::Status Get(std::optional<T>* value) {
    bool present = false;
    ARROW_RETURN_NOT_OK(bytes_.Get(&present));
    value->reset();
    return present ? Get(&value->emplace()) : arrow::Status::OK();
  }
  template <typename T>
  arrow::Status Get(std::vector<T>* values) {
    int64_t count = 0;
    ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
    values->resize(static_cast<size_t>(count));
    for (auto& value : *values) ARROW_RETURN_NOT_OK(Get(&value));
    return arrow::Status::OK();
  }
  template <typename First, typename Second>
  arrow::Status Get(std::pair<First, Second>* pair) {
    ARROW_RETURN_NOT_OK(Get(&pair->first));
    return Get(&pair->second);
  }
  template <typename Key, typename Value>
  arrow::Status Get(std::map<Key, Value>* values) {
    int64_t count = 0;
    ARROW_RETURN_NOT_OK(bytes_.GetCount(&count));
    values->clear();
    for (int64_t i = 0; i < count; ++i) {
      Key key{};
      ARROW_RETURN_NOT_OK(Get(&key));
      ARROW_RETURN_NOT_OK(Get(&(*values)[std::move(key)]));
    }
    return arrow::Status::OK();
  }
  arrow::Status Get(std::shared_ptr<arrow::Schema>* schema) {
    bool present = false;
    ARROW_RETURN_NOT_OK(bytes_.Get(&present));
    schema->reset();
    if (!present) return arrow::Status::OK();
    std::shared_ptr<arrow::Buffer> encoded;
    ARROW_RETURN_NOT_OK(bytes_.Get(&encoded));
    arrow::io::BufferReader stream(std::move(encoded));
    arrow::ipc::DictionaryMemo dictionaries;
    return arrow::ipc::ReadSchema(&stream, &dictionaries).Value(schema);
  }

  arrow::Status ExpectEnd() const { return bytes_.ExpectEnd(); }

 private:
  ByteReader bytes_;
};

/// Options of one format in a plan.
template <typename Options>
class XSHARDS_EXPORT TypedOptions final : public FormatOptions {
 public:
  explicit TypedOptions(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Encode() const override {
    OptionWriter writer;
    writer.Put(options_);
    return writer.Finish();
  }

 private:
  const Options options_;
};

template <typename Options>
FormatOptionsPointer MakeOptions(Options options) {
  return std::make_shared<const TypedOptions<Options>>(std::move(options));
}

/// The options of a plan as the type that its format has: the object itself where the
/// plan was made in this process, else decoded and validated.
template <typename Options>
arrow::Result<std::shared_ptr<const Options>> OptionsOf(
    const FormatOptionsPointer& options) {
  if (options == nullptr) return std::make_shared<const Options>();
  if (const auto typed =
          std::dynamic_pointer_cast<const TypedOptions<Options>>(options)) {
    return std::shared_ptr<const Options>(typed, &typed->options());
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, options->Encode());
  OptionReader reader(std::move(bytes));
  auto decoded = std::make_shared<Options>();
  ARROW_RETURN_NOT_OK(reader.Get(decoded.get()));
  ARROW_RETURN_NOT_OK(reader.ExpectEnd());
  ARROW_RETURN_NOT_OK(decoded->Validate());
  return decoded;
}

}  // namespace xshards::io
