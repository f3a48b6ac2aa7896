// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>

#include "io/parquet/decoder_base_internal.h"
#include "io/parquet/dictionary_encoding.h"
#include "io/parquet/text_check.h"

namespace xshards::io {
namespace {

/// Text as indices into its unchanged dictionary.
class DictionaryDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  arrow::Status Begin(int64_t num_rows, int64_t /*max_bytes*/) override {
    if (dictionary_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(auto none, arrow::MakeEmptyArray(text_type(), pool_));
      dictionary_ = none->data();
    }
    return arrow::AllocateBuffer(num_rows * int64_t{sizeof(int32_t)}, pool_)
        .Value(&places_);
  }

  arrow::Status SetDictionary(const parquet::DictionaryPage& page) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t size, NumTexts(page));
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> offsets,
        arrow::AllocateBuffer((size + 1) * int64_t{sizeof(int64_t)}, pool_));
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> text,
        arrow::AllocateBuffer(page.size() - size * int64_t{sizeof(uint32_t)}, pool_));
    auto* offset = offsets->mutable_data_as<int64_t>();
    *offset = 0;
    ARROW_RETURN_NOT_OK(ForEachText(page, [&](const uint8_t* from, uint32_t length) {
      std::memcpy(text->mutable_data() + *offset, from, length);
      offset[1] = *offset + length;
      ++offset;
    }));
    const std::string_view all(reinterpret_cast<const char*>(text->data()),
                               static_cast<size_t>(offsets->data_as<int64_t>()[size]));
    ARROW_RETURN_NOT_OK(
        CheckUtf8(all, size, [&](int64_t i) { return offsets->data_as<int64_t>()[i]; }));
    dictionary_ = arrow::ArrayData::Make(
        text_type(), size, {nullptr, std::move(offsets), std::move(text)}, 0);
    return arrow::Status::OK();
  }

  int64_t dictionary_size() const override { return dictionary_->length; }

  arrow::Status WriteIndices(const uint32_t* indices, const Rows& rows) override {
    auto* const out = places_->mutable_data_as<uint32_t>() + rows.begin;
    if (rows.bitmap == nullptr) {
      std::memcpy(out, indices, static_cast<size_t>(rows.count) * sizeof(uint32_t));
    } else {
      Spread(rows, out, [=](int64_t i) { return indices[i]; });
    }
    return arrow::Status::OK();
  }

  // Columns that IsAllDictionary() rejects are not read by this.
  arrow::Status ReadPlain(const Rows& /*rows*/) override { return NoDictionary(); }
  arrow::Status SkipPlain(int64_t /*num_values*/) override { return NoDictionary(); }
  static arrow::Status NoDictionary() {
    return arrow::Status::Invalid(
        "PLAIN page in a column chunk declared dictionary-only");
  }

  arrow::Result<arrow::BufferVector> Finish() override {
    return arrow::BufferVector{std::move(places_)};
  }
  std::shared_ptr<arrow::ArrayData> kept_dictionary() const override {
    return dictionary_;
  }

  const std::shared_ptr<arrow::DataType>& text_type() const {
    return static_cast<const arrow::DictionaryType&>(*type_).value_type();
  }

  std::unique_ptr<arrow::Buffer> places_;
  std::shared_ptr<arrow::ArrayData> dictionary_;
};

}  // namespace

std::unique_ptr<FlatColumn> MakeDictionaryDecoder(FlatPages pages,
                                                  std::shared_ptr<arrow::DataType> type,
                                                  arrow::MemoryPool* pool) {
  return std::make_unique<DictionaryDecoder>(std::move(pages), std::move(type), pool);
}

}  // namespace xshards::io
