// SPDX-License-Identifier: Apache-2.0
#include "xshards/function/native_function.h"

#include <map>
#include <mutex>

namespace xshards {

namespace {

/// The one global of the engine: names of functions compiled into this program. Filled
/// before main() and by loaded libraries, so it cannot belong to a Context.
struct FunctionNames {
  std::mutex mutex;  // guards the rest
  std::map<std::string, std::shared_ptr<const NativeFunction>> functions;
  std::map<std::string, int> times_registered;
};

FunctionNames& Names() {
  static FunctionNames names;
  return names;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatch(
    const std::shared_ptr<arrow::Table>& table) {
  return table->CombineChunksToBatch();
}

bool RegisterFunction(const std::string& name, NativeFunction function) {
  auto& names = Names();
  std::lock_guard lock(names.mutex);
  if (++names.times_registered[name] > 1) return false;
  names.functions[name] = std::make_shared<const NativeFunction>(std::move(function));
  return true;
}

arrow::Result<std::shared_ptr<const NativeFunction>> FindFunction(
    const std::string& name) {
  auto& names = Names();
  std::lock_guard lock(names.mutex);
  auto found = names.functions.find(name);
  if (found == names.functions.end()) {
    std::string known;
    for (const auto& entry : names.functions) {
      known += (known.empty() ? "" : ", ") + entry.first;
    }
    return arrow::Status::KeyError("No function is registered as '", name,
                                   "'; there are: ", known.empty() ? "none" : known);
  }
  if (names.times_registered[name] > 1) {
    return arrow::Status::Invalid("Two functions are registered as '", name,
                                  "': give one of them another name");
  }
  return found->second;
}

}  // namespace xshards
