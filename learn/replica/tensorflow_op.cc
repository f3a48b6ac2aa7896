// SPDX-License-Identifier: Apache-2.0
#include "learn/replica/tensorflow_op.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "learn/replica/step_window.h"
#include "xshards/catch_exceptions.h"

namespace xshards::learn {

namespace {

// The C interface of TensorFlow as its headers have it (tensorflow/c/{c_api,kernels,ops,
// tf_tensor,tf_status}.h). It is stable, so the headers are not needed to build.
struct TfStatus;
struct TfTensor;
struct TfContext;
struct TfConstruction;
struct TfShapeContext;
struct TfOpBuilder;
struct TfKernelBuilder;

constexpr int kTfOk = 0;
constexpr int kTfInternal = 13;
constexpr int kTfBool = 10;

constexpr char kOperation[] = "XShardsStep";

struct TensorFlow {
  TfStatus* (*new_status)();
  void (*delete_status)(TfStatus*);
  int (*code)(const TfStatus*);
  const char* (*message)(const TfStatus*);
  void (*set_status)(TfStatus*, int, const char*);

  TfOpBuilder* (*new_op)(const char*);
  void (*add_attribute)(TfOpBuilder*, const char*);
  void (*add_input)(TfOpBuilder*, const char*);
  void (*add_output)(TfOpBuilder*, const char*);
  void (*set_stateful)(TfOpBuilder*, bool);
  void (*set_shape_function)(TfOpBuilder*, void (*)(TfShapeContext*, TfStatus*));
  void (*register_op)(TfOpBuilder*, TfStatus*);
  void (*set_unknown_shape)(TfShapeContext*, TfStatus*);

  TfKernelBuilder* (*new_kernel)(const char*, const char*, void* (*)(TfConstruction*),
                                 void (*)(void*, TfContext*), void (*)(void*));
  void (*register_kernel)(const char*, TfKernelBuilder*, TfStatus*);

  int (*num_inputs)(TfContext*);
  void (*get_input)(TfContext*, int, TfTensor**, TfStatus*);
  TfTensor* (*allocate_output)(TfContext*, int, int, const int64_t*, int, size_t,
                               TfStatus*);
  void (*fail)(TfContext*, TfStatus*);
  void* (*data)(const TfTensor*);
  size_t (*byte_size)(const TfTensor*);
  void (*delete_tensor)(TfTensor*);
};

constexpr char kLibrary[] = "libtensorflow_framework.so.2";

/// The library of this process, which stays loaded from then on; null if there is none.
void* Library() { return dlopen(kLibrary, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL); }

/// Find all functions; the first that is missing goes to `missing`.
TensorFlow FindFunctions(void* library, std::string* missing) {
  TensorFlow found;
  const auto find = [&](const char* name, auto* function) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr && missing->empty()) *missing = name;
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(symbol);
  };
  find("TF_NewStatus", &found.new_status);
  find("TF_DeleteStatus", &found.delete_status);
  find("TF_GetCode", &found.code);
  find("TF_Message", &found.message);
  find("TF_SetStatus", &found.set_status);
  find("TF_NewOpDefinitionBuilder", &found.new_op);
  find("TF_OpDefinitionBuilderAddAttr", &found.add_attribute);
  find("TF_OpDefinitionBuilderAddInput", &found.add_input);
  find("TF_OpDefinitionBuilderAddOutput", &found.add_output);
  find("TF_OpDefinitionBuilderSetIsStateful", &found.set_stateful);
  find("TF_OpDefinitionBuilderSetShapeInferenceFunction", &found.set_shape_function);
  find("TF_RegisterOpDefinition", &found.register_op);
  find("TF_ShapeInferenceContextSetUnknownShape", &found.set_unknown_shape);
  find("TF_NewKernelBuilder", &found.new_kernel);
  find("TF_RegisterKernelBuilder", &found.register_kernel);
  find("TF_NumInputs", &found.num_inputs);
  find("TF_GetInput", &found.get_input);
  find("TF_AllocateOutput", &found.allocate_output);
  find("TF_OpKernelContext_Failure", &found.fail);
  find("TF_TensorData", &found.data);
  find("TF_TensorByteSize", &found.byte_size);
  find("TF_DeleteTensor", &found.delete_tensor);
  return found;
}

/// Only called once TensorFlow is loaded: kernels have no other way to get at it.
const TensorFlow& Functions(std::string* missing = nullptr) {
  struct Found {
    std::string missing;
    TensorFlow functions = FindFunctions(Library(), &missing);
  };
  static const Found found;
  if (missing != nullptr) *missing = found.missing;
  return found.functions;
}

struct StatusDeleter {
  void operator()(TfStatus* status) const { Functions().delete_status(status); }
};
using StatusPtr = std::unique_ptr<TfStatus, StatusDeleter>;

