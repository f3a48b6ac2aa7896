// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/fragments/fragment.h"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <utility>

#include "xshards/catch_exceptions.h"
#include "xshards/execution/fragments/bounded_stream.h"
#include "xshards/plan/codec.h"

namespace xshards {

namespace {

// "XSF" and a version. Raise it whenever the bytes change.
constexpr uint32_t kFragmentMagic = 0x4653580B;
constexpr uint32_t kResultMagic = 0x52535803;

/// True if a node outputs a partition as one batch, however large.
bool GivesWhole(const PlanNode& node) {
  return node.kind() == NodeKind::kLiteral || node.kind() == NodeKind::kMapPython;
}

/// Wraps the leaves of a fragment, so that it stops between two batches, whatever
/// operators run above.
class StoppableStream final : public BatchStream {
 public:
  StoppableStream(std::unique_ptr<BatchStream> input, const arrow::StopToken& stop,
                  const std::atomic<bool>* abandoned)
      : input_(std::move(input)), stop_(stop), abandoned_(abandoned) {}

  const std::shared_ptr<arrow::Schema>& schema() const override {
    return input_->schema();
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_RETURN_NOT_OK(stop_.Poll());
    if (abandoned_ != nullptr && abandoned_->load(std::memory_order_relaxed)) {
      return arrow::Status::Cancelled("Another partition failed");
    }
    return input_->Next();
  }

 private:
  std::unique_ptr<BatchStream> input_;
  const arrow::StopToken stop_;
  const std::atomic<bool>* abandoned_;
};

class FragmentOpener {
 public:
  FragmentOpener(const OperatorTable& operators, OperatorContext& context,
                 const std::atomic<bool>* abandoned)
      : operators_(operators), context_(context), abandoned_(abandoned) {}

  arrow::Result<std::unique_ptr<BatchStream>> Open(const PlanNode& node) {
    BatchStreams inputs;
    for (const auto& input : node.inputs) {
      ARROW_ASSIGN_OR_RAISE(auto stream, Open(*input));
      if (GivesWhole(*input) && node.kind() != NodeKind::kMapPython) {
        stream = BoundBatches(std::move(stream), context_.batch_bytes);
      }
      inputs.push_back(std::move(stream));
    }
    ARROW_ASSIGN_OR_RAISE(const OpenNode* open, operators_.Find(node));
    ARROW_ASSIGN_OR_RAISE(auto stream, (*open)(node, std::move(inputs), context_));
    if (!node.inputs.empty()) return stream;
    return std::make_unique<StoppableStream>(std::move(stream), context_.stop,
                                             abandoned_);
  }

 private:
  const OperatorTable& operators_;
  OperatorContext& context_;
  const std::atomic<bool>* abandoned_;
};

bool Any(const PlanNode& root, bool (*test)(const PlanNode&)) {
  if (test(root)) return true;
  return std::any_of(root.inputs.begin(), root.inputs.end(),
                     [test](const Plan& input) { return Any(*input, test); });
}

arrow::Status CheckMagic(ByteReader& bytes, uint32_t expected, const char* what) {
  uint32_t magic = 0;
  ARROW_RETURN_NOT_OK(bytes.Get(&magic));
  if (magic == expected) return arrow::Status::OK();
  return arrow::Status::Invalid("These bytes are not a ", what,
                                " of this version of XShards");
}

/// Publish the rows of a stream unpartitioned, for SinkSpec::keep_whole.
arrow::Result<std::shared_ptr<BlockStore>> PublishWhole(const SinkSpec& sink,
                                                        BatchStream& stream,
                                                        const OperatorTable& operators,
                                                        OperatorContext& context) {
  const SinkSpec publish{.kind = SinkKind::kPublish, .storage = sink.storage};
  ARROW_ASSIGN_OR_RAISE(const RunSink* run, operators.FindSink(publish));
  BlockWriter writer(context.storage, publish.storage);
  ARROW_RETURN_NOT_OK((*run)(publish, stream, writer, context));
  context.metrics->bytes_written += writer.bytes_written();
  return writer.Finish();
}

/// True if all blocks are tables of one schema that has the keys.
bool CanPartition(const BlockStore& store, const std::vector<std::string>& keys) {
  const auto blocks = store.blocks();
  if (blocks.empty()) return false;
  const arrow::Schema& schema = *blocks.front().schema;
  return std::all_of(blocks.begin(), blocks.end(),
                     [&](const BlockStore::Block& block) {
                       return KindOf(*block.schema) == PayloadKind::kTable &&
                              block.schema->Equals(schema);
                     }) &&
         std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
           return schema.GetFieldIndex(key) >= 0;
         });
}

