// Operations that the program has made (MPI_Op_create), as accumulates do them: by the program's
// function, on elements of one basic type, at most 64 KiB a call (docs/mpi.md, "Operations of the
// program"). The idea of a number by which all members know an operation is of Zhao and others,
// 2013, section III.
//
//   an operation of a window:  unknown -- add(), by all members together --> known
//                              known -- remove(), by all together --> unknown
//
// Invariant: what find() has given stays until the window goes, for a thread may be at it.
// Owner: UserFunctions the job, UserOps a window. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "interop/mpi/fold/element.hpp"
#include "interop/mpi/lock/lock_policy.hpp"
#include "interop/mpi/real/user_function.hpp"
#include "interop/mpi/type/datatype.hpp"
#include "sync/handle_table.hpp"

namespace photon::mpi {

// What the program's operations do, as it has told MPI.
class UserFunctions {
 public:
  void note(MPI_Op op, UserFunction function) noexcept;  // no memory: it is not known
  void forget(MPI_Op op) noexcept;
  UserFunction find(MPI_Op op) noexcept;

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, UserFunction> all_;
};

struct UserOp {
  std::uint32_t id;
  MPI_Op handle;
  UserFunction function;
};

class UserOps {
 public:
  // False: the handle or the number is taken, there are too many, or there is no memory.
  bool add(MPI_Op op, std::uint32_t id, UserFunction function) noexcept;
  void remove(std::uint32_t id) noexcept;
  // The handle names it no more; its number does.
  void forget(MPI_Op op) noexcept;
  const UserOp* find(MPI_Op op) const noexcept;
  const UserOp* find(std::uint32_t id) const noexcept { return by_id_.find(id); }

 private:
  static constexpr std::size_t kPlaces = 64;
  using Table = sync::HandleTable<LockPolicy, const UserOp*, kPlaces>;

  std::mutex mutex_;  // of those who change something
  Table by_handle_;
  Table by_id_;
  std::list<UserOp> all_;
};

// Elements that lie one behind the other, in all three; `result` may be null.
struct Strips {
  void* target;
  const void* source;
  void* result;
  std::size_t count;
};
// target[i] = function(source[i], target[i]); result[i] = target[i] before that. The function is
// told MPI's type for the basic type.
void fold_by_user(const UserOp& op, Basic basic, Strips strips) noexcept;

}  // namespace photon::mpi
