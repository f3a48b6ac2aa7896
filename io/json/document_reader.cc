// SPDX-License-Identifier: Apache-2.0
#include "io/json/document_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>

#include "io/fs/file_system.h"
#include "io/json/document_cells.h"
#include "io/json/on_demand.h"
#include "io/json/on_demand_values.h"
#include "io/json/record_boundaries.h"
#include "io/text/byte_order_mark.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int64_t kMaxDocumentBytes = std::numeric_limits<uint32_t>::max();

/// Keys in order of appearance. The next key is looked for first: objects repeat the
/// order of keys.
class JsonKeys {
 public:
  /// The number of a key; a new one if it is not there.
  int64_t Find(std::string_view key) {
    if (next_ < keys_.size() && keys_[next_] == key) return static_cast<int64_t>(next_++);
    const auto [entry, is_new] =
        numbers_.emplace(std::string(key), static_cast<int64_t>(keys_.size()));
    if (is_new) keys_.push_back(entry->first);
    next_ = static_cast<size_t>(entry->second) + 1;
    return entry->second;
  }
  void StartObject() { next_ = 0; }
  int64_t size() const { return static_cast<int64_t>(keys_.size()); }
  const std::vector<std::string_view>& keys() const { return keys_; }

 private:
  std::unordered_map<std::string, int64_t> numbers_;  // its keys do not move
  std::vector<std::string_view> keys_;
  size_t next_ = 0;
};

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

// The first character that is not UTF-8.
const char* FindUndecodable(std::string_view text) {
  constexpr int64_t kChunk = 4096;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    const char* const stop = WholeCharactersEnd(p, std::min(end, p + kChunk));
    if (stop > p && IsUtf8(p, stop)) {
      p = stop;
      continue;
    }
    for (const char* next = p + 1; next <= end; ++next) {
      if (next != end && (*next & 0xC0) == 0x80) continue;  // inside a character
      if (!IsUtf8(p, next)) return p;
      p = next;
    }
    return p;
  }
  return end;
}

// The first control character in a string, or the end of a text in one.
const char* FindOpenString(std::string_view text) {
  JsonQuotes quotes;
  const auto found = std::find_if(text.begin(), text.end(), [&](char c) {
    return quotes.Contain(c) && static_cast<unsigned char>(c) < 0x20;
  });
  return text.data() + (found - text.begin());
}

/// Reads one document. Functions return the position after a part, or nullptr: then the
/// fault is set, or the status, or `is_odd_`.
class DocumentReader : public JsonValueReader {
 public:
  DocumentReader(std::string_view text, JsonOrient orient, arrow::MemoryPool* pool)
      : text_(text), orient_(orient), pool_(pool), index_(pool) {}

  /// Read the document; false if `fault` says why it is not JSON.
  arrow::Result<bool> Read(JsonFault* fault);
  bool is_odd() const { return is_odd_; }
  arrow::Result<JsonDocument> Finish();

 private:
  enum class RowForm : uint8_t { kNone, kObjects, kArrays };

  const char* ReadRoot(const char* begin);
  const char* ReadColumns(Object& root, const char* begin);
  const char* ReadColumn(std::string_view key, Value& value);
  const char* ReadIndexed(Object& root, const char* begin);
  const char* ReadParts(Object& root, const char* begin);
  const char* ReadPart(const char* quote, Value& value);
  template <typename Array>
  const char* ReadRows(Array& rows, const char* begin);
  const char* ReadRow(int64_t row, Value& value);
  const char* ReadLabels(Value& value, JsonCells* labels);
  const char* ReadCell(Value& value, JsonCell* cell);
  const char* Keep(const char* end, JsonCells* cells, int64_t row, const JsonCell& cell);