/// Read the state of the segments that were sent with a fragment.
arrow::Status TakeBack(ByteReader& bytes,
                       std::span<const std::shared_ptr<Segment>> segments) {
  int64_t count = 0;
  ARROW_RETURN_NOT_OK(bytes.GetCount(&count));
  if (count > static_cast<int64_t>(segments.size())) {
    return arrow::Status::Invalid("Encoded result lists ", count, " segments of ",
                                  segments.size());
  }
  for (const auto& segment : segments.first(static_cast<size_t>(count))) {
    int64_t size = 0;
    bool still_mapped = false;
    ARROW_RETURN_NOT_OK(bytes.Get(&size));
    ARROW_RETURN_NOT_OK(bytes.Get(&still_mapped));
    // It was sent empty, to be written.
    if (segment->size() == 0 && size > 0) {
      if (size > segment->num_warm_bytes()) {
        return arrow::Status::Invalid("A result claims ", size,
                                      " bytes written to a segment of ",
                                      segment->num_warm_bytes());
      }
      segment->SetWritten(size);
    }
    if (!still_mapped) segment->TakeBack();
  }
  return arrow::Status::OK();
}

Encoded Finish(PlanEncoder& encoder) {
  return {.bytes = encoder.bytes().Finish(),
          .segments = encoder.segments(),
          .functions = encoder.functions()};
}

arrow::Result<FragmentResult> RunTree(const Fragment& fragment,
                                      const OperatorTable& operators,
                                      StorageEnvironment environment,
                                      const arrow::StopToken& stop,
                                      const std::atomic<bool>* abandoned,
                                      StageState* stage) {
  FragmentResult result;
  result.span = {.index = fragment.index,
                 .begin_ns = SteadyNanoseconds(),
                 .process = getpid(),
                 .thread = gettid()};
  OperatorContext context;
  context.pool = environment.budget->pool();
  context.storage = environment;
  context.stop = stop;
  context.stage = stage;
  context.metrics = &result.metrics;
  context.partition_index = fragment.index;
  // A small budget means small batches: a few of them are in flight on every thread.
  context.batch_bytes =
      std::clamp<int64_t>(environment.budget->limit() / 256, 64LL << 10, 4LL << 20);
  ARROW_RETURN_NOT_OK(stop.Poll());
  ARROW_ASSIGN_OR_RAISE(
      auto stream, FragmentOpener(operators, context, abandoned).Open(*fragment.root));
  if (fragment.sink.keep_whole) {
    ARROW_ASSIGN_OR_RAISE(result.whole,
                          PublishWhole(fragment.sink, *stream, operators, context));
    stream = std::make_unique<VectorStream>(nullptr, arrow::RecordBatchVector{});
    if (CanPartition(*result.whole, fragment.sink.keys)) {
      ARROW_ASSIGN_OR_RAISE(stream,
                            Partition({result.whole}, 0).Open(nullptr, context.pool));
    }
  }
  if (GivesWhole(*fragment.root) && fragment.sink.kind != SinkKind::kPublish) {
    stream = BoundBatches(std::move(stream), context.batch_bytes);
  }
  ARROW_ASSIGN_OR_RAISE(const RunSink* run, operators.FindSink(fragment.sink));
  BlockWriter writer(environment, fragment.sink.storage);
  ARROW_RETURN_NOT_OK((*run)(fragment.sink, *stream, writer, context));
  stream.reset();  // frees the operators' memory before the output is published
  result.metrics.rows_out += writer.num_rows();
  result.metrics.bytes_out += writer.num_bytes();
  result.metrics.bytes_written += writer.bytes_written();
  ARROW_ASSIGN_OR_RAISE(result.store, writer.Finish());
  result.span.end_ns = SteadyNanoseconds();
  result.metrics.seconds =
      static_cast<double>(result.span.end_ns - result.span.begin_ns) / 1e9;
  return result;
}

}  // namespace

arrow::Result<FragmentResult> RunFragment(const Fragment& fragment,
                                          const OperatorTable& operators,
                                          StorageEnvironment environment,
                                          const arrow::StopToken& stop,
                                          const std::atomic<bool>* abandoned,
                                          StageState* stage) {
  const std::string place = "Partition " + std::to_string(fragment.index);
  return CatchExceptions(place, [&] {
    return RunTree(fragment, operators, environment, stop, abandoned, stage);
  });
}

bool NeedsPython(const PlanNode& root) {
  return Any(root,
             [](const PlanNode& node) { return node.kind() == NodeKind::kMapPython; });
}

bool NeedsPythonThreads(const PlanNode& root) {
  return Any(root, [](const PlanNode& node) {
    return node.kind() == NodeKind::kMapPython && node.as<MapPythonNode>().on_threads;
  });
}

