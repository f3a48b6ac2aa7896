// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/column_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>
#include <parquet/types.h>

#include "io/parquet/bit_unpack.h"
#include "io/parquet/dictionary_encoding.h"
#include "io/parquet/page_cursor.h"

namespace xshards::io {
namespace {

// Rows decoded at a time: their dictionary indices stay in the first-level cache.
constexpr int64_t kChunkRows = 1024;

// What is behind text that is copied sixteen bytes at a time.
constexpr int64_t kTextPadding = 16;

/// Some rows of a batch that are decoded together.
struct Rows {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t num_valid = 0;
  const uint8_t* bitmap = nullptr;  // of the batch; nullptr if all have a value

  /// Whether a row has a value; where not all have one.
  bool is_valid(int64_t row) const {
    return arrow::bit_util::GetBit(bitmap, static_cast<uint64_t>(begin + row));
  }
};

/// The validity of up to 64 rows, from a bit of a bitmap on.
uint64_t ValidBits(const uint8_t* bitmap, int64_t offset, int64_t num_rows) {
  const int64_t first = offset / 8;
  const int64_t last = (offset + num_rows - 1) / 8;
  uint64_t bits = 0;
  if (last - first >= 7) {
    std::memcpy(&bits, bitmap + first, sizeof(bits));
  } else {
    std::memcpy(&bits, bitmap + first, static_cast<size_t>(last - first + 1));
  }
  bits >>= offset % 8;
  if (last - first == 8) bits |= uint64_t{bitmap[last]} << (64 - offset % 8);
  return num_rows == 64 ? bits : bits & ((uint64_t{1} << num_rows) - 1);
}

/// What all decoders share: pages, validity, and indices in chunks.
class DecoderBase : public FlatColumn {
 public:
  DecoderBase(FlatPages pages, std::shared_ptr<arrow::DataType> type,
              arrow::MemoryPool* pool)
      : pages_(std::move(pages)), type_(std::move(type)), pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(int64_t num_rows) final {
    std::shared_ptr<arrow::Buffer> validity;
    uint8_t* bitmap = nullptr;
    if (pages_.is_optional()) {
      const int64_t num_bytes =
          arrow::bit_util::BytesForBits(num_rows) + PackedRuns::kBitmapPadding;
      ARROW_ASSIGN_OR_RAISE(validity, arrow::AllocateBuffer(num_bytes, pool_));
      bitmap = validity->mutable_data();
      std::memset(bitmap, 0, static_cast<size_t>(num_bytes));
    }
    ARROW_RETURN_NOT_OK(Begin(num_rows));
    int64_t num_valid = 0;
    for (int64_t row = 0; row < num_rows;) {
      ARROW_RETURN_NOT_OK(
          pages_.Next([this](const auto& page) { return SetDictionary(page); }));
      if (const int64_t to_skip = pages_.TakeRowsToSkip(); to_skip > 0) {
        ARROW_RETURN_NOT_OK(Discard(to_skip));
      }
      const int64_t taken = std::min({num_rows - row, pages_.rows_left(), kChunkRows});
      ARROW_ASSIGN_OR_RAISE(const int64_t valid, pages_.ReadValidity(bitmap, row, taken));
      const Rows rows{.begin = row,
                      .count = taken,
                      .num_valid = valid,
                      .bitmap = valid == taken ? nullptr : bitmap};
      ARROW_RETURN_NOT_OK(pages_.has_indices() ? ReadIndices(rows) : ReadPlain(rows));
      row += taken;
      num_valid += valid;
    }
    if (num_valid == num_rows) validity = nullptr;
    ARROW_ASSIGN_OR_RAISE(auto buffers, Finish());
    buffers.insert(buffers.begin(), std::move(validity));
    auto data =
        arrow::ArrayData::Make(type_, num_rows, std::move(buffers), num_rows - num_valid);
    data->dictionary = kept_dictionary();
    return data;
  }

  arrow::Status Skip(int64_t num_rows) final {
    if (num_rows < pages_.rows_left()) return Discard(num_rows);
    pages_.SkipBehind(num_rows - pages_.rows_left());
    pages_.SkipPage();
    return arrow::Status::OK();
  }

