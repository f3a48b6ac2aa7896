// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/fragments/metrics.h"
#include "xshards/export.h"
#include "xshards/output/job_output.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/plan.h"
#include "xshards/plan/sink.h"
#include "xshards/storage/batch_stream.h"
#include "xshards/storage/block_store.h"

namespace xshards {

/// What an executor may use while it runs a fragment. Lives until the fragment is done.
struct OperatorContext {
  arrow::MemoryPool* pool = nullptr;  // counted in the budget
  StorageEnvironment storage;
  arrow::StopToken stop = arrow::StopToken::Unstoppable();  // Poll() once per batch
  FragmentMetrics* metrics = nullptr;
  StageState* stage = nullptr;  // nullptr: no shared state
  int32_t partition_index = 0;
  int64_t batch_bytes = 4LL << 20;  // aim for batches of about this size
};

using BatchStreams = std::vector<std::unique_ptr<BatchStream>>;

/// Opens a node on one partition: given the streams of its inputs, returns its output.
/// Must not read its inputs before the first Next(), so that opening is cheap.
using OpenNode = std::function<arrow::Result<std::unique_ptr<BatchStream>>(
    const PlanNode& node, BatchStreams inputs, OperatorContext& context)>;

/// Consumes a stream to its end, appending what the sink stores to `out`.
using RunSink = std::function<arrow::Status(const SinkSpec& spec, BatchStream& input,
                                            BlockWriter& out, OperatorContext& context)>;

/// Maps node kinds to executors and sink kinds to consumers. Filled once, then immutable
/// and shared by the Context's threads.
class XSHARDS_EXPORT OperatorTable {
 public:
  void Set(NodeKind kind, OpenNode open);
  /// Scans and writers are found by format.
  void SetScan(const std::string& format, OpenNode open);
  void SetSink(SinkKind kind, RunSink run);
  void SetWriter(const std::string& format, RunSink run);
  /// For formats whose scans infer types.
  void SetTypeFinder(const std::string& format, FindTypes find, DescribePlace describe);
  /// How files are written to other places than local directories.
  void SetOutput(OpenOutput open);

  /// NotImplemented names the node kind or format.
  arrow::Result<const OpenNode*> Find(const PlanNode& node) const;
  arrow::Result<const RunSink*> FindSink(const SinkSpec& spec) const;
  arrow::Result<const FindTypes*> TypeFinder(const std::string& format) const;
  arrow::Result<const DescribePlace*> PlaceDescriber(const std::string& format) const;
  /// An OutputDirectory, unless SetOutput says otherwise.
  arrow::Result<std::unique_ptr<JobOutput>> MakeOutput(const std::string& path,
                                                       WriteMode mode) const;

 private:
  std::array<OpenNode, kNumNodeKinds> nodes_;
  std::map<std::string, OpenNode> scans_;
  std::map<SinkKind, RunSink> sinks_;
  std::map<std::string, RunSink> writers_;
  struct InferredFormat {
    FindTypes find;
    DescribePlace describe;
  };
  arrow::Result<const InferredFormat*> FindInferred(const std::string& format) const;

  std::map<std::string, InferredFormat> inferred_;
  OpenOutput open_output_;
};

/// Literal, and the Publish and Count sinks, which need nothing but core.
XSHARDS_EXPORT void AddCoreOperators(OperatorTable& table);
/// All executors of io/ and ops/. Defined in default_operators.cc, where the layers meet.
XSHARDS_EXPORT std::shared_ptr<const OperatorTable> DefaultOperators();

}  // namespace xshards
