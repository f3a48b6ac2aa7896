// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type.h>

namespace xshards::io {

/// A type that holds the values of both: null gives way, integers and floats widen, lists
/// and objects by their parts. TypeError names both where there is none.
arrow::Result<std::shared_ptr<arrow::DataType>> WidenJson(
    const std::shared_ptr<arrow::DataType>& left,
    const std::shared_ptr<arrow::DataType>& right);

/// The columns of both, those of `left` first. TypeError also names the column.
arrow::Result<std::shared_ptr<arrow::Schema>> WidenJson(const arrow::Schema& left,
                                                        const arrow::Schema& right);

/// What Arrow infers, as the engine has it: text that looks like a date stays text, and
/// text is large_utf8.
std::shared_ptr<arrow::DataType> PlainJsonType(
    const std::shared_ptr<arrow::DataType>& type);
/// Missing throughout is float64, as in pandas.
std::shared_ptr<arrow::DataType> SettleJsonType(
    const std::shared_ptr<arrow::DataType>& type);

}  // namespace xshards::io
