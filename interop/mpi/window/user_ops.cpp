#include "interop/mpi/window/user_ops.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/window/in_function.hpp"

namespace photon::mpi {

namespace {

std::uint64_t key_of(MPI_Op op) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, &op, sizeof op);
  return key;
}

}  // namespace

void UserFunctions::note(MPI_Op op, UserFunction function) noexcept {
  try {
    const std::lock_guard guard(mutex_);
    all_.insert_or_assign(key_of(op), function);
  } catch (const std::bad_alloc&) {
  }
}

void UserFunctions::forget(MPI_Op op) noexcept {
  const std::lock_guard guard(mutex_);
  all_.erase(key_of(op));
}

UserFunction UserFunctions::find(MPI_Op op) noexcept {
  const std::lock_guard guard(mutex_);
  const auto at = all_.find(key_of(op));
  return at == all_.end() ? UserFunction{} : at->second;
}

bool UserOps::add(MPI_Op op, std::uint32_t id, UserFunction function) noexcept {
  const std::lock_guard guard(mutex_);
  if (!function.is_there() || find(op) != nullptr || find(id) != nullptr) return false;
  try {
    all_.push_back({id, op, function});
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!by_id_.set(id, &all_.back())) return false;
  if (by_handle_.set(key_of(op), &all_.back())) return true;
  by_id_.erase(id);
  return false;
}

void UserOps::remove(std::uint32_t id) noexcept {
  const std::lock_guard guard(mutex_);
  const UserOp* const one = find(id);
  if (one == nullptr) return;
  if (by_handle_.find(key_of(one->handle)) == one) by_handle_.erase(key_of(one->handle));
  by_id_.erase(id);
}

void UserOps::forget(MPI_Op op) noexcept {
  const std::lock_guard guard(mutex_);
  by_handle_.erase(key_of(op));
}

const UserOp* UserOps::find(MPI_Op op) const noexcept { return by_handle_.find(key_of(op)); }

void fold_by_user(const UserOp& op, Basic basic, Strips strips) noexcept {
  constexpr std::size_t kPieceBytes = 64 << 10;
  const std::size_t size = bytes_of(basic);
  auto* target = static_cast<std::byte*>(strips.target);
  const auto* source = static_cast<const std::byte*>(strips.source);
  if (strips.result != nullptr)
    fold_plain({Op::no_op, basic}, target, nullptr, strips.result, strips.count);
  const InFunction scope;
  for (std::size_t left = strips.count; left != 0;) {
    const std::size_t now = std::min(left, kPieceBytes / size);
    op.function.call(source, target, now, type_of(basic));
    target += now * size;
    source += now * size;
    left -= now;
  }
}

}  // namespace photon::mpi
