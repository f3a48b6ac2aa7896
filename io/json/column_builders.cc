// SPDX-License-Identifier: Apache-2.0
#include "io/json/column_builders.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "io/json/structure.h"
#include "io/json/value_parser.h"
#include "io/text/buffer_sizing.h"

namespace xshards::io {
namespace {

constexpr int32_t kMaxKeys = 1 << 16;
static_assert(JsonStep::kMaxLength <= JsonStep::kBytes + kJsonPadding);

bool HasText(JsonKind kind) {
  return kind == JsonKind::kText || kind == JsonKind::kAnyText || kind == JsonKind::kJson;
}

// Bytes of `values` for `rows` rows.
int64_t ValueBytes(JsonKind kind, int64_t rows) {
  switch (kind) {
    case JsonKind::kBool:
      return rows / 8;
    case JsonKind::kList:
      return (rows + 1) * static_cast<int64_t>(sizeof(int32_t));
    case JsonKind::kObject:
      return 0;
    default:
      return (rows + 1) * static_cast<int64_t>(sizeof(int64_t));
  }
}

bool GrowBuffer(int64_t size, arrow::MemoryPool* pool,
                std::shared_ptr<arrow::ResizableBuffer>* buffer) {
  if (*buffer != nullptr) return (*buffer)->Resize(size, false).ok();
  auto made = arrow::AllocateResizableBuffer(size, pool);
  if (!made.ok()) return false;
  *buffer = made.MoveValueUnsafe();
  return true;
}

// Room for `rows`, a multiple of 64.
bool GrowRowsTo(JsonColumn* column, int64_t rows) {
  if (rows <= column->capacity) return true;
  const int64_t old_bits = column->capacity / 8;
  if (!GrowBuffer(rows / 8, column->pool, &column->valid_buffer)) return false;
  column->valid = column->valid_buffer->mutable_data();
  std::memset(column->valid + old_bits, 0xFF, static_cast<size_t>(rows / 8 - old_bits));
  const int64_t bytes = ValueBytes(column->kind, rows);
  if (bytes > 0) {
    if (!GrowBuffer(bytes, column->pool, &column->values_buffer)) return false;
    column->values = column->values_buffer->mutable_data();
    if (column->kind == JsonKind::kBool) {
      std::memset(column->values + old_bits, 0, static_cast<size_t>(rows / 8 - old_bits));
    } else if (column->capacity == 0) {
      std::memset(column->values, 0, sizeof(int64_t));  // the first offset
    }
  }
  if (column->object != nullptr) {
    for (auto& child : column->object->owned_columns) {
      if (!GrowRowsTo(child.get(), rows)) return false;
    }
  }
  column->capacity = rows;
  return true;
}

int64_t MoreRows(const JsonColumn& column) {
  const int64_t least = column.capacity == 0 ? 64 : column.capacity * 2;
  return arrow::bit_util::RoundUpToMultipleOf64(std::max(least, column.usual_length));
}

int64_t TextBefore(JsonColumn* column, int64_t row) {
  return column->capacity == 0 ? 0 : column->int64s()[row];
}

JsonKind KindOf(const arrow::Field& field, bool is_settled) {
  switch (field.type()->id()) {
    case arrow::Type::BOOL:
      return JsonKind::kBool;
    case arrow::Type::INT64:
      return JsonKind::kInt64;
    case arrow::Type::UINT64:
      return JsonKind::kUInt64;
    case arrow::Type::DOUBLE:
      return JsonKind::kDouble;
    case arrow::Type::LARGE_STRING:
      if (IsJsonText(field)) return JsonKind::kJson;
      return is_settled ? JsonKind::kAnyText : JsonKind::kText;
    case arrow::Type::LIST:
      return JsonKind::kList;
    case arrow::Type::STRUCT:
      return JsonKind::kObject;
    default:
      return JsonKind::kAnyText;  // and cast
  }
}

arrow::Result<std::unique_ptr<JsonColumn>> MakeColumn(const arrow::Field& field,
                                                      bool is_settled, bool is_inferred,
                                                      arrow::MemoryPool* pool) {
  auto column = std::make_unique<JsonColumn>();
  column->name = field.name();
  column->type = field.type();
  column->kind = KindOf(field, is_settled);
  column->is_settled = is_settled;
  column->is_inferred = is_inferred;
  column->pool = pool;
  if (column->kind == JsonKind::kList) {
    ARROW_ASSIGN_OR_RAISE(column->owned_item, MakeColumn(*field.type()->field(0),
                                                         is_settled, is_inferred, pool));
    column->item = column->owned_item.get();
  }
  if (column->kind == JsonKind::kObject) {
    const auto& fields = field.type()->fields();
    ARROW_ASSIGN_OR_RAISE(column->owned_object, MakeJsonObject({.wanted = fields,
                                                                .known = fields,
                                                                .settled = {},
                                                                .inferred = is_inferred,
                                                                .is_closed = true},
                                                               pool));
    column->object = column->owned_object.get();
  }
  return column;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> FinishColumn(JsonColumn* column);

arrow::Result<std::shared_ptr<arrow::Buffer>> TakeBuffer(
    int64_t size, arrow::MemoryPool* pool,
    std::shared_ptr<arrow::ResizableBuffer>* from) {
  if (*from == nullptr) {
    // A column without rows still has offsets and values.
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::AllocateResizableBuffer(size, pool));
    std::memset(empty->mutable_data(), 0, static_cast<size_t>(size));
    return std::shared_ptr<arrow::Buffer>(std::move(empty));
  }
  GiveBackTail(from->get(), size);
  ARROW_RETURN_NOT_OK((*from)->Resize(size));
  (*from)->ZeroPadding();
  return std::shared_ptr<arrow::Buffer>(std::move(*from));
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> FinishColumn(JsonColumn* column) {
  const int64_t length = column->length;
  auto data =
      arrow::ArrayData::Make(HasText(column->kind) ? arrow::large_utf8() : column->type,
                             length, {nullptr}, column->num_nulls);
  if (column->num_nulls > 0) {
    ARROW_ASSIGN_OR_RAISE(data->buffers[0],
                          TakeBuffer(arrow::bit_util::BytesForBits(length), column->pool,
                                     &column->valid_buffer));
  }
  if (column->kind == JsonKind::kObject) {
    ARROW_ASSIGN_OR_RAISE(data->child_data, FinishColumns(column->object));
  } else {
    const bool has_offsets = HasText(column->kind) || column->kind == JsonKind::kList;
    int64_t bytes = arrow::bit_util::BytesForBits(length);
    if (column->kind == JsonKind::kList) {
      bytes = (length + 1) * static_cast<int64_t>(sizeof(int32_t));
    } else if (column->kind != JsonKind::kBool) {
      bytes = (length + (has_offsets ? 1 : 0)) * static_cast<int64_t>(sizeof(int64_t));
    }
    ARROW_ASSIGN_OR_RAISE(auto values,
                          TakeBuffer(bytes, column->pool, &column->values_buffer));
    data->buffers.push_back(std::move(values));
  }
  if (column->kind == JsonKind::kList) {
    column->item->usual_length = column->item->length + column->item->length / 8;
    ARROW_ASSIGN_OR_RAISE(auto items, FinishColumn(column->item));
    data->child_data.push_back(std::move(items));
  }
  if (HasText(column->kind)) {
    ARROW_ASSIGN_OR_RAISE(
        auto text, TakeBuffer(column->text_size, column->pool, &column->text_buffer));
    data->buffers.push_back(std::move(text));
  }
  column->valid_buffer.reset();
  if (length > 0) {
    column->usual_text =
        static_cast<double>(column->text_size) / static_cast<double>(length);
  }
  column->length = column->capacity = column->num_nulls = 0;
  column->text_size = column->text_capacity = 0;
  column->valid = column->values = nullptr;
  column->text = nullptr;
  return data;
}

}  // namespace

int32_t JsonObject::AddKey(const std::string& name, JsonColumn* column) {
  const auto key = static_cast<int32_t>(column_of_key.size());
  column_of_key.push_back(column);
  owned_steps.emplace_back();
  columns = column_of_key.data();
  steps = owned_steps.data();
  rests.emplace_back();
  if (key != 0) key_of_name.emplace(name, key);
  return key;
}

int32_t JsonObject::Find(const std::string& name) {
  const auto found = key_of_name.find(name);
  if (found != key_of_name.end()) return found->second;
  if (column_of_key.size() >= static_cast<size_t>(kMaxKeys)) return -1;
  return AddKey(name, nullptr);
}

void JsonObject::Learn(int32_t at, const char* begin, const char* end, int32_t next) {
  JsonStep& step = owned_steps[static_cast<size_t>(at)];
  std::string& rest = rests[static_cast<size_t>(at)];
  const int64_t length = end - begin;
  if (length > JsonStep::kMaxLength) return;
  const auto head = static_cast<size_t>(std::min<int64_t>(length, JsonStep::kBytes));
  std::memcpy(step.literal, begin, head);
  std::memset(step.literal + head, 0, JsonStep::kBytes - head);
  step.mask = head == JsonStep::kBytes ? ~uint32_t{0} : (uint32_t{1} << head) - 1;
  step.length = static_cast<int32_t>(length);
  step.next = next;
  rest.assign(begin + head, end);
  step.rest = rest.empty() ? nullptr : rest.data();
}

arrow::Result<std::unique_ptr<JsonObject>> MakeJsonObject(const JsonObjectFields& fields,
                                                          arrow::MemoryPool* pool) {
  auto object = std::make_unique<JsonObject>();
  object->is_closed = fields.is_closed;
  object->AddKey("", nullptr);
  for (const auto& field : fields.wanted) {
    const bool is_settled = std::find(fields.settled.begin(), fields.settled.end(),
                                      field->name()) != fields.settled.end();
    ARROW_ASSIGN_OR_RAISE(auto column, MakeColumn(*field, is_settled,
                                                  fields.inferred && !is_settled, pool));
    object->AddKey(field->name(), column.get());
    object->owned_columns.push_back(std::move(column));
  }
  object->num_wanted = static_cast<int32_t>(fields.wanted.size());
  for (const auto& field : fields.known) {
    if (!object->key_of_name.contains(field->name())) {
      object->AddKey(field->name(), nullptr);
    }
  }
  return object;
}

bool GrowRows(JsonColumn* column) { return GrowRowsTo(column, MoreRows(*column)); }

bool GrowText(JsonColumn* column, int64_t text_size) {
  // Room for all rows, if the others are like those so far.
  double row_bytes = column->usual_text;
  if (column->length >= 64) {
    row_bytes = std::max(
        row_bytes, static_cast<double>(text_size) / static_cast<double>(column->length));
  }
  const auto expected =
      static_cast<int64_t>(1.03 * row_bytes * static_cast<double>(column->capacity));
  const int64_t least = column->text_capacity + column->text_capacity / 4;
  // Vector stores may write past the end.
  const int64_t wanted =
      PackedBytes(std::max({text_size, least, expected, int64_t{256}}) + kJsonPadding);
  if (!GrowBuffer(wanted, column->pool, &column->text_buffer)) return false;
  column->text = reinterpret_cast<char*>(column->text_buffer->mutable_data());
  column->text_capacity = wanted - kJsonPadding;
  return true;
}

void ExpectRows(JsonObject* object, int64_t num_rows) {
  for (auto& column : object->owned_columns) {
    column->usual_length = num_rows;
    if (column->object != nullptr) ExpectRows(column->object, num_rows);
  }
}

bool GrowColumns(JsonObject* object) {
  return std::all_of(object->owned_columns.begin(), object->owned_columns.end(),
                     [](auto& column) {
                       return column->length < column->capacity || GrowRows(column.get());
                     });
}

void AppendMissing(JsonColumn* column) {
  const int64_t row = column->length++;
  arrow::bit_util::ClearBit(column->valid, row);
  ++column->num_nulls;
  switch (column->kind) {
    case JsonKind::kBool:
      break;
    case JsonKind::kList:
      column->list_offsets()[row + 1] = column->list_offsets()[row];
      break;
    case JsonKind::kObject:
      for (auto& child : column->object->owned_columns) AppendMissing(child.get());
      break;
    case JsonKind::kText:
    case JsonKind::kAnyText:
    case JsonKind::kJson:
      column->int64s()[row + 1] = column->text_size;
      break;
    default:
      column->int64s()[row] = 0;
  }
}

void FillMissing(JsonObject* object, int64_t row) {
  for (auto& column : object->owned_columns) {
    if (column->length == row) AppendMissing(column.get());
  }
}

void Truncate(JsonColumn* column, int64_t length) {
  if (column->capacity == 0) return;
  const int64_t kept = std::min(length, column->length);
  for (int64_t row = kept; row < column->length; ++row) {
    if (!arrow::bit_util::GetBit(column->valid, static_cast<uint64_t>(row))) {
      --column->num_nulls;
    }
    arrow::bit_util::SetBit(column->valid, row);
    if (column->kind == JsonKind::kBool) arrow::bit_util::ClearBit(column->values, row);
  }
  column->length = kept;
  if (HasText(column->kind)) column->text_size = TextBefore(column, kept);
  if (column->kind == JsonKind::kList) {
    Truncate(column->item, column->list_offsets()[kept]);
  }
  if (column->kind == JsonKind::kObject) Truncate(column->object, kept);
}

void Truncate(JsonObject* object, int64_t length) {
  for (auto& column : object->owned_columns) Truncate(column.get(), length);
}

arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> FinishColumns(
    JsonObject* object) {
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  for (auto& column : object->owned_columns) {
    ARROW_ASSIGN_OR_RAISE(auto array, FinishColumn(column.get()));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace xshards::io
