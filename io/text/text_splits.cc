// SPDX-License-Identifier: Apache-2.0
#include "io/text/text_splits.h"

#include <utility>

#include "io/fs/file_fingerprint.h"

namespace xshards::io {

std::vector<Split> CutAt(const InputFile& file, int64_t data_begin,
                         const std::vector<int64_t>& starts) {
  std::vector<Split> splits;
  const auto add = [&](int64_t begin, int64_t end) {
    splits.push_back(
        {.path = file.path, .begin = begin, .end = end, .num_bytes = end - begin});
    NoteFileState(file, &splits.back());
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

void DropEmptySplits(std::vector<Split>* splits) {
  if (splits->empty()) return;
  Split first = splits->front();
  std::erase_if(*splits, [](const Split& split) {
    return split.begin == split.end && split.num_bytes == 0;
  });
  if (splits->empty()) splits->push_back(std::move(first));
}

}  // namespace xshards::io