 protected:
  virtual arrow::Status Begin(int64_t num_rows) = 0;
  virtual arrow::Status SetDictionary(const parquet::DictionaryPage& page) = 0;
  virtual int64_t dictionary_size() const = 0;
  /// Write rows by their indices, of which there is one for each that has a value.
  virtual arrow::Status WriteIndices(const uint32_t* indices, const Rows& rows) = 0;
  /// Write rows by the values that are next in the page.
  virtual arrow::Status ReadPlain(const Rows& rows) = 0;
  /// Pass over so many values that are next in the page.
  virtual arrow::Status SkipPlain(int64_t num_values) = 0;
  /// The buffers behind the validity.
  virtual arrow::Result<arrow::BufferVector> Finish() = 0;
  /// What the values are places in, if they are.
  virtual std::shared_ptr<arrow::ArrayData> kept_dictionary() const { return nullptr; }

  FlatPages pages_;
  const std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* const pool_;

 private:
  /// Pass over rows of the current page, fewer than it has.
  arrow::Status Discard(int64_t num_rows) {
    while (num_rows > 0) {
      const int64_t taken = std::min(num_rows, kChunkRows);
      std::array<uint8_t, kChunkRows / 8 + PackedRuns::kBitmapPadding> bitmap{};
      ARROW_ASSIGN_OR_RAISE(const int64_t valid,
                            pages_.ReadValidity(bitmap.data(), 0, taken));
      ARROW_RETURN_NOT_OK(pages_.has_indices()
                              ? pages_.indices().Read(indices_.data(), valid)
                              : SkipPlain(valid));
      num_rows -= taken;
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadIndices(const Rows& rows) {
    ARROW_RETURN_NOT_OK(pages_.indices().Read(indices_.data(), rows.num_valid));
    // Read, and not used, if the last rows have no value.
    indices_[static_cast<size_t>(rows.num_valid)] = 0;
    if (rows.num_valid > 0 &&
        LargestOf(indices_.data(), rows.num_valid) >= dictionary_size()) {
      return arrow::Status::Invalid(
          "A page refers to a value that its dictionary does not have");
    }
    return WriteIndices(indices_.data(), rows);
  }

  std::array<uint32_t, kChunkRows + 1> indices_{};
};

/// Write values where rows have one and zero elsewhere; `get(i)` is the i-th value.
template <typename T, typename Get>
void Spread(const Rows& rows, T* out, Get get) {
  int64_t next = 0;
  for (int64_t i = 0; i < rows.count;) {
    const int64_t taken = std::min<int64_t>(64, rows.count - i);
    const uint64_t bits = ValidBits(rows.bitmap, rows.begin + i, taken);
    if (bits == ~uint64_t{0} >> (64 - taken)) {
      for (int64_t j = 0; j < taken; ++j) out[i + j] = get(next + j);
      next += taken;
    } else {
      for (int64_t j = 0; j < taken; ++j) {
        const T bit = static_cast<T>(bits >> j & 1);
        out[i + j] = get(next) & (T{0} - bit);
        next += static_cast<int64_t>(bit);
      }
    }
    i += taken;
  }
}

/// Numbers, as unsigned ones of their size: what they mean does not matter here.
template <typename T>
class NumberDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  arrow::Status Begin(int64_t num_rows) override {
    return arrow::AllocateBuffer(num_rows * int64_t{sizeof(T)}, pool_).Value(&values_);
  }

  arrow::Status SetDictionary(const parquet::DictionaryPage& page) override {
    const int64_t size = page.num_values();
    if (size < 0 || size > page.size() / int64_t{sizeof(T)}) {
      return arrow::Status::Invalid("A dictionary ends too early");
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
      return arrow::Status::Invalid("A page ends too early");
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
      return arrow::Status::Invalid("A page ends too early");
    }
    pages_.Skip(num_bytes);
    return arrow::Status::OK();
  }

  arrow::Result<arrow::BufferVector> Finish() override {
    return arrow::BufferVector{std::move(values_)};
  }

  std::unique_ptr<arrow::Buffer> values_;
  // One more than there are: something to read where no row has a value.
  std::vector<T> dictionary_ = {T{0}};
};

/// Call visit(text, length) for every text of a dictionary, after checking that there is
/// so much.
template <typename Visit>
arrow::Status ForEachText(const parquet::DictionaryPage& page, Visit visit) {
  const uint8_t* in = page.data();
  const uint8_t* const end = in + page.size();
  for (int64_t i = 0; i < page.num_values(); ++i) {
    uint32_t length = 0;
    if (end - in >= 4) std::memcpy(&length, in, sizeof(length));
    if (end - in < 4 || length > end - in - 4) {
      return arrow::Status::Invalid("A dictionary ends too early");
    }
    visit(in + 4, length);
    in += 4 + length;
  }
  return arrow::Status::OK();
}

/// The number of texts in a dictionary, if there can be so many: each has at least its
/// length. So no more is made room for than there is.
arrow::Result<int64_t> NumTexts(const parquet::DictionaryPage& page) {
  const int64_t size = page.num_values();
  if (size < 0 || size > page.size() / int64_t{sizeof(uint32_t)}) {
    return arrow::Status::Invalid("A dictionary ends too early");
  }
  return size;
}

/// Text and bytes, with offsets of 64 bits.
class TextDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  struct Entry {
    uint32_t offset = 0;
    uint32_t length = 0;
  };

