// SPDX-License-Identifier: Apache-2.0
// Runs one fragment that another process encoded, for fragment_process_test.cc.
//
//   xshards_fragment_worker REQUEST_FD OUTPUT_FD [KIND:FD:SIZE ...]
//
// Reads the encoded fragment from REQUEST_FD, with a segment behind each further
// argument, and writes the blocks of its output to OUTPUT_FD as one Arrow IPC stream
// each.
#include <cstdio>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>

#include "tests/xshards/execution/fragments/fragment_trees.h"
#include "xshards/context.h"
#include "xshards/execution/fragments/fragment.h"

namespace xshards {
namespace {

arrow::Result<std::shared_ptr<arrow::Buffer>> ReadRequest(int fd) {
  struct stat status{};
  fstat(fd, &status);
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(fd));
  return file->ReadAt(0, status.st_size);
}

arrow::Status Serve(const std::vector<std::string>& arguments) {
  ARROW_ASSIGN_OR_RAISE(auto context, Context::Make({.cores = 1}));
  ARROW_ASSIGN_OR_RAISE(auto request, ReadRequest(std::stoi(arguments.at(0))));
  std::vector<std::shared_ptr<Segment>> segments;
  for (size_t i = 2; i < arguments.size(); ++i) {
    int kind = 0;
    int fd = 0;
    long long size = 0;
    if (std::sscanf(arguments[i].c_str(), "%d:%d:%lld", &kind, &fd, &size) != 3) {
      return arrow::Status::Invalid("bad segment ", arguments[i]);
    }
    ARROW_ASSIGN_OR_RAISE(auto segment,
                          Segment::Adopt(static_cast<SegmentKind>(kind), fd, size));
    segments.push_back(std::move(segment));
  }
  ARROW_ASSIGN_OR_RAISE(auto fragment,
                        DecodeFragment(request, segments, context->storage()));
  ARROW_ASSIGN_OR_RAISE(auto result,
                        RunFragment(fragment, *DefaultOperators(), context->storage(),
                                    arrow::StopToken::Unstoppable()));
  ARROW_ASSIGN_OR_RAISE(auto output,
                        arrow::io::FileOutputStream::Open(std::stoi(arguments.at(1))));
  for (size_t i = 0; i < result.store->num_blocks(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, result.store->ReadBlock(i));
    ARROW_ASSIGN_OR_RAISE(auto writer,
                          arrow::ipc::MakeStreamWriter(output, batch->schema()));
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
    ARROW_RETURN_NOT_OK(writer->Close());
  }
  return output->Flush();
}

}  // namespace
}  // namespace xshards

int main(int argc, char** argv) {
  auto status = xshards::Serve({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
