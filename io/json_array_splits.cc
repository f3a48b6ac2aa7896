// SPDX-License-Identifier: Apache-2.0
#include "io/json_array_splits.h"

#include <algorithm>

#include <arrow/buffer.h>

#include "io/file_system.h"
#include "io/text_input.h"
#include "io/text_splits.h"

namespace xshards::io {
namespace {

// Follows brackets and strings to find the objects of the outermost array.
class RecordFinder {
 public:
  explicit RecordFinder(int64_t target_bytes) : target_bytes_(target_bytes) {}

  void Feed(const char* text, int64_t size, int64_t position) {
    for (int64_t i = 0; i < size; ++i) {
      const char c = text[i];
      if (in_string_) {
        if (is_escaped_) {
          is_escaped_ = false;
        } else if (c == '\\') {
          is_escaped_ = true;
        } else if (c == '"') {
          in_string_ = false;
        }
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        // The first record belongs to the bracket before it.
        if (depth_ == 1 && c == '{' && position + i >= next_ && has_record_) {
          starts_.push_back(position + i);
          next_ = position + i + target_bytes_;
        }
        has_record_ = has_record_ || depth_ == 1;
        ++depth_;
      } else if (c == '}' || c == ']') {
        --depth_;
      }
    }
  }

  const std::vector<int64_t>& starts() const { return starts_; }

 private:
  const int64_t target_bytes_;
  int64_t next_ = target_bytes_;
  int64_t depth_ = 0;
  bool has_record_ = false;
  bool in_string_ = false;
  bool is_escaped_ = false;
  std::vector<int64_t> starts_;
};

}  // namespace

arrow::Result<std::vector<Split>> PlanArraySplits(const InputFile& file,
                                                  int64_t target_bytes,
                                                  arrow::MemoryPool* pool) {
  constexpr int64_t kChunkBytes = 1LL << 20;
  if (IsCompressed(file.path) || file.size <= target_bytes) return CutAt(file, 0, {});
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(file.path));
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(kChunkBytes, pool));
  RecordFinder finder(target_bytes);
  for (int64_t at = 0; at < file.size;) {
    auto got =
        input->ReadAt(at, std::min(kChunkBytes, file.size - at), chunk->mutable_data());
    if (!got.ok()) return WithPath(got.status(), "Could not split", file.path);
    if (*got == 0) break;
    finder.Feed(reinterpret_cast<const char*>(chunk->data()), *got, at);
    at += *got;
  }
  return CutAt(file, 0, finder.starts());
}

}  // namespace xshards::io
