// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <arrow/array/util.h>
#include <arrow/buffer.h>

#include "io/parquet/decoder_base_internal.h"
#include "io/parquet/dictionary_encoding.h"
#include "io/parquet/text_check.h"

namespace xshards::io {
namespace {

// Padding after text that is copied sixteen bytes at a time.
constexpr int64_t kTextPadding = 16;

/// Text and bytes, with offsets of 64 bits.
class TextDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  struct Entry {
    uint32_t offset = 0;
    uint32_t length = 0;
  };

  arrow::Status Begin(int64_t num_rows, int64_t max_bytes) override {
    max_bytes_ = max_bytes;
    ARROW_ASSIGN_OR_RAISE(
        offsets_,
        arrow::AllocateBuffer((num_rows + 1) * int64_t{sizeof(int64_t)}, pool_));
    offsets_->mutable_data_as<int64_t>()[0] = 0;
    rows_to_come_ = num_rows;
    size_ = 0;
    return arrow::AllocateResizableBuffer(0, pool_).Value(&text_);
  }

  bool IsFull() const override { return size_ >= max_bytes_; }

  // A few rows of a long text at a time: all of a chunk may be the longest.
  int64_t MostRows() const override {
    if (!pages_.has_indices() || longest_ == 0) return kChunkRows;
    return std::clamp<int64_t>((max_bytes_ - size_) / longest_, 1, kChunkRows);
  }

