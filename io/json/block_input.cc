// SPDX-License-Identifier: Apache-2.0
#include "io/json/block_input.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/fs/file_system.h"
#include "io/json/value_parser.h"
#include "io/text/byte_order_mark.h"

namespace xshards::io {
namespace {

static_assert(kJsonPadding <= kTextPadding);

}  // namespace

JsonInput::JsonInput(const Split& split, JsonLayout layout, TextBlocks blocks)
    : path_(split.path),
      begin_(split.begin),
      layout_(layout),
      blocks_(std::move(blocks)) {}

arrow::Result<JsonInput> JsonInput::Open(const Split& split, JsonLayout layout,
                                         int64_t block_bytes, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(split, {}, pool));
  return JsonInput(split, layout, TextBlocks(std::move(input), block_bytes, pool));
}

arrow::Result<JsonInput::Block> JsonInput::Next() {
  while (true) {
    const auto block = blocks_.Next();
    if (!block.ok()) return WithPath(block.status(), "Could not read", path_);
    const int64_t position = begin_ + blocks_.position();
    const std::string_view text = block->text();
    if (position == 0 && text.starts_with(kByteOrderMark)) {
      std::fill_n(block->mutable_text(), kByteOrderMark.size(), ' ');
    }
    auto size = static_cast<int64_t>(text.size());
    if (layout_ == JsonLayout::kLines && !block->is_last) {
      const size_t line_feed = text.rfind('\n');
      if (line_feed == std::string_view::npos) continue;  // retry with a larger block
      size = static_cast<int64_t>(line_feed) + 1;
    }
    return Block{.text = text.data(),
                 .size = size,
                 .position = position,
                 .is_last = block->is_last};
  }
}

arrow::Result<JsonLayout> FindJsonLayout(const std::string& path,
                                         arrow::MemoryPool* pool) {
  constexpr int64_t kBytes = 4096;
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, {}, 0, size, pool));
  for (bool is_first = true;; is_first = false) {
    char bytes[kBytes];
    const auto got = input.text->Read(kBytes, bytes);
    if (!got.ok()) return WithPath(got.status(), "Could not read", path);
    std::string_view text(bytes, static_cast<size_t>(*got));
    if (text.empty()) return JsonLayout::kLines;
    if (is_first && text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
    }
    const size_t at = text.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos) continue;
    return text[at] == '[' ? JsonLayout::kArray : JsonLayout::kLines;
  }
}

}  // namespace xshards::io
