// SPDX-License-Identifier: Apache-2.0
#include "io/text_splits.h"

#include <string_view>
#include <utility>

#include "io/file_system.h"
#include "io/record_boundaries.h"
#include "io/text_input.h"

namespace xshards::io {
std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts) {
  std::vector<Split> splits;
  const auto add = [&](int64_t begin, int64_t end) {
    splits.push_back(
        {.path = file.path, .begin = begin, .end = end, .num_bytes = end - begin});
  };
  int64_t begin = data_begin;
  for (const int64_t start : starts) {
    if (start <= begin || start >= file.size) continue;
    add(begin, start);
    begin = start;
  }
  add(begin, file.size);
  return splits;
}

arrow::Result<std::vector<Split>> PlanLineSplits(const InputFile& file,
                                                 int64_t target_bytes,
                                                 arrow::MemoryPool* pool) {
  if (IsSequential(file.path, {})) return CutAt(file, 0, {});
  ARROW_ASSIGN_OR_RAISE(auto input, OpenFile(file.path));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  char start[3] = {};
  auto got = input->ReadAt(0, sizeof(start), start);
  if (!got.ok()) return WithPath(got.status(), "Could not read", file.path);
  const bool marked = std::string_view(start, sizeof(start)) == kByteOrderMark;
  const int64_t begin = marked ? 3 : 0;
  auto starts = FindLineStarts(*input, file.size,
                               EvenTargets(begin, file.size, target_bytes), pool);
  if (!starts.ok()) return WithPath(starts.status(), "Could not split", file.path);
  return CutAt(file, begin, *starts);
}

void DropEmptySplits(std::vector<Split>* splits) {
  if (splits->empty()) return;
  Split first = splits->front();
  std::erase_if(*splits, [](const Split& split) {
    return split.begin == split.end && split.num_bytes == 0;
  });
  if (splits->empty()) splits->push_back(std::move(first));
}

}  // namespace xshards::io
