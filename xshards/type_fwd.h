// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace xshards {

class BatchStream;
class BlockStore;
class BlockWriter;
class Context;
class Expression;
class MemoryBudget;
class OperatorTable;
class Partition;
class Payload;
class PrivateMemory;
class Runner;
class Segment;
class SegmentPool;
class ShardView;
class StageState;
class WarmMappings;
class XShards;
struct ContextOptions;
struct Fragment;
struct FragmentResult;
struct OperatorContext;
struct PlanNode;
struct SinkSpec;

/// A plan is an immutable tree; sharing sub-trees is free.
using Plan = std::shared_ptr<const PlanNode>;

}  // namespace xshards
