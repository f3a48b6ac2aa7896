// SPDX-License-Identifier: Apache-2.0
#include "io/csv/convert/text_converter.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/csv/convert/validity_builder.h"
#include "io/csv/parse/unquote.h"
#include "io/text/buffer_sizing.h"

namespace xshards::io {
namespace {

class TextColumn final : public CsvColumn {
 public:
  TextColumn(std::shared_ptr<arrow::DataType> type, const CsvValues* values,
             arrow::MemoryPool* pool)
      : type_(std::move(type)), values_(values), pool_(pool) {}

  arrow::Status Start(int64_t capacity) override {
    size_ = 0;
    num_bytes_ = 0;
    capacity_ = capacity;
    text_.reset();
    validity_.Start(capacity);
    ARROW_ASSIGN_OR_RAISE(
        offsets_, arrow::AllocateResizableBuffer(
                      (capacity + 1) * static_cast<int64_t>(sizeof(int64_t)), pool_));
    reinterpret_cast<int64_t*>(offsets_->mutable_data())[0] = 0;
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> Append(const CsvRows& rows, int64_t column, int64_t from,
                                int64_t to) override {
    ARROW_RETURN_NOT_OK(Reserve(FieldBytes(rows, column, from, to), to - from));
    auto* offsets = reinterpret_cast<int64_t*>(offsets_->mutable_data()) + size_ + 1;
    char* const begin = reinterpret_cast<char*>(text_->mutable_data());
    char* out = begin + num_bytes_;
    const MissingValues& missing = values_->missing();
    const auto fields = rows.FieldsOf(column);
    for (int64_t row = from; row < to; ++row, ++offsets) {
      const std::string_view field = fields.Field(row);
      // There is padding after both, so that values are copied in full vector moves; but
      // not after the empty fields that fill short records.
      char* end = out + field.size();
      if (values_->IsEscaped(field)) {
        end = CopyUnescaped(field, out);
      } else if (field.size() > kMove) {
        std::memcpy(out, field.data(), field.size());
      } else if (!field.empty()) {
        std::memcpy(out, field.data(), kMove);
      }
      if (missing.Contains({out, static_cast<size_t>(end - out)})) {
        ARROW_RETURN_NOT_OK(validity_.SetMissing(size_ + (row - from), pool_));
      } else {
        out = end;
      }
      *offsets = out - begin;
    }
    size_ += to - from;
    num_bytes_ = out - begin;
    return to;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    const int64_t offset_bytes = (size_ + 1) * static_cast<int64_t>(sizeof(int64_t));
    GiveBackTail(offsets_.get(), offset_bytes);
    ARROW_RETURN_NOT_OK(offsets_->Resize(offset_bytes));
    if (text_ == nullptr) ARROW_RETURN_NOT_OK(Reserve(0, 0));
    GiveBackTail(text_.get(), num_bytes_);
    ARROW_RETURN_NOT_OK(text_->Resize(num_bytes_));
    rows_before_ += size_;
    bytes_before_ += num_bytes_;
    const int64_t num_missing = validity_.num_missing();
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_, size_, {validity_.Finish(), std::move(offsets_), std::move(text_)},
        num_missing));
  }

 private:
  // Short values are copied at once, together with the bytes after them.
  static constexpr size_t kMove = 32;

  // Write the value of a quoted or escaped field, and return its end.
  char* CopyUnescaped(std::string_view field, char* out) {
    if (const auto quote = values_->only_quotes(); quote.has_value()) {
      return unquote_(field.data(), field.size(), *quote, out);
    }
    const auto value = values_->Unescape(field, &scratch_);
    std::memcpy(out, value.data(), value.size());
    return out + value.size();
  }

  // The length of some fields, which is at least that of their values.
  static int64_t FieldBytes(const CsvRows& rows, int64_t column, int64_t from,
                            int64_t to) {
    const auto [text, ends, firsts] = rows.FieldsOf(column);
    int64_t num_bytes = 0;
    for (int64_t row = from; row < to; ++row) {
      const uint32_t* const end = ends + firsts[row];
      num_bytes += *end - (end[-1] + 1);
    }
    return num_bytes;
  }

  // Make room for rows of `num_bytes`. Room for all rows, if the others are like those so
  // far: text is not moved later, and the excess is returned.
  arrow::Status Reserve(int64_t num_bytes, int64_t num_rows) {
    const int64_t needed = num_bytes_ + num_bytes + static_cast<int64_t>(kUnquotePadding);
    if (text_ != nullptr && text_->size() >= needed) return arrow::Status::OK();
    const int64_t rows_seen = std::max<int64_t>(rows_before_ + size_ + num_rows, 1);
    const double row_bytes = static_cast<double>(bytes_before_ + num_bytes_ + num_bytes) /
                             static_cast<double>(rows_seen);
    const int64_t rows_left = capacity_ - size_ - num_rows;
    const auto expected = static_cast<int64_t>(
        1.05 * row_bytes * static_cast<double>(std::max<int64_t>(rows_left, 0)));
    const int64_t capacity = PackedBytes(needed + expected);
    if (text_ == nullptr) {
      return arrow::AllocateResizableBuffer(capacity, pool_).Value(&text_);
    }
    return text_->Resize(capacity, /*shrink_to_fit=*/false);
  }

  const std::shared_ptr<arrow::DataType> type_;
  const CsvValues* const values_;
  arrow::MemoryPool* const pool_;
  const CopyUnquoted unquote_ = CsvUnquoter(BestCsvTarget());
  std::shared_ptr<arrow::ResizableBuffer> offsets_;
  std::shared_ptr<arrow::ResizableBuffer> text_;
  Validity validity_;
  int64_t capacity_ = 0;
  int64_t size_ = 0;
  int64_t num_bytes_ = 0;
  int64_t rows_before_ = 0;  // of other arrays of the column
  int64_t bytes_before_ = 0;
  std::string scratch_;
};

}  // namespace

std::unique_ptr<CsvColumn> MakeTextColumn(const std::shared_ptr<arrow::DataType>& type,
                                          const CsvValues* values,
                                          arrow::MemoryPool* pool) {
  return std::make_unique<TextColumn>(type, values, pool);
}

}  // namespace xshards::io
