// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/unify_dictionaries.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>

namespace xshards::ops {

arrow::Status ShareDictionary(arrow::ArrayDataVector* arrays, arrow::MemoryPool* pool) {
  if (arrays->empty() || arrays->front()->type->id() != arrow::Type::DICTIONARY) {
    return arrow::Status::OK();
  }
  const auto& first = arrays->front()->dictionary;
  const auto has_first = [&](const auto& array) { return array->dictionary == first; };
  if (std::all_of(arrays->begin(), arrays->end(), has_first)) return arrow::Status::OK();
  const auto& type = static_cast<const arrow::DictionaryType&>(*arrays->front()->type);
  ARROW_ASSIGN_OR_RAISE(auto unifier,
                        arrow::DictionaryUnifier::Make(type.value_type(), pool));
  // Many arrays share few dictionaries: the new index of each dictionary's values.
  std::map<const arrow::ArrayData*, std::shared_ptr<arrow::Buffer>> places;
  for (const auto& array : *arrays) {
    auto& moved = places[array->dictionary.get()];
    if (moved != nullptr) continue;
    ARROW_RETURN_NOT_OK(unifier->Unify(*arrow::MakeArray(array->dictionary), &moved));
  }
  std::shared_ptr<arrow::Array> shared;
  ARROW_RETURN_NOT_OK(unifier->GetResultWithIndexType(type.index_type(), &shared));
  for (auto& array : *arrays) {
    const auto& moved = places[array->dictionary.get()];
    ARROW_ASSIGN_OR_RAISE(const auto transposed,
                          arrow::DictionaryArray(array).Transpose(
                              array->type, shared, moved->data_as<int32_t>(), pool));
    array = transposed->data();
  }
  return arrow::Status::OK();
}

}  // namespace xshards::ops
