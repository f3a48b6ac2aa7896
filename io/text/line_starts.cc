// SPDX-License-Identifier: Apache-2.0
#include "io/text/line_starts.h"

#include <algorithm>
#include <string_view>

#include <arrow/buffer.h>

namespace xshards::io {

arrow::Result<std::vector<int64_t>> FindLineStarts(arrow::io::RandomAccessFile& file,
                                                   int64_t end,
                                                   const std::vector<int64_t>& targets,
                                                   arrow::MemoryPool* pool) {
  constexpr int64_t kChunkBytes = 64LL << 10;
  ARROW_ASSIGN_OR_RAISE(auto chunk, arrow::AllocateBuffer(kChunkBytes, pool));
  std::vector<int64_t> starts;
  for (const int64_t target : targets) {
    if (!starts.empty() && target <= starts.back()) continue;
    for (int64_t at = target - 1; at < end;) {
      const int64_t wanted = std::min(kChunkBytes, end - at);
      ARROW_ASSIGN_OR_RAISE(const int64_t got,
                            file.ReadAt(at, wanted, chunk->mutable_data()));
      if (got == 0) return starts;
      const std::string_view text(reinterpret_cast<const char*>(chunk->data()),
                                  static_cast<size_t>(got));
      const size_t line_feed = std::min(text.find('\n'), text.size());
      at += static_cast<int64_t>(line_feed);
      if (line_feed < text.size()) {
        if (at + 1 < end) starts.push_back(at + 1);
        break;
      }
    }
  }
  return starts;
}

}  // namespace xshards::io
