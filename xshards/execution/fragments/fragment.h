// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/fragments/metrics.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/export.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// The work for one output partition: a tree of nodes whose leaves are one split of a
/// file or existing partitions, and what to do with the rows. Data: it can be sent to
/// another thread, process or host and run there.
struct Fragment {
  int32_t index = 0;
  Plan root;
  SinkSpec sink;
};

/// The result of a fragment: the store (empty for kWrite and kCount), the unpartitioned
/// rows if the sink keeps them, and the count of rows and bytes.
struct FragmentResult {
  std::shared_ptr<BlockStore> store;
  std::shared_ptr<BlockStore>
      whole;  // see SinkSpec::keep_whole; nullptr if not requested
  FragmentMetrics metrics;
  FragmentSpan span;
};

/// Run a fragment on the calling thread. `abandoned`, if given, stops it too: a runner
/// sets it when another fragment has failed. `stage`, if given, is the state shared by
/// fragments of the stage in this process.
XSHARDS_EXPORT arrow::Result<FragmentResult> RunFragment(
    const Fragment& fragment, const OperatorTable& operators,
    StorageEnvironment environment, const arrow::StopToken& stop,
    const std::atomic<bool>* abandoned = nullptr, StageState* stage = nullptr);

/// True if the fragment calls a Python function.
XSHARDS_EXPORT bool NeedsPython(const PlanNode& root);
/// True if it calls one that runs on this process's threads.
XSHARDS_EXPORT bool NeedsPythonThreads(const PlanNode& root);
/// The bytes the fragment reads from partitions and files, so that a runner can start
/// with the largest.
XSHARDS_EXPORT int64_t InputBytes(const PlanNode& root);

/// Bytes in our own versioned format, plus what is sent with them: segments by
/// descriptor, Python functions by hash.
struct Encoded {
  std::shared_ptr<arrow::Buffer> bytes;
  std::vector<std::shared_ptr<Segment>> segments;
  size_t num_known = 0;  // the first segments, which the receiver of a result already has
  std::map<std::string, std::shared_ptr<arrow::Buffer>> functions;
};

/// Heap data that a fragment refers to is moved to shared segments first. The sender of
/// the segments must Lend() them.
XSHARDS_EXPORT arrow::Result<Encoded> EncodeFragment(const Fragment& fragment,
                                                     StorageEnvironment environment);
/// `segments` in the order they were encoded; the function pickles may be missing (the
/// receiver knows them by hash). Invalid if the version or the bytes are not ours.
XSHARDS_EXPORT arrow::Result<Fragment> DecodeFragment(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments, StorageEnvironment environment);

/// What a worker reports about a segment that was sent with its fragment.
struct KnownSegment {
  std::shared_ptr<Segment> segment;
  bool still_mapped = false;  // an object in the worker outlives the fragment and uses it
};

/// Encode a result. Every block must be in a segment (sink storage kShared); segments
/// that were sent with the fragment are returned by number.
XSHARDS_EXPORT arrow::Result<Encoded> EncodeResult(
    const FragmentResult& result, const std::vector<KnownSegment>& known = {});
/// `segments` are those that were sent with the fragment, which are taken back unless
/// still mapped, and after them those that came with the result.
XSHARDS_EXPORT arrow::Result<FragmentResult> DecodeResult(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments, StorageEnvironment environment);

}  // namespace xshards