  void CheckLayout();
  bool HasEqualColumns() const;
  bool StartsForm(RowForm form) {
    if (form_ == RowForm::kNone) form_ = form;
    return form_ == form;
  }
  JsonCells& ColumnAt(int64_t number) {
    while (std::cmp_less_equal(columns_.size(), number)) {
      columns_.emplace_back(pool_, form_ == RowForm::kArrays ? JsonCell::Kind::kNull
                                                             : JsonCell::Kind::kAbsent);
    }
    return columns_[static_cast<size_t>(number)];
  }
  const char* Odd() {
    is_odd_ = true;
    return nullptr;
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> FinishRows(JsonOnDemand* on_demand);
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> FinishIndex(JsonOnDemand* on_demand);

  const std::string_view text_;
  const JsonOrient orient_;
  arrow::MemoryPool* const pool_;
  RowForm form_ = RowForm::kNone;
  JsonKeys column_keys_;
  JsonKeys row_keys_;
  std::vector<JsonCells> columns_;
  JsonCells index_;  // of kSplit
  std::string_view header_;
  int64_t num_labels_ = -1;  // of columns in kSplit
  int64_t num_rows_ = 0;
  std::vector<std::string> parts_;  // that kSplit and kTable have had
  bool is_odd_ = false;
  arrow::Status status_;
};

arrow::Result<bool> DocumentReader::Read(JsonFault* fault) {
  fault_ = fault;
  // For the index that simdjson allocates: four bytes for each token.
  ARROW_ASSIGN_OR_RAISE(
      auto reserved,
      arrow::AllocateBuffer(2 * static_cast<int64_t>(text_.size()), pool_));
  if (parser_.allocate(text_.size(), kJsonDepth + 8) != simdjson::SUCCESS) {
    return arrow::Status::OutOfMemory("Could not index ", text_.size(), " bytes of JSON");
  }
  const char* const begin = SkipJsonBlanks(text_.data(), true);
  const char* end = ReadRoot(begin);
  if (end != nullptr) {
    end = SkipJsonBlanks(end, true);
    if (end != text_.data() + text_.size()) {
      end = fault->Set(end, "the end of the document");
    }
  }
  ARROW_RETURN_NOT_OK(status_);
  // pandas reads an unpaired surrogate, which no column of text holds.
  const bool has_fault = end == nullptr && fault->expected != nullptr;
  if (has_fault && std::string_view(fault->expected) == kJsonEscapes) is_odd_ = true;
  if (end != nullptr) CheckLayout();
  return end != nullptr || is_odd_;
}

const char* DocumentReader::ReadRoot(const char* begin) {
  const bool is_empty_array = *begin == '[' && *SkipJsonBlanks(begin + 1, true) == ']';
  const bool is_null = Between(begin, text_.data() + text_.size()).starts_with("null");
  if (is_empty_array || is_null) return Odd();
  if (*begin != '{' && *begin != '[') return fault_->Set(begin, "an object or an array");
  ondemand::document document;
  auto error = parser_.iterate(text_.data(), text_.size(), text_.size() + kJsonPadding)
                   .get(document);
  const bool is_object = *begin == '{';
  const bool takes_arrays =
      orient_ == JsonOrient::kColumns || orient_ == JsonOrient::kValues;
  if (error == simdjson::SUCCESS && !is_object) {
    if (!takes_arrays) return fault_->Set(begin, "an object");
    ondemand::array rows;
    error = document.get_array().get(rows);
    if (error == simdjson::SUCCESS) return ReadRows(rows, begin);
  }
  Object root;
  if (error == simdjson::SUCCESS) error = document.get_object().get(root);
  switch (error) {
    case simdjson::SUCCESS:
      break;
    case simdjson::UTF8_ERROR:
      return fault_->Set(FindUndecodable(text_), kUtf8);
    case simdjson::UNCLOSED_STRING:
    case simdjson::UNESCAPED_CHARS:
      return fault_->Set(FindOpenString(text_),
                         "a closing quote (control characters must be escaped)");
    default:
      return fault_->Set(text_.data() + text_.size(),
                         is_object ? "a closing '}'" : "a closing ']'");
  }
  if (takes_arrays) return ReadColumns(root, begin);
  return orient_ == JsonOrient::kIndex ? ReadIndexed(root, begin)
                                       : ReadParts(root, begin);
}

const char* DocumentReader::Keep(const char* end, JsonCells* cells, int64_t row,
                                 const JsonCell& cell) {
  if (end == nullptr) return nullptr;
  status_ = cells->Set(row, cell);
  return status_.ok() ? end : nullptr;
}

const char* DocumentReader::ReadCell(Value& value, JsonCell* cell) {
  const std::string_view token = value.raw_json_token();
  const char* const p = token.data();
  switch (*p) {
    case '"': {
      std::string_view text = TakeString(value);
      const bool is_escaped = HasEscape(text);
      *cell =
          JsonCell::OfPart(is_escaped ? JsonCell::Kind::kEscaped : JsonCell::Kind::kText,
                           text_.data(), text);
      const char* const end = text.data() + text.size() + 1;
      return UnescapeText(&text) ? end : nullptr;
    }
    case '{':
    case '[': {
      const char* const end = CheckValue(value, kJsonDepth - 2);
      if (end == nullptr) return nullptr;
      *cell = JsonCell::OfPart(JsonCell::Kind::kNested, text_.data(), Between(p, end));
      return end;
    }
    case 't':
    case 'f':
      *cell = {.kind = JsonCell::Kind::kBool, .bits = *p == 't' ? 1U : 0U};
      return CheckValue(value, 0);
    case 'n':
      *cell = {.kind = JsonCell::Kind::kNull};
      return CheckValue(value, 0);
    default:
      break;
  }
  JsonNumberValue number;
  const char* const end = TakeNumber(value, &number);
  if (end == nullptr) return nullptr;
  *cell = number.kind == JsonNumber::kHuge
              ? JsonCell::OfPart(JsonCell::Kind::kHuge, text_.data(), Between(p, end))
              : JsonCell::OfNumber(number);
  return end;
}

const char* DocumentReader::ReadColumns(Object& root, const char* begin) {
  return Members(root, begin, [&](std::string_view key, Value& value) {
    return UnescapeText(&key) ? ReadColumn(key, value)
                              : static_cast<const char*>(nullptr);
  });
}

const char* DocumentReader::ReadColumn(std::string_view key, Value& value) {
  const int64_t number = column_keys_.size();
  if (column_keys_.Find(key) != number) return Odd();
  JsonCells& cells = ColumnAt(number);
  const char* const p = value.raw_json_token().data();
  JsonCell cell;
  if (*p == '[') {
    if (!StartsForm(RowForm::kArrays)) return Odd();
    return Items(value, p, [&](Value& item) {
      return Keep(ReadCell(item, &cell), &cells, cells.size(), cell);
    });
  }
  Object rows;
  if (*p != '{' || !StartsForm(RowForm::kObjects)) return Odd();
  if (value.get_object().get(rows) != simdjson::SUCCESS) {
    return fault_->Set(p, "an object");
  }
  row_keys_.StartObject();
  return Members(rows, p, [&](std::string_view label, Value& item) {
    if (!UnescapeText(&label)) return static_cast<const char*>(nullptr);
    const int64_t row = row_keys_.Find(label);
    return Keep(ReadCell(item, &cell), &cells, row, cell);
  });
}

const char* DocumentReader::ReadIndexed(Object& root, const char* begin) {
  return Members(root, begin, [&](std::string_view key, Value& value) {
    if (!UnescapeText(&key)) return static_cast<const char*>(nullptr);
    if (row_keys_.Find(key) != num_rows_) return Odd();
    return ReadRow(num_rows_++, value);
  });
}

template <typename Array>
const char* DocumentReader::ReadRows(Array& rows, const char* begin) {
  const auto read = [&](Value& value) { return ReadRow(num_rows_++, value); };
  if constexpr (std::is_same_v<Array, ondemand::array>) {
    return ItemsOf(rows, begin, read);
  } else {
    return Items(rows, begin, read);
  }
}

const char* DocumentReader::ReadRow(int64_t row, Value& value) {
  const char* const p = value.raw_json_token().data();
  JsonCell cell;
  if (*p == '[') {
    if (!StartsForm(RowForm::kArrays)) return Odd();
    int64_t number = 0;
    return Items(value, p, [&](Value& item) {
      return Keep(ReadCell(item, &cell), &ColumnAt(number++), row, cell);
    });
  }
  Object members;
  if (*p != '{' || !StartsForm(RowForm::kObjects)) return Odd();
  if (value.get_object().get(members) != simdjson::SUCCESS) {
    return fault_->Set(p, "an object");
  }
  column_keys_.StartObject();
  return Members(members, p, [&](std::string_view key, Value& item) {
    if (!UnescapeText(&key)) return static_cast<const char*>(nullptr);
    JsonCells& cells = ColumnAt(column_keys_.Find(key));
    return Keep(ReadCell(item, &cell), &cells, row, cell);
  });
}

const char* DocumentReader::ReadParts(Object& root, const char* begin) {
  const char* const end = Members(root, begin, [&](std::string_view key, Value& value) {
    const char* const quote = key.data() - 1;
    if (!UnescapeText(&key)) return static_cast<const char*>(nullptr);
    if (std::find(parts_.begin(), parts_.end(), key) != parts_.end()) return Odd();
    parts_.emplace_back(key);
    return ReadPart(quote, value);
  });
  if (end == nullptr || !header_.empty()) return end;
  return fault_->Set(begin, orient_ == JsonOrient::kSplit
                                ? "an object with the keys \"columns\" and \"data\""
                                : "an object with the keys \"schema\" and \"data\"");
}

// The value of the last of `parts_`, whose key is at `quote`.
const char* DocumentReader::ReadPart(const char* quote, Value& value) {
  const std::string_view key = parts_.back();
  const bool is_split = orient_ == JsonOrient::kSplit;
  const char* const p = value.raw_json_token().data();
  if (key == "data") return *p == '[' ? ReadRows(value, p) : Odd();
  if (is_split && key == "index") return *p == '[' ? ReadLabels(value, &index_) : Odd();
  if (key == (is_split ? "columns" : "schema")) {
    if (*p != (is_split ? '[' : '{')) return Odd();
    JsonCells labels(pool_);
    const char* const end =
        is_split ? ReadLabels(value, &labels) : CheckValue(value, kJsonDepth - 1);
    if (end != nullptr) header_ = Between(p, end);
    num_labels_ = labels.size();
    return end;
  }
  return is_split
             ? fault_->Set(quote, "no other keys than \"columns\", \"index\", \"data\"")
             : CheckValue(value, kJsonDepth - 1);
}

const char* DocumentReader::ReadLabels(Value& value, JsonCells* labels) {
  JsonCell cell;
  return Items(value, value.raw_json_token().data(), [&](Value& item) {
    return Keep(ReadCell(item, &cell), labels, labels->size(), cell);
  });
}

bool DocumentReader::HasEqualColumns() const {
  return std::all_of(columns_.begin(), columns_.end(), [&](const JsonCells& cells) {
    return cells.size() == columns_.front().size();
  });
}

// Find what pandas reads as something else than rows and columns, or refuses.
void DocumentReader::CheckLayout() {
  if (columns_.empty()) {
    is_odd_ = true;
  } else if (num_rows_ == 0) {  // columns, not rows, were read
    is_odd_ = form_ == RowForm::kArrays && !HasEqualColumns();
    num_rows_ = form_ == RowForm::kArrays ? columns_.front().size() : row_keys_.size();
  } else if (orient_ == JsonOrient::kIndex && form_ == RowForm::kObjects) {
    // pandas orders rows by the first column that they are in.
    for (int64_t row = 0; row < num_rows_; ++row) {
      is_odd_ = is_odd_ || !columns_.front().Has(row);
    }
  } else if (orient_ == JsonOrient::kSplit) {
    const bool has_index =
        std::find(parts_.begin(), parts_.end(), "index") != parts_.end();
    is_odd_ = form_ != RowForm::kArrays ||
              !std::cmp_equal(columns_.size(), num_labels_) ||
              (has_index && index_.size() != num_rows_);
  } else if (orient_ == JsonOrient::kTable) {
    is_odd_ = form_ != RowForm::kObjects;
  }
  is_odd_ = is_odd_ || num_rows_ == 0;
}

arrow::Result<JsonDocument> DocumentReader::Finish() {
  JsonOnDemand on_demand(JsonLayout::kArray, pool_);
  JsonDocument document;
  document.has_keys = column_keys_.size() > 0;
  ARROW_ASSIGN_OR_RAISE(document.rows, FinishRows(&on_demand));
  ARROW_ASSIGN_OR_RAISE(document.index, FinishIndex(&on_demand));
  document.header = header_;
  return document;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> DocumentReader::FinishRows(
    JsonOnDemand* on_demand) {
  arrow::FieldVector fields;
  arrow::ArrayVector values;
  for (size_t i = 0; i < columns_.size(); ++i) {
    JsonCells cells = std::move(columns_[i]);  // frees it when it is converted
    ARROW_RETURN_NOT_OK(cells.PadTo(num_rows_));
    const std::string name =
        column_keys_.size() > 0 ? std::string(column_keys_.keys()[i]) : std::to_string(i);
    ARROW_ASSIGN_OR_RAISE(auto column, cells.Finish(name, text_.data(), on_demand));
    fields.push_back(std::move(column.field));
    values.push_back(std::move(column.values));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), num_rows_,
                                  std::move(values));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> DocumentReader::FinishIndex(
    JsonOnDemand* on_demand) {
  const std::string name = "index";
  if (index_.size() > 0) {
    ARROW_ASSIGN_OR_RAISE(auto labels, index_.Finish(name, text_.data(), on_demand));
    return arrow::RecordBatch::Make(arrow::schema({labels.field}), num_rows_,
                                    {labels.values});
  }
  if (row_keys_.size() == 0) return nullptr;
  arrow::LargeStringBuilder builder(pool_);
  for (const auto key : row_keys_.keys()) ARROW_RETURN_NOT_OK(builder.Append(key));
  ARROW_ASSIGN_OR_RAISE(auto keys, builder.Finish());
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field(name, arrow::large_utf8())}), num_rows_, {keys});
}

