// A CUDA device without CUDA, of which fake tensors need that it can be chosen and has a stream; nothing runs on it.
//
// PyTorch's build without CUDA ends the process where autograd asks for the device of a fake CUDA tensor. Loaded with
// RTLD_GLOBAL before PyTorch, the three functions below are found in place of PyTorch's own of the same names.
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

constexpr auto CUDA = c10::DeviceType::CUDA;

const c10::Device device(CUDA, 0);
const c10::Stream stream(c10::Stream::DEFAULT, device);

struct Hooks final : at::CUDAHooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return CUDA; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Device getDevice() const override { return device; }
  c10::Device exchangeDevice(c10::Device) const override { return device; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream; }
  c10::Stream getDefaultStream(c10::Device) const override { return stream; }
  c10::Stream getNewStream(c10::Device, int) const override { return stream; }
  c10::Stream exchangeStream(c10::Stream) const override { return stream; }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
};

Guard guard;

}  // namespace

namespace at::accelerator {
std::optional<c10::DeviceType> getAccelerator(bool) { return CUDA; }
c10::Stream getCurrentStream(c10::DeviceIndex) { return stream; }
}  // namespace at::accelerator

namespace at::detail {
const CUDAHooksInterface& getCUDAHooks() {
  static const auto& hooks = *new Hooks;
  return hooks;
}
}  // namespace at::detail

extern "C" void register_device() {
  c10::impl::device_guard_impl_registry[static_cast<size_t>(CUDA)].store(&guard);
}
