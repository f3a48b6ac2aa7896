// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string_view>
#include <utility>

#include "io/fs/file_system.h"
#include "io/json/record_boundaries.h"
#include "io/json/simdjson_internal.h"
#include "io/json/value_parser.h"
#include "io/readers.h"
#include "io/text/byte_order_mark.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int64_t kFirstBytes = 64 << 10;
constexpr int64_t kMaxDocumentBytes = std::numeric_limits<uint32_t>::max();

enum class Holds : uint8_t { kOther, kColumns, kIncomplete };

// Whether all values of an object are objects or arrays.
bool HasColumnsOnly(ondemand::document_reference document) {
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto next : object) {
    ondemand::field member;
    ondemand::json_type type{};
    if (std::move(next).get(member) != simdjson::SUCCESS) return false;
    if (member.value().type().get(type) != simdjson::SUCCESS) return false;
    const bool is_column =
        type == ondemand::json_type::object || type == ondemand::json_type::array;
    if (!is_column) return false;
  }
  return true;
}

// What the start of a text holds: its first document, if that is complete.
Holds FirstDocument(ondemand::parser* parser, std::string_view text) {
  const char* const end = WholeCharactersEnd(text.data(), text.data() + text.size());
  const auto size = static_cast<size_t>(end - text.data());
  ondemand::document_stream documents;
  if (parser->iterate_many(text.data(), size, size).get(documents) != simdjson::SUCCESS) {
    return Holds::kOther;
  }
  auto next = documents.begin();
  if (!(next != documents.end())) return Holds::kIncomplete;
  ondemand::document_reference first;
  if ((*next).get(first) != simdjson::SUCCESS) return Holds::kOther;
  if (!HasColumnsOnly(first)) return Holds::kOther;
  ++next;
  const bool is_alone = !(next != documents.end()) && documents.truncated_bytes() == 0 &&
                        end == &*text.end();
  return is_alone ? Holds::kColumns : Holds::kOther;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

arrow::Result<bool> FileHoldsColumns(const std::string& path, int64_t size,
                                     const arrow::StopToken& stop,
                                     arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, {}, 0, size, pool));
  TextBlocks blocks(std::move(input), kFirstBytes, pool, kMaxDocumentBytes);
  ondemand::parser parser;
  Holds holds = Holds::kIncomplete;
  while (true) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    std::string_view text = block.text();
    if (holds == Holds::kIncomplete) {
      if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
      const size_t begin = text.find_first_not_of(" \t\r\n");
      if (begin != std::string_view::npos) {
        if (text[begin] != '{') return false;
        holds = FirstDocument(&parser, text.substr(begin));
      }
    } else if (!IsBlank(text)) {
      return false;
    }
    if (holds == Holds::kOther || block.is_last) return holds == Holds::kColumns;
    if (holds == Holds::kColumns) blocks.Consume(block.buffer->size());
  }
}

}  // namespace

arrow::Result<bool> HoldsJsonColumns(Context& context, const std::string& path,
                                     const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  const auto info = location.file_system->GetFileInfo(location.path);
  if (!info.ok() || !info->IsFile()) return false;
  auto holds = FileHoldsColumns(path, info->size(), stop, context.memory_pool());
  if (!holds.ok()) return WithPath(holds.status(), "Could not read", path);
  return holds;
}

}  // namespace xshards::io
