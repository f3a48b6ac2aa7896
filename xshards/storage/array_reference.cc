// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/array_reference.h"

#include <algorithm>
#include <map>
#include <utility>

#include <arrow/array.h>
#include <arrow/extension_type.h>

#include "xshards/types/row_bytes.h"

namespace xshards {

namespace {

// A segment lives as long as anything refers to it. Keeping it for less than this share
// of its bytes costs more memory than copying them.
constexpr int64_t kLeastUsedPart = 8;

bool IsReferable(const arrow::Buffer& buffer, const PrivateMemory& memory) {
  return memory.Find(buffer.data(), buffer.size()).has_value() &&
         memory.IsUnchanged(buffer.data(), buffer.size());
}

/// The layout of a column's buffers, children and dictionary included.
struct Usage {
  int64_t total_bytes = 0;
  int64_t referable_bytes = 0;
  std::vector<std::shared_ptr<Segment>> segments;
};

void Add(const arrow::ArrayData& data, const PrivateMemory& memory, Usage* usage) {
  for (const auto& buffer : data.buffers) {
    if (buffer == nullptr) continue;
    usage->total_bytes += buffer->size();
    if (!IsReferable(*buffer, memory)) continue;
    usage->referable_bytes += buffer->size();
    auto segment = memory.Find(buffer->data(), buffer->size())->segment;
    auto& seen = usage->segments;
    if (std::find(seen.begin(), seen.end(), segment) == seen.end()) {
      seen.push_back(std::move(segment));
    }
  }
  for (const auto& child : data.child_data) Add(*child, memory, usage);
  if (data.dictionary != nullptr) Add(*data.dictionary, memory, usage);
}

// Arrow takes the buffers of an array for granted when it makes one.
arrow::Status CheckLayout(const ArrayReference& reference, const arrow::DataType& type) {
  const auto layout = type.layout();
  const bool has_buffers = layout.variadic_spec.has_value()
                               ? reference.buffers.size() >= layout.buffers.size()
                               : reference.buffers.size() == layout.buffers.size();
  const size_t num_dictionaries = layout.has_dictionary ? 1 : 0;
  if (has_buffers && reference.dictionary.size() == num_dictionaries) {
    return arrow::Status::OK();
  }
  return arrow::Status::Invalid("A column of type ", type.ToString(), " has ",
                                reference.buffers.size(), " buffers and ",
                                reference.dictionary.size(), " dictionaries");
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadData(
    const ArrayReference& reference, const std::shared_ptr<arrow::DataType>& type) {
  ARROW_RETURN_NOT_OK(CheckLayout(reference, *type));
  arrow::BufferVector buffers;
  for (const auto& [present, segment, range] : reference.buffers) {
    if (segment == nullptr) {
      buffers.push_back(present ? std::make_shared<arrow::Buffer>("") : nullptr);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto mapping, Segment::Map(segment));
    ARROW_ASSIGN_OR_RAISE(auto slice,
                          arrow::SliceBufferSafe(mapping, range.offset, range.length));
    buffers.push_back(std::move(slice));
  }
  auto data = arrow::ArrayData::Make(type, reference.length, std::move(buffers),
                                     reference.null_count, reference.offset);
  const arrow::DataType* layout = type.get();
  if (layout->id() == arrow::Type::EXTENSION) {
    layout = static_cast<const arrow::ExtensionType&>(*type).storage_type().get();
  }
  if (static_cast<size_t>(layout->num_fields()) != reference.children.size()) {
    return arrow::Status::Invalid("A column of type ", type->ToString(), " has ",
                                  layout->num_fields(), " children, got ",
                                  reference.children.size());
  }
  for (size_t i = 0; i < reference.children.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(
        auto child,
        ReadData(reference.children[i], layout->field(static_cast<int>(i))->type()));
    data->child_data.push_back(std::move(child));
  }
  if (layout->id() == arrow::Type::DICTIONARY && !reference.dictionary.empty()) {
    const auto& values = static_cast<const arrow::DictionaryType&>(*layout).value_type();
    ARROW_ASSIGN_OR_RAISE(data->dictionary, ReadData(reference.dictionary[0], values));
  }
  return data;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> ArrayReference::Read(
    const std::shared_ptr<arrow::DataType>& type) const {
  ARROW_ASSIGN_OR_RAISE(auto data, ReadData(*this, type));
  auto array = arrow::MakeArray(data);
  ARROW_RETURN_NOT_OK(array->Validate());
  return array;
}

ArrayReference ReferWithin(const arrow::ArrayData& column,
                           const std::shared_ptr<Segment>& segment,
                           const arrow::Buffer& mapping) {
  ArrayReference reference{.length = column.length,
                           .null_count = column.GetNullCount(),
                           .offset = column.offset};
  for (const auto& buffer : column.buffers) {
    auto& place = reference.buffers.emplace_back();
    place.present = buffer != nullptr;
    if (buffer == nullptr || buffer->size() == 0) continue;
    place.segment = segment;
    place.range = {.offset = buffer->data() - mapping.data(), .length = buffer->size()};
  }
  for (const auto& child : column.child_data) {
    reference.children.push_back(ReferWithin(*child, segment, mapping));
  }
  if (column.dictionary != nullptr) {
    reference.dictionary.push_back(ReferWithin(*column.dictionary, segment, mapping));
  }
  return reference;
}

std::vector<bool> FindReferences(const arrow::RecordBatch& batch,
                                 const PrivateMemory& memory) {
  std::vector<Usage> columns;
  std::map<Segment*, int64_t> used;
  for (const auto& column : batch.columns()) {
    Usage usage;
    Add(*column->data(), memory, &usage);
    const int64_t bytes = RowBytes(*column->data());
    for (const auto& segment : usage.segments) used[segment.get()] += bytes;
    columns.push_back(std::move(usage));
  }
  std::vector<bool> found;
  for (const Usage& usage : columns) {
    const bool mostly = usage.referable_bytes > usage.total_bytes / 2;
    found.push_back(mostly && std::all_of(usage.segments.begin(), usage.segments.end(),
                                          [&](const auto& segment) {
                                            return used[segment.get()] >=
                                                   segment->size() / kLeastUsedPart;
                                          }));
  }
  return found;
}

arrow::Result<ArrayReference> Refer(const arrow::ArrayData& column,
                                    const PrivateMemory& memory, const OwnSegment& own) {
  ArrayReference reference{
      .length = column.length, .null_count = column.null_count, .offset = column.offset};
  for (const auto& buffer : column.buffers) {
    auto& place = reference.buffers.emplace_back();
    place.present = buffer != nullptr;
    if (buffer == nullptr || buffer->size() == 0) continue;
    if (IsReferable(*buffer, memory)) {
      auto found = memory.Find(buffer->data(), buffer->size());
      place = {.present = true,
               .segment = std::move(found->segment),
               .range = {.offset = found->offset, .length = buffer->size()}};
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(place.segment, own());
    ARROW_ASSIGN_OR_RAISE(place.range, place.segment->Append(*buffer));
  }
  for (const auto& child : column.child_data) {
    ARROW_ASSIGN_OR_RAISE(auto referred, Refer(*child, memory, own));
    reference.children.push_back(std::move(referred));
  }
  if (column.dictionary != nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto referred, Refer(*column.dictionary, memory, own));
    reference.dictionary.push_back(std::move(referred));
  }
  return reference;
}

}  // namespace xshards