  arrow::Status Begin(int64_t num_rows) override {
    ARROW_ASSIGN_OR_RAISE(
        offsets_,
        arrow::AllocateBuffer((num_rows + 1) * int64_t{sizeof(int64_t)}, pool_));
    offsets_->mutable_data_as<int64_t>()[0] = 0;
    rows_to_come_ = num_rows;
    size_ = 0;
    return arrow::AllocateResizableBuffer(0, pool_).Value(&text_);
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
    dictionary_.resize(dictionary_.size() + kTextPadding);
    return arrow::Status::OK();
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
    // Copies, for what is written to might be any of the members.
    int64_t* const offsets = offsets_->mutable_data_as<int64_t>() + rows.begin + 1;
    const Entry* const entries = entries_.data();
    const uint8_t* const dictionary = dictionary_.data();
    uint8_t* const out = text_->mutable_data();
    int64_t size = size_;
    const auto append = [&](Entry entry) {
      // Sixteen bytes at once cost less than as many as there are.
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
    size_ = size;
    pages_.Skip(in - pages_.values());
    rows_to_come_ -= rows.count;
    return arrow::Status::OK();
  }

  arrow::Status SkipPlain(int64_t num_values) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t num_bytes, StoredBytes(num_values));
    pages_.Skip(num_bytes);
    return arrow::Status::OK();
  }

  /// The bytes that the page's next values take, with a length of four bytes each.
  arrow::Result<int64_t> StoredBytes(int64_t num_values) const {
    const uint8_t* in = pages_.values();
    const uint8_t* const end = in + pages_.num_value_bytes();
    for (int64_t i = 0; i < num_values; ++i) {
      uint32_t length = 0;
      if (end - in >= 4) std::memcpy(&length, in, sizeof(length));
      if (end - in < 4 || length > end - in - 4) {
        return arrow::Status::Invalid("A page ends too early");
      }
      in += 4 + length;
    }
    return in - pages_.values();
  }

  arrow::Result<arrow::BufferVector> Finish() override {
    ARROW_RETURN_NOT_OK(text_->Resize(size_, /*shrink_to_fit=*/true));
    return arrow::BufferVector{std::move(offsets_), std::move(text_)};
  }

  /// Make room for the text of some rows, and for as much a row of those behind them.
  arrow::Status Reserve(int64_t num_bytes, int64_t num_rows) {
    const int64_t needed = size_ + num_bytes + kTextPadding;
    if (needed <= text_->size()) return arrow::Status::OK();
    const int64_t later = num_bytes / num_rows * (rows_to_come_ - num_rows);
    return text_->Resize(needed + later + later / 16, /*shrink_to_fit=*/false);
  }

