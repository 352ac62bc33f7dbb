#include "task/machine/rdma.hpp"

namespace photon::task {

namespace {

std::byte* memory_of(const ph_task_descriptor& end) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(end.address));
}

// Of ph_put_args and ph_get_args.
template <class Args>
Args args_of(const Operation& operation, std::uint32_t flags) noexcept {
  Args args{};
  args.size = sizeof args;
  args.size_bytes = operation.moved_bytes;
  args.local = {&operation.local, sizeof operation.local};
  args.flags = flags;
  if (operation.is_told_apart)
    args.flags |= PH_NO_RCE;
  else
    args.remote = {&operation.remote, sizeof operation.remote};
  return args;
}

}  // namespace

ph_status set_rdma_info(ph_context* lane, void* base, std::uint64_t size_bytes,
                        std::uint64_t& key) noexcept {
  ph_region region{};
  const ph_status status = ph_register(lane, base, size_bytes, PH_ACCESS_ALL, &region);
  key = status == PH_OK ? region.key : 0;
  return status;
}

ph_status find_rdma_info(ph_context* lane, const void* base, std::uint64_t size_bytes,
                         std::uint64_t& key) noexcept {
  ph_region region{};
  const ph_status status = ph_find_region(lane, base, size_bytes, &region);
  key = status == PH_OK ? region.key : 0;
  return status;
}

void deregister(ph_context* lane, std::uint64_t key) noexcept {
  static_cast<void>(ph_revoke(lane, key));
}

void deregister_at_end(ph_context* lane, std::uint64_t key) noexcept {
  static_cast<void>(ph_unregister(lane, key));
}

ph_status issue_get(ph_context* lane, const Operation& operation) noexcept {
  auto args = args_of<ph_get_args>(operation, 0);
  args.destination = memory_of(operation.own);
  args.source = {operation.other.address, operation.other.key};
  return ph_get(lane, operation.other_process, &args);
}

// PH_DELIVERED: one end, and the bytes are there.
ph_status issue_put(ph_context* lane, const Operation& operation) noexcept {
  auto args = args_of<ph_put_args>(operation, PH_DELIVERED);
  args.source = memory_of(operation.own);
  args.target = {operation.other.address, operation.other.key};
  return ph_put(lane, operation.other_process, &args);
}

}  // namespace photon::task
