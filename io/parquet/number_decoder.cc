// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <arrow/buffer.h>

#include "io/parquet/bit_unpack.h"
#include "io/parquet/decoder_base_internal.h"
#include "io/parquet/dictionary_encoding.h"

namespace xshards::io {
namespace {

/// Numbers, as unsigned ones of their size: their meaning does not matter here.
template <typename T>
class NumberDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  arrow::Status Begin(int64_t num_rows, int64_t /*max_bytes*/) override {
    return arrow::AllocateBuffer(num_rows * int64_t{sizeof(T)}, pool_).Value(&values_);
  }

  arrow::Status SetDictionary(const parquet::DictionaryPage& page) override {
    const int64_t size = page.num_values();
    if (size < 0 || size > page.size() / int64_t{sizeof(T)}) {
      return arrow::Status::Invalid("Dictionary page is truncated");
    }
    dictionary_.assign(static_cast<size_t>(size) + 1, T{0});
    std::memcpy(dictionary_.data(), page.data(), static_cast<size_t>(size) * sizeof(T));
    return arrow::Status::OK();
  }

  int64_t dictionary_size() const override {
    return static_cast<int64_t>(dictionary_.size()) - 1;
  }

  arrow::Status WriteIndices(const uint32_t* indices, const Rows& rows) override {
    T* const out = values_->template mutable_data_as<T>() + rows.begin;
    const T* const dictionary = dictionary_.data();
    if (rows.bitmap == nullptr) {
      for (int64_t i = 0; i < rows.count; ++i) out[i] = dictionary[indices[i]];
    } else {
      Spread(rows, out, [=](int64_t i) { return dictionary[indices[i]]; });
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadPlain(const Rows& rows) override {
    const int64_t num_bytes = rows.num_valid * int64_t{sizeof(T)};
    if (num_bytes > pages_.num_value_bytes()) {
      return arrow::Status::Invalid("Data page is truncated");
    }
    T* const out = values_->template mutable_data_as<T>() + rows.begin;
    const uint8_t* const in = pages_.values();
    if (rows.bitmap == nullptr) {
      std::memcpy(out, in, static_cast<size_t>(num_bytes));
    } else {
      Spread(rows, out, [=, num_valid = rows.num_valid](int64_t i) {
        T value{0};
        if (i < num_valid) std::memcpy(&value, in + i * int64_t{sizeof(T)}, sizeof(T));
        return value;
      });
    }
    pages_.Skip(num_bytes);
    return arrow::Status::OK();
  }

  arrow::Status SkipPlain(int64_t num_values) override {
    const int64_t num_bytes = num_values * int64_t{sizeof(T)};
    if (num_bytes > pages_.num_value_bytes()) {
      return arrow::Status::Invalid("Data page is truncated");
    }
    pages_.Skip(num_bytes);
    return arrow::Status::OK();
  }

  arrow::Result<arrow::BufferVector> Finish() override {
    return arrow::BufferVector{std::move(values_)};
  }

  std::unique_ptr<arrow::Buffer> values_;
  // One more entry: something to read for null rows.
  std::vector<T> dictionary_ = {T{0}};
};

}  // namespace

std::unique_ptr<FlatColumn> MakeNumberDecoder(FlatPages pages,
                                              std::shared_ptr<arrow::DataType> type,
                                              int num_bits, arrow::MemoryPool* pool) {
  if (num_bits == 32) {
    return std::make_unique<NumberDecoder<uint32_t>>(std::move(pages), std::move(type),
                                                     pool);
  }
  return std::make_unique<NumberDecoder<uint64_t>>(std::move(pages), std::move(type),
                                                   pool);
}

}  // namespace xshards::io