  std::unique_ptr<arrow::Buffer> offsets_;
  std::unique_ptr<arrow::ResizableBuffer> text_;
  int64_t size_ = 0;  // of the text so far
  int64_t rows_to_come_ = 0;
  std::vector<Entry> entries_ = {Entry{}};  // one more than there are
  std::vector<uint8_t> dictionary_;
  int64_t longest_ = 0;
};

/// Text as places in its dictionary, which stays as it is.
class PlaceDecoder final : public DecoderBase {
 public:
  using DecoderBase::DecoderBase;

 private:
  arrow::Status Begin(int64_t num_rows) override {
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

  // What IsAllDictionary() said no to is not read by this.
  arrow::Status ReadPlain(const Rows& /*rows*/) override { return NoDictionary(); }
  arrow::Status SkipPlain(int64_t /*num_values*/) override { return NoDictionary(); }
  static arrow::Status NoDictionary() {
    return arrow::Status::Invalid(
        "A page is plain, though its column says there is none");
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

bool IsPlainOrDictionary(const parquet::ColumnChunkMetaData& chunk) {
  const auto& encodings = chunk.encodings();
  return std::all_of(encodings.begin(), encodings.end(), [](auto encoding) {
    return encoding == parquet::Encoding::PLAIN || encoding == parquet::Encoding::RLE ||
           encoding == parquet::Encoding::RLE_DICTIONARY ||
           encoding == parquet::Encoding::PLAIN_DICTIONARY;
  });
}

bool IsLargeText(const arrow::DataType& type) {
  return type.id() == arrow::Type::LARGE_STRING || type.id() == arrow::Type::LARGE_BINARY;
}

}  // namespace

bool FlatColumn::CanDecode(const parquet::ColumnDescriptor& column,
                           const parquet::ColumnChunkMetaData& chunk,
                           const arrow::DataType& type) {
  if (column.max_repetition_level() != 0 || column.max_definition_level() > 1 ||
      !IsPlainOrDictionary(chunk)) {
    return false;
  }
  using arrow::Type;
  switch (column.physical_type()) {
    case parquet::Type::INT32:
      return type.id() == Type::INT32 || type.id() == Type::UINT32 ||
             type.id() == Type::DATE32 || type.id() == Type::TIME32;
    case parquet::Type::INT64:
      return type.id() == Type::INT64 || type.id() == Type::UINT64 ||
             type.id() == Type::TIMESTAMP || type.id() == Type::TIME64;
    case parquet::Type::FLOAT:
      return type.id() == Type::FLOAT;
    case parquet::Type::DOUBLE:
      return type.id() == Type::DOUBLE;
    case parquet::Type::BYTE_ARRAY:
      if (type.id() == Type::DICTIONARY) {
        const auto& encoded = static_cast<const arrow::DictionaryType&>(type);
        return encoded.index_type()->id() == Type::INT32 &&
               IsLargeText(*encoded.value_type()) && IsAllDictionary(chunk);
      }
      return IsLargeText(type);
    default:
      return false;
  }
}

std::unique_ptr<FlatColumn> FlatColumn::Make(std::unique_ptr<parquet::PageReader> pages,
                                             const parquet::ColumnDescriptor& column,
                                             std::shared_ptr<arrow::DataType> type,
                                             arrow::MemoryPool* pool) {
  FlatPages flat(std::move(pages), column.max_definition_level() > 0);
  switch (column.physical_type()) {
    case parquet::Type::INT32:
    case parquet::Type::FLOAT:
      return std::make_unique<NumberDecoder<uint32_t>>(std::move(flat), std::move(type),
                                                       pool);
    case parquet::Type::INT64:
    case parquet::Type::DOUBLE:
      return std::make_unique<NumberDecoder<uint64_t>>(std::move(flat), std::move(type),
                                                       pool);
    default:
      if (type->id() == arrow::Type::DICTIONARY) {
        return std::make_unique<PlaceDecoder>(std::move(flat), std::move(type), pool);
      }
      return std::make_unique<TextDecoder>(std::move(flat), std::move(type), pool);
  }
}

}  // namespace xshards::io
