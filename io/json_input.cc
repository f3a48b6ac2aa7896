// SPDX-License-Identifier: Apache-2.0
#include "io/json_input.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "io/file_system.h"
#include "io/json_text.h"

namespace xshards::io {
namespace {

constexpr int64_t kMaxBlockBytes = 1LL << 30;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

JsonInput::JsonInput(TextInput input, JsonLayout layout, int64_t block_bytes,
                     int64_t position)
    : input_(std::move(input)),
      layout_(layout),
      block_bytes_(block_bytes),
      position_(position) {}

arrow::Result<std::unique_ptr<JsonInput>> JsonInput::Open(const Split& split,
                                                          JsonLayout layout,
                                                          int64_t block_bytes,
                                                          arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(split.path, {}, split.begin, split.end, pool));
  std::unique_ptr<JsonInput> made(
      new JsonInput(std::move(input), layout, block_bytes, split.begin));
  ARROW_ASSIGN_OR_RAISE(made->buffer_,
                        arrow::AllocateResizableBuffer(block_bytes + kJsonPadding, pool));
  return made;
}

arrow::Result<JsonInput::Block> JsonInput::Next() {
  while (true) {
    const int64_t left = filled_ - consumed_;
    if (consumed_ > 0 && left > 0) {
      std::memmove(buffer_->mutable_data(), buffer_->data() + consumed_,
                   static_cast<size_t>(left));
    }
    if (consumed_ == 0 && filled_ > 0) block_bytes_ *= 2;
    position_ += consumed_;
    consumed_ = 0;
    filled_ = left;
    const int64_t wanted = std::max(block_bytes_, left + block_bytes_ / 2);
    if (wanted > kMaxBlockBytes) {
      return arrow::Status::Invalid(
          "Expected records of less than 1 GB; the one at byte ", position_,
          " is longer");
    }
    if (wanted + kJsonPadding > buffer_->size()) {
      ARROW_RETURN_NOT_OK(buffer_->Resize(wanted + kJsonPadding, false));
    }
    uint8_t* const data = buffer_->mutable_data();
    bool is_last = false;
    while (filled_ < wanted) {
      ARROW_ASSIGN_OR_RAISE(const int64_t got,
                            input_.text->Read(wanted - filled_, data + filled_));
      if (got == 0) {
        is_last = true;
        break;
      }
      filled_ += got;
    }
    std::memset(data + filled_, 0, kJsonPadding);
    const std::string_view text(reinterpret_cast<const char*>(data),
                                static_cast<size_t>(filled_));
    if (position_ == 0 && text.starts_with(kByteOrderMark)) {
      std::memset(data, ' ', kByteOrderMark.size());
    }
    int64_t size = filled_;
    if (layout_ == JsonLayout::kLines && !is_last) {
      const size_t line_feed = text.rfind('\n');
      if (line_feed == std::string_view::npos) continue;
      size = static_cast<int64_t>(line_feed) + 1;
    }
    return Block{
        .text = text.data(), .size = size, .position = position_, .is_last = is_last};
  }
}

arrow::Result<JsonLayout> FindJsonLayout(const std::string& path,
                                         arrow::MemoryPool* pool) {
  constexpr int64_t kBytes = 4096;
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, {}, 0, kBytes, pool));
  for (bool is_first = true;; is_first = false) {
    char bytes[kBytes];
    auto got = input.text->Read(kBytes, bytes);
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