struct TensorDeleter {
  void operator()(TfTensor* tensor) const { Functions().delete_tensor(tensor); }
};
using TensorPtr = std::unique_ptr<TfTensor, TensorDeleter>;

arrow::Status FromTensorFlow(const TfStatus* status) {
  if (Functions().code(status) == kTfOk) return arrow::Status::OK();
  return arrow::Status::UnknownError("TensorFlow: ", Functions().message(status));
}

std::span<const std::byte> BytesOf(const TensorPtr& tensor) {
  return {static_cast<const std::byte*>(Functions().data(tensor.get())),
          Functions().byte_size(tensor.get())};
}

arrow::Result<std::vector<TensorPtr>> Inputs(TfContext* context) {
  const StatusPtr status(Functions().new_status());
  std::vector<TensorPtr> inputs;
  for (int index = 0; index < Functions().num_inputs(context); ++index) {
    TfTensor* tensor = nullptr;
    Functions().get_input(context, index, &tensor, status.get());
    ARROW_RETURN_NOT_OK(FromTensorFlow(status.get()));
    inputs.emplace_back(tensor);
  }
  return inputs;
}

arrow::Result<bool> Step(const std::vector<TensorPtr>& inputs, StepWindow* window) {
  std::vector<std::span<const std::byte>> bytes;
  for (size_t i = 1; i < inputs.size(); ++i) bytes.push_back(BytesOf(inputs[i]));
  const auto num_gradients = static_cast<size_t>(window->num_gradients());
  if (bytes.size() <= num_gradients) {
    return arrow::Status::Invalid("Expected ", num_gradients,
                                  " gradients, buffers and values, got ", bytes.size(),
                                  " tensors");
  }
  const std::span all(bytes);
  const std::span<const std::byte> values = all.back();
  ARROW_ASSIGN_OR_RAISE(
      const WindowOutcome outcome,
      window->Step(all.first(num_gradients),
                   all.subspan(num_gradients, all.size() - num_gradients - 1),
                   {reinterpret_cast<const float*>(values.data()),
                    values.size() / sizeof(float)}));
  return outcome == WindowOutcome::kUpdated;
}

arrow::Status Run(TfContext* context) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<TensorPtr> inputs, Inputs(context));
  if (inputs.empty() || BytesOf(inputs[0]).size() != sizeof(int64_t)) {
    return arrow::Status::Invalid("Expected the address of a window first");
  }
  StepWindow* window = nullptr;
  std::memcpy(&window, BytesOf(inputs[0]).data(), sizeof(window));
  const auto stepped =
      CatchExceptions("a training step", [&] { return Step(inputs, window); });
  if (!stepped.ok()) window->Fail(stepped.status());
  const StatusPtr status(Functions().new_status());
  const TensorPtr output(Functions().allocate_output(context, 0, kTfBool, nullptr, 0,
                                                     sizeof(bool), status.get()));
  ARROW_RETURN_NOT_OK(FromTensorFlow(status.get()));
  *static_cast<bool*>(Functions().data(output.get())) = stepped.ok() && *stepped;
  return arrow::Status::OK();
}

void* Create(TfConstruction*) { return nullptr; }
void Delete(void*) {}

void Compute(void*, TfContext* context) {
  const arrow::Status done =
      CatchExceptions("a training step", [&] { return Run(context); });
  if (done.ok()) return;
  const StatusPtr status(Functions().new_status());
  Functions().set_status(status.get(), kTfInternal, done.ToString().c_str());
  Functions().fail(context, status.get());
}

void Shape(TfShapeContext* context, TfStatus* status) {
  Functions().set_unknown_shape(context, status);
}

arrow::Status AddOperation() {
  TfOpBuilder* operation = Functions().new_op(kOperation);
  Functions().add_attribute(operation, "T: list(type)");
  Functions().add_input(operation, "window: int64");
  Functions().add_input(operation, "tensors: T");
  Functions().add_output(operation, "go_on: bool");
  Functions().set_stateful(operation, true);
  Functions().set_shape_function(operation, Shape);
  const StatusPtr status(Functions().new_status());
  Functions().register_op(operation, status.get());
  ARROW_RETURN_NOT_OK(FromTensorFlow(status.get()));
  TfKernelBuilder* kernel =
      Functions().new_kernel(kOperation, "CPU", Create, Compute, Delete);
  Functions().register_kernel(kOperation, kernel, status.get());
  return FromTensorFlow(status.get());
}

}  // namespace

arrow::Status AddTensorFlowStep() {
  if (Library() == nullptr) {
    return arrow::Status::Invalid("TensorFlow is not loaded: ", kLibrary, " is missing");
  }
  std::string missing;
  Functions(&missing);
  if (!missing.empty()) {
    return arrow::Status::NotImplemented("This TensorFlow has no function ", missing);
  }
  static const arrow::Status added = AddOperation();
  return added;
}

}  // namespace xshards::learn
