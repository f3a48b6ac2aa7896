// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "io/fs/file_system.h"
#include "io/json/string_tracker.h"
#include "io/readers.h"
#include "io/text/byte_order_mark.h"
#include "io/text/text_input.h"

namespace xshards::io {
namespace {

/// Follows the first object of a text to its end, and checks what follows it.
class FirstObject {
 public:
  /// Returns whether more text matters.
  bool Feed(std::string_view text) {
    for (const char c : text) {
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
      if (quotes_.Contain(c) ? !TakesString() : !Follow(c)) {
        place_ = Place::kElsewhere;
        return false;
      }
    }
    return true;
  }

  /// Whether the text is this object, and all its values are objects or arrays.
  bool holds_columns() const { return place_ == Place::kBehind; }

 private:
  enum class Place : uint8_t { kBefore, kInside, kBehind, kElsewhere };

  // Whether a string is allowed here: as a key of the object, or inside a value.
  bool TakesString() const { return place_ == Place::kInside && !is_value_next_; }

  // A non-blank character; returns whether the text can still be such an object.
  bool Follow(char c) {
    if (place_ != Place::kInside) {
      const bool begins = place_ == Place::kBefore && c == '{';
      place_ = Place::kInside;
      depth_ = 1;
      return begins;
    }
    const bool opens = c == '{' || c == '[';
    if (is_value_next_ && !opens) return false;
    is_value_next_ = c == ':' && depth_ == 1;
    if (opens) ++depth_;
    if (c == '}' || c == ']') --depth_;
    if (depth_ == 0) place_ = Place::kBehind;
    return true;
  }

  Place place_ = Place::kBefore;
  int64_t depth_ = 0;
  bool is_value_next_ = false;  // of the object itself
  JsonQuotes quotes_;
};

arrow::Result<bool> FileHoldsColumns(const std::string& path, int64_t size,
                                     const arrow::StopToken& stop,
                                     arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(path, {}, 0, size, pool));
  FirstObject object;
  std::array<char, 64 << 10> bytes;
  for (bool is_first = true;; is_first = false) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          input.text->Read(bytes.size(), bytes.data()));
    std::string_view text(bytes.data(), static_cast<size_t>(got));
    if (is_first && text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
    }
    if (got == 0 || !object.Feed(text)) return object.holds_columns();
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
