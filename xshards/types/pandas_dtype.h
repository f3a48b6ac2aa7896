// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

// The pandas properties of a column beyond its Arrow type are metadata of its field, so
// that they stay with the column:
//   pandas.dtype       the name of the dtype, where the Arrow type alone means another
//   pandas.categories  of "category": all of them in order, an IPC stream in base64
//   pandas.ordered     of "category": "1" if their order means something
//   pandas.label       the label shown, where it is not the column's name
//   xshards.opaque     "pickle": the values are Python objects; "json": see JsonTextField
inline constexpr char kOpaqueKey[] = "xshards.opaque";

/// How the operations of a dtype treat missing values, and the dtypes of their results.
enum class DtypeFamily : uint8_t {
  kPlain,     // numpy's: comparing with a missing value is false
  kText,      // "string": comparing with a missing value is missing
  kMasked,    // "Int64", "boolean": likewise, and results are masked too
  kArrow,     // "int64[pyarrow]": likewise, and results are Arrow's too
  kCategory,  // "category"
};

/// "Int64", "category", ...; empty if the Arrow type implies the dtype.
XSHARDS_EXPORT std::string DtypeName(const arrow::Field& field);
XSHARDS_EXPORT DtypeFamily FamilyOf(const arrow::Field& field);
/// True for a column of Python objects: bytes that only Python understands.
XSHARDS_EXPORT bool IsOpaque(const arrow::Field& field);
/// True for the families in which missing is a third truth value.
XSHARDS_EXPORT bool HasMissingLogic(DtypeFamily family);
/// The dtype that values of a type have in a family: int8 is "Int8" in the masked family.
XSHARDS_EXPORT std::string DtypeNameIn(DtypeFamily family, const arrow::DataType& type);

/// A field of another dtype; an empty name removes the dtype.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> WithDtype(
    const std::shared_ptr<arrow::Field>& field, const std::string& name);
/// A field of the dtype (and the categories) that another has.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> WithDtypeOf(
    const std::shared_ptr<arrow::Field>& field, const arrow::Field& other);
/// The metadata that make up a field's dtype, as pairs of key and value.
XSHARDS_EXPORT std::vector<std::pair<std::string, std::string>> DtypePairs(
    const arrow::Field& field);
/// A field of the dtype that pairs make up.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> WithDtypePairs(
    const std::shared_ptr<arrow::Field>& field,
    const std::vector<std::pair<std::string, std::string>>& pairs);
/// A field under another name, without the label that belonged to the old one.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> Renamed(
    const std::shared_ptr<arrow::Field>& field, const std::string& name);

/// The field of a computed column, with the label of the column that it replaces.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> InPlace(
    const std::shared_ptr<arrow::Field>& field, const std::string& name,
    const arrow::Schema& input);

/// The field of a column of Python objects after a join added rows without a match: their
/// value is NaN, as in pandas. Other fields have their own missing value and are
/// unchanged.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> WithUnmatchedRows(
    const std::shared_ptr<arrow::Field>& field);

/// A field whose values pandas has as Python objects, with NaN for missing ones.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> AsObjects(
    const std::shared_ptr<arrow::Field>& field);

/// A "category" field of these categories.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Field>> WithCategories(
    const std::shared_ptr<arrow::Field>& field,
    const std::shared_ptr<arrow::Array>& categories, bool ordered);
/// The categories of a "category" field, in order. Invalid names a damaged field.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Array>> CategoriesOf(
    const arrow::Field& field);
XSHARDS_EXPORT bool IsOrdered(const arrow::Field& field);
/// Whether two "category" fields have the same dtype: the same categories, in the same
/// order if it means something.
XSHARDS_EXPORT arrow::Result<bool> SameCategories(const arrow::Field& left,
                                                  const arrow::Field& right);
/// The index of each value in the categories, as int32; null if it is missing.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Array>> CategoryCodes(
    const std::shared_ptr<arrow::Array>& values,
    const std::shared_ptr<arrow::Array>& categories, arrow::MemoryPool* pool);

/// The sort key of a column: the codes of categories, else the decoded values.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Array>> SortValues(
    const std::shared_ptr<arrow::Array>& column, const arrow::Field& field,
    arrow::MemoryPool* pool);

/// The type of a column's values: dictionary is an encoding, not a type, to the user.
XSHARDS_EXPORT std::shared_ptr<arrow::DataType> ValueType(
    const std::shared_ptr<arrow::DataType>& type);

}  // namespace xshards
