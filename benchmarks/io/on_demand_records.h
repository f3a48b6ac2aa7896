// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records by simdjson's On-Demand parser, into the columns that the record loop fills. It
// finds keys as simdjson recommends, in the order of the columns, and checks no more than
// On-Demand itself does: unused values are skipped unchecked.

#include <cstdint>
#include <string_view>
#include <utility>

#include "io/json/column_builders.h"
#include "io/json/simdjson_internal.h"

namespace xshards::bench {

class OnDemandRecords {
 public:
  explicit OnDemandRecords(io::JsonObject* columns) : columns_(columns) {}

  /// Append JSON lines, followed by padding; returns the number of records, -1 on error.
  int64_t Append(const char* text, size_t size, size_t padding) {
    simdjson::ondemand::document_stream records;
    if (parser_.iterate_many(text, size, size + padding).get(records) != kOk) return -1;
    int64_t num_rows = 0;
    for (auto next : records) {
      Object record;
      if (!io::GrowColumns(columns_) || next.get_object().get(record) != kOk ||
          !AppendObject(*columns_, record)) {
        return -1;
      }
      ++num_rows;
    }
    return num_rows;
  }

 private:
  static constexpr auto kOk = simdjson::SUCCESS;
  using Value = simdjson::ondemand::value;
  using Object = simdjson::ondemand::object;

  static bool AppendObject(io::JsonObject& columns, Object& object) {
    for (auto& column : columns.owned_columns) {
      Value value;
      if (object.find_field(column->name).get(value) != kOk ||
          !AppendValue(*column, value)) {
        return false;
      }
    }
    return true;
  }

  static bool AppendText(io::JsonColumn& column, std::string_view text) {
    const auto size = static_cast<int64_t>(text.size());
    if (column.text_size + size > column.text_capacity &&
        !io::GrowText(&column, column.text_size + size)) {
      return false;
    }
    text.copy(column.text + column.text_size, text.size());
    column.text_size += size;
    column.int64s()[++column.length] = column.text_size;
    return true;
  }

  static bool AppendList(io::JsonColumn& column, Value& value) {
    simdjson::ondemand::array items;
    if (value.get_array().get(items) != kOk) return false;
    io::JsonColumn& item = *column.item;
    for (auto next : items) {
      Value each;
      if (item.length == item.capacity && !io::GrowRows(&item)) return false;
      if (std::move(next).get(each) != kOk || !AppendValue(item, each)) return false;
    }
    column.list_offsets()[++column.length] = static_cast<int32_t>(item.length);
    return true;
  }

  static bool AppendValue(io::JsonColumn& column, Value& value) {
    switch (column.kind) {
      case io::JsonKind::kInt64:
        return value.get_int64().get(column.int64s()[column.length++]) == kOk;
      case io::JsonKind::kDouble:
        return value.get_double().get(column.doubles()[column.length++]) == kOk;
      case io::JsonKind::kText: {
        std::string_view text;
        return value.get_string().get(text) == kOk && AppendText(column, text);
      }
      case io::JsonKind::kJson: {
        std::string_view text;
        return value.raw_json().get(text) == kOk && AppendText(column, text);
      }
      case io::JsonKind::kList:
        return AppendList(column, value);
      case io::JsonKind::kObject: {
        Object object;
        if (value.get_object().get(object) != kOk) return false;
        ++column.length;
        return AppendObject(*column.object, object);
      }
      default:
        return false;
    }
  }

  io::JsonObject* const columns_;
  simdjson::ondemand::parser parser_;
};

}  // namespace xshards::bench