int64_t InputBytes(const PlanNode& root) {
  int64_t bytes = 0;
  if (root.kind() == NodeKind::kLiteral) {
    for (const auto& partition : root.as<LiteralNode>().partitions) {
      bytes += partition.num_bytes();
    }
  }
  if (root.kind() == NodeKind::kStageInput) {
    bytes += std::max<int64_t>(0, root.as<StageInputNode>().num_bytes);
  }
  if (root.kind() == NodeKind::kScan) {
    for (const auto& split : root.as<ScanNode>().splits) bytes += split.num_bytes;
  }
  // Input shared by the fragments of a stage does not count for each.
  const auto* join = std::get_if<JoinNode>(&root.node);
  if (join != nullptr && join->shared_table > 0) {
    return InputBytes(*root.inputs[join->build_left ? 1 : 0]);
  }
  for (const auto& input : root.inputs) bytes += InputBytes(*input);
  return bytes;
}

arrow::Result<Encoded> EncodeFragment(const Fragment& fragment,
                                      StorageEnvironment environment) {
  PlanEncoder encoder(environment);
  encoder.bytes().Put(kFragmentMagic);
  encoder.bytes().Put(fragment.index);
  ARROW_RETURN_NOT_OK(encoder.Put(*fragment.root));
  ARROW_RETURN_NOT_OK(encoder.Put(fragment.sink));
  return Finish(encoder);
}

arrow::Result<Fragment> DecodeFragment(const std::shared_ptr<arrow::Buffer>& bytes,
                                       std::span<const std::shared_ptr<Segment>> segments,
                                       StorageEnvironment environment) {
  PlanDecoder decoder(bytes, segments, environment);
  Fragment fragment;
  ARROW_RETURN_NOT_OK(CheckMagic(decoder.bytes(), kFragmentMagic, "fragment"));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&fragment.index));
  ARROW_ASSIGN_OR_RAISE(fragment.root, decoder.GetPlan());
  ARROW_RETURN_NOT_OK(decoder.Get(&fragment.sink));
  ARROW_RETURN_NOT_OK(decoder.bytes().ExpectEnd());
  return fragment;
}

arrow::Result<Encoded> EncodeResult(const FragmentResult& result,
                                    const std::vector<KnownSegment>& known) {
  std::vector<std::shared_ptr<Segment>> segments;
  for (const auto& one : known) segments.push_back(one.segment);
  PlanEncoder encoder(StorageEnvironment{}, std::move(segments));
  encoder.bytes().Put(kResultMagic);
  encoder.bytes().Put(static_cast<int64_t>(known.size()));
  for (const auto& [segment, still_mapped] : known) {
    encoder.bytes().Put(segment->size());
    encoder.bytes().Put(still_mapped);
  }
  encoder.bytes().Put(result.metrics.bytes_read);
  encoder.bytes().Put(result.metrics.rows_read);
  encoder.bytes().Put(result.metrics.row_groups_skipped);
  encoder.bytes().Put(result.metrics.bad_lines);
  encoder.bytes().Put(result.metrics.first_bad_line);
  encoder.bytes().Put(result.metrics.rows_out);
  encoder.bytes().Put(result.metrics.bytes_out);
  encoder.bytes().Put(result.metrics.bytes_written);
  encoder.bytes().Put(result.metrics.seconds);
  encoder.bytes().Put(result.span.index);
  encoder.bytes().Put(result.span.begin_ns);
  encoder.bytes().Put(result.span.end_ns);
  encoder.bytes().Put(result.span.process);
  encoder.bytes().Put(result.span.thread);
  for (const auto& block : result.store->blocks()) {
    if (block.on_heap()) {
      return arrow::Status::Invalid(
          "A result sent to another process must be in shared storage");
    }
  }
  encoder.bytes().Put(result.whole != nullptr);
  if (result.whole != nullptr) {
    ARROW_RETURN_NOT_OK(encoder.Put(*result.whole));
  }
  ARROW_RETURN_NOT_OK(encoder.Put(*result.store));
  auto encoded = Finish(encoder);
  encoded.num_known = known.size();
  return encoded;
}

arrow::Result<FragmentResult> DecodeResult(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments, StorageEnvironment environment) {
  PlanDecoder decoder(bytes, segments, environment);
  FragmentResult result;
  ARROW_RETURN_NOT_OK(CheckMagic(decoder.bytes(), kResultMagic, "result"));
  ARROW_RETURN_NOT_OK(TakeBack(decoder.bytes(), segments));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.bytes_read));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.rows_read));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.row_groups_skipped));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.bad_lines));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.first_bad_line));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.rows_out));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.bytes_out));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.bytes_written));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.metrics.seconds));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.span.index));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.span.begin_ns));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.span.end_ns));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.span.process));
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&result.span.thread));
  bool has_whole = false;
  ARROW_RETURN_NOT_OK(decoder.bytes().Get(&has_whole));
  if (has_whole) {
    ARROW_ASSIGN_OR_RAISE(result.whole, decoder.GetStore(/*spillable=*/true));
  }
  ARROW_ASSIGN_OR_RAISE(result.store, decoder.GetStore(/*spillable=*/true));
  ARROW_RETURN_NOT_OK(decoder.bytes().ExpectEnd());
  return result;
}

}  // namespace xshards