  arrow::Status SetDictionary(const parquet::DictionaryPage& page) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t size, NumTexts(page));
    entries_.assign(static_cast<size_t>(size) + 1, Entry{});
    dictionary_.clear();
    dictionary_.reserve(static_cast<size_t>(page.size() + kTextPadding));
    longest_ = 0;
    Entry* entry = entries_.data();
    ARROW_RETURN_NOT_OK(ForEachText(page, [&](const uint8_t* text, uint32_t length) {
      *entry++ = {static_cast<uint32_t>(dictionary_.size()), length};
      dictionary_.insert(dictionary_.end(), text, text + length);
      longest_ = std::max<int64_t>(longest_, length);
    }));
    const auto checked =
        Check(dictionary_.data(), std::ssize(dictionary_), size,
              [this](int64_t i) { return entries_[static_cast<size_t>(i)].offset; });
    dictionary_.resize(dictionary_.size() + kTextPadding);
    return checked;
  }

  int64_t dictionary_size() const override {
    return static_cast<int64_t>(entries_.size()) - 1;
  }

  arrow::Status WriteIndices(const uint32_t* indices, const Rows& rows) override {
    if (size_ + rows.num_valid * longest_ + kTextPadding > text_->size()) {
      int64_t num_bytes = 0;
      for (int64_t i = 0; i < rows.num_valid; ++i) {
        num_bytes += entries_[indices[i]].length;
      }
      ARROW_RETURN_NOT_OK(Reserve(num_bytes, rows.count));
    }
    // Local copies: the compiler must assume that writes may alias the members.
    int64_t* const offsets = offsets_->mutable_data_as<int64_t>() + rows.begin + 1;
    const Entry* const entries = entries_.data();
    const uint8_t* const dictionary = dictionary_.data();
    uint8_t* const out = text_->mutable_data();
    int64_t size = size_;
    const auto append = [&](Entry entry) {
      // Copying sixteen bytes at once is cheaper than copying the exact length.
      std::memcpy(out + size, dictionary + entry.offset, 16);
      if (entry.length > 16) {
        std::memcpy(out + size + 16, dictionary + entry.offset + 16, entry.length - 16);
      }
      size += entry.length;
    };
    if (rows.bitmap == nullptr) {
      for (int64_t i = 0; i < rows.count; ++i) {
        append(entries[indices[i]]);
        offsets[i] = size;
      }
    } else {
      int64_t next = 0;
      for (int64_t i = 0; i < rows.count; ++i) {
        if (rows.is_valid(i)) {
          append(entries[indices[next++]]);
        }
        offsets[i] = size;
      }
    }
    size_ = size;
    rows_to_come_ -= rows.count;
    return arrow::Status::OK();
  }

  arrow::Status ReadPlain(const Rows& rows) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t stored, StoredBytes(rows.num_valid));
    ARROW_RETURN_NOT_OK(Reserve(stored - 4 * rows.num_valid, rows.count));
    const uint8_t* in = pages_.values();
    const uint8_t* const end = in + pages_.num_value_bytes();
    int64_t* const offsets = offsets_->mutable_data_as<int64_t>() + rows.begin + 1;
    uint8_t* const out = text_->mutable_data();
    int64_t size = size_;
    for (int64_t i = 0; i < rows.count; ++i) {
      if (rows.bitmap == nullptr || rows.is_valid(i)) {
        uint32_t length;
        std::memcpy(&length, in, sizeof(length));
        in += 4;
        if (length <= 16 && end - in >= 16) {
          std::memcpy(out + size, in, 16);
        } else {
          std::memcpy(out + size, in, length);
        }
        in += length;
        size += length;
      }
      offsets[i] = size;
    }
    const int64_t before = std::exchange(size_, size);
    pages_.Skip(in - pages_.values());
    rows_to_come_ -= rows.count;
    return Check(out + before, size - before, rows.count,
                 [=](int64_t i) { return offsets[i - 1] - before; });
  }

  /// Check the values of a column of text; bytes may be any.
  template <typename BeginOf>
  arrow::Status Check(const uint8_t* text, int64_t size, int64_t num_values,
                      BeginOf begin_of) const {
    if (type_->id() != arrow::Type::LARGE_STRING) return arrow::Status::OK();
    return CheckUtf8({reinterpret_cast<const char*>(text), static_cast<size_t>(size)},
                     num_values, begin_of);
  }

  arrow::Status SkipPlain(int64_t num_values) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t num_bytes, StoredBytes(num_values));
    pages_.Skip(num_bytes);
    return arrow::Status::OK();
  }

  /// The bytes of the page's next values, with a length of four bytes each.
  arrow::Result<int64_t> StoredBytes(int64_t num_values) const {
    const uint8_t* in = pages_.values();
    const uint8_t* const end = in + pages_.num_value_bytes();
    for (int64_t i = 0; i < num_values; ++i) {
      uint32_t length = 0;
      if (end - in >= 4) std::memcpy(&length, in, sizeof(length));
      if (end - in < 4 || length > end - in - 4) {
        return arrow::Status::Invalid("Data page is truncated");
      }
      in += 4 + length;
    }
    return in - pages_.values();
  }

  arrow::Result<arrow::BufferVector> Finish() override {
    ARROW_RETURN_NOT_OK(text_->Resize(size_, /*shrink_to_fit=*/true));
    return arrow::BufferVector{std::move(offsets_), std::move(text_)};
  }

  /// Make room for the text of some rows, and for as much per row of the following ones.
  arrow::Status Reserve(int64_t num_bytes, int64_t num_rows) {
    const int64_t needed = size_ + num_bytes + kTextPadding;
    if (needed <= text_->size()) return arrow::Status::OK();
    const int64_t later = num_bytes / num_rows * (rows_to_come_ - num_rows);
    const int64_t room = std::max<int64_t>(max_bytes_ - needed, 0);
    return text_->Resize(needed + std::min(later + later / 16, room),
                         /*shrink_to_fit=*/false);
  }

  std::unique_ptr<arrow::Buffer> offsets_;
  std::unique_ptr<arrow::ResizableBuffer> text_;
  int64_t size_ = 0;  // of the text so far
  int64_t max_bytes_ = 0;
  int64_t rows_to_come_ = 0;
  std::vector<Entry> entries_ = {Entry{}};  // with one extra entry
  std::vector<uint8_t> dictionary_;
  int64_t longest_ = 0;
};

}  // namespace

std::unique_ptr<FlatColumn> MakeTextDecoder(FlatPages pages,
                                            std::shared_ptr<arrow::DataType> type,
                                            arrow::MemoryPool* pool) {
  return std::make_unique<TextDecoder>(std::move(pages), std::move(type), pool);
}

}  // namespace xshards::io