arrow::Status NotADocument(std::string_view text, const std::string& path,
                           const JsonFault& fault, arrow::MemoryPool* pool) {
  const std::string_view before = Between(text.data(), fault.at);
  const size_t line = before.rfind('\n') + 1;  // 0 without a line feed
  return NotJson(
      path,
      {.text = text.data(), .size = static_cast<int64_t>(text.size()), .is_last = true},
      text.data() + line, fault, pool);
}

}  // namespace

arrow::Result<JsonOrient> JsonOrientFromName(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"columns", "index", "split",
                                                      "table", "values"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<JsonOrient>(found - kNames.begin());
  return arrow::Status::Invalid("Expected the orient of a JSON document, got '", name,
                                "'");
}

arrow::Result<std::optional<JsonDocument>> ParseJsonDocument(std::string_view text,
                                                             const std::string& path,
                                                             JsonOrient orient,
                                                             arrow::MemoryPool* pool) {
  DocumentReader reader(text, orient, pool);
  JsonFault fault;
  ARROW_ASSIGN_OR_RAISE(const bool is_json, reader.Read(&fault));
  if (!is_json) return NotADocument(text, path, fault, pool);
  if (reader.is_odd()) return std::nullopt;
  return reader.Finish();
}

arrow::Result<std::optional<JsonDocument>> ReadJsonDocument(
    const std::string& path, JsonOrient orient, arrow::MemoryPool* pool,
    const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, {}, 0, size, pool));
  // One block holds all of the file; that of a compressed one grows.
  TextBlocks blocks(std::move(input), std::min(size + 1, kMaxDocumentBytes), pool,
                    kMaxDocumentBytes);
  arrow::Result<TextBlocks::Block> block = TextBlocks::Block{};
  do {
    ARROW_RETURN_NOT_OK(stop.Poll());
    block = blocks.Next();
    if (!block.ok()) return WithPath(block.status(), "Could not read", path);
  } while (!block->is_last);
  std::string_view text = block->text();
  if (text.starts_with(kByteOrderMark)) {
    std::fill_n(block->mutable_text(), kByteOrderMark.size(), ' ');
  }
  return ParseJsonDocument(text, path, orient, pool);
}

}  // namespace xshards::io
