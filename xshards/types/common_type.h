// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

/// The numeric type that numpy computes two columns in: int8 + uint8 is int16, int32 +
/// float32 float64, int64 + uint64 float64, bool + int8 int8. nullptr if one of them is
/// neither a number nor bool.
XSHARDS_EXPORT std::shared_ptr<arrow::DataType> NumericCommonType(
    const arrow::DataType& left, const arrow::DataType& right);

/// The decimal type that holds the numbers of both exactly, within its 76 digits, for
/// decimals, integers and bools. nullptr for other types.
XSHARDS_EXPORT std::shared_ptr<arrow::DataType> DecimalCommonType(
    const arrow::DataType& left, const arrow::DataType& right);

/// The field that holds the values of both, as pandas.concat gives it: the wider number,
/// the finer unit of time, the nullable dtype, the same categories or the plain values.
/// TypeError if pandas would hold Python objects.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Field>> CommonField(
    const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right);

/// The same for concatenated frames: there pandas treats booleans as integers if combined
/// with integers.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Field>> ConcatField(
    const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right);

}  // namespace xshards
