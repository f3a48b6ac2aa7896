// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "xshards/export.h"

namespace xshards {

enum class PayloadKind { kTable, kTensors, kObject };

/// Name a payload kind for messages: "Table", "Tensors" or "Object".
XSHARDS_EXPORT const char* ToString(PayloadKind kind);

/// One n-d array of a Tensors payload. `data` is C-contiguous.
struct TensorLeaf {
  std::string dtype;  // numpy's type string, such as "<f4"
  std::vector<int64_t> shape;
  std::shared_ptr<arrow::Buffer> data;
};

/// The contents of a partition, always stored as Arrow record batches, so that every kind
/// is cached, spilled, sent and mapped by the same code.
///
/// A Table is any number of batches of one schema. A Tensors or Object payload is one
/// batch of one row whose large_binary columns are the raw buffers; what the buffers
/// mean (dtypes, shapes, the nesting of the dict or list they came from) is schema
/// metadata. Immutable; copying shares the buffers.
class XSHARDS_EXPORT Payload {
 public:
  /// Schema metadata that claims another kind, as a file may hold, is dropped.
  static Payload Table(std::shared_ptr<arrow::Schema> schema,
                       arrow::RecordBatchVector batches);
  /// `structure` describes the nesting; the engine stores it but never reads it.
  static arrow::Result<Payload> Tensors(const std::vector<TensorLeaf>& leaves,
                                        const std::string& structure);
  /// `pickle` is a protocol-5 pickle and `out_of_band` its buffers, in order.
  static arrow::Result<Payload> Object(const std::shared_ptr<arrow::Buffer>& pickle,
                                       const arrow::BufferVector& out_of_band);
  /// Interpret a batch read back from storage.
  static Payload FromBatch(std::shared_ptr<arrow::RecordBatch> batch);

  PayloadKind kind() const { return kind_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const arrow::RecordBatchVector& batches() const { return batches_; }
  /// Rows of a Table; 1 for the other kinds.
  int64_t num_rows() const;

  /// The leaves of a Tensors payload, zero copy.
  arrow::Result<std::vector<TensorLeaf>> tensor_leaves() const;
  arrow::Result<std::string> tensor_structure() const;
  /// The buffers of an Object payload, zero copy: the pickle first, then its out-of-band
  /// buffers.
  arrow::Result<arrow::BufferVector> object_buffers() const;

 private:
  Payload(PayloadKind kind, std::shared_ptr<arrow::Schema> schema,
          arrow::RecordBatchVector batches);

  PayloadKind kind_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector batches_;
};

/// The kind of payload that a batch of this schema belongs to: a Table, if the columns
/// are not what the metadata claims.
XSHARDS_EXPORT PayloadKind KindOf(const arrow::Schema& schema);

/// The schema without metadata that claim another kind of payload. All rows from outside
/// pass here, so that data never decides that it gets unpickled.
XSHARDS_EXPORT std::shared_ptr<arrow::Schema> TableSchema(
    std::shared_ptr<arrow::Schema> schema);

/// The shapes of the arrays of a Tensors payload with this schema.
XSHARDS_EXPORT arrow::Result<std::vector<std::vector<int64_t>>> TensorShapes(
    const arrow::Schema& schema);

}  // namespace xshards
