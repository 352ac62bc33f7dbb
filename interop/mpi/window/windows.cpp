#include "interop/mpi/window/windows.hpp"

#include <photon/map.h>
#include <photon/memory.h>

#include <cstring>
#include <list>
#include <utility>

#include "interop/mpi/window/making.hpp"

namespace photon::mpi {

namespace {

// Windows that exist, and those whose real window was deleted, until their memory may go.
struct Known {
  std::mutex mutex;
  std::list<std::unique_ptr<Holding>> live;
  std::list<std::unique_ptr<Holding>> parting;
};
// Windows are not duplicated; MPI's own function of that kind is a symbol that need not be loaded.
int copy_nothing(MPI_Win, int, void*, void*, void*, int* flag) noexcept {
  *flag = 0;
  return MPI_SUCCESS;
}

// Not destroyed when the process exits, as the job is not.
Known& known() noexcept {
  static auto& all = *new Known;
  return all;
}

}  // namespace

Holding::~Holding() {
  window.reset();
  for (void* const one : mapped) ph_unmap(job.context(), one);
  if (key != 0) ph_revoke(job.context(), key);
  if (memory != nullptr) job.free(memory);
}

Windows::Table& Windows::table() noexcept {
  static constinit Table all;
  return all;
}

std::uint64_t Windows::key_of(MPI_Win win) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, &win, sizeof win);
  return key;
}

int Windows::keyval() noexcept {
  static const int made = [] {
    int value = MPI_KEYVAL_INVALID;
    real().Win_create_keyval(copy_nothing, on_deletion, &value, nullptr);
    return value;
  }();
  return made;
}

// The real window goes. Ours is not found any more; its memory stays until the real one has gone.
int Windows::on_deletion(MPI_Win, int, void* value, void*) noexcept {
  auto* const holding = static_cast<Holding*>(value);
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  table().erase(key_of(holding->handle));
  for (auto at = all.live.begin(); at != all.live.end(); ++at) {
    if (at->get() != holding) continue;
    all.parting.splice(all.parting.end(), all.live, at);
    break;
  }
  return MPI_SUCCESS;
}

// Whoever is the first to set an attribute of a window has his callback called last.
bool Windows::enter(Holding& holding) noexcept {
  const std::lock_guard guard(known().mutex);
  return keyval() != MPI_KEYVAL_INVALID &&
         real().Win_set_attr(holding.handle, keyval(), &holding) == MPI_SUCCESS &&
         table().set(key_of(holding.handle), &holding);
}

int Windows::free(Holding& holding, MPI_Win* win) noexcept {
  static_cast<void>(holding);
  const int result = real().Win_free(win);
  std::list<std::unique_ptr<Holding>> parting;
  const std::lock_guard guard(known().mutex);
  parting.swap(known().parting);
  return result;
}

void Windows::end() noexcept {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  for (const auto& one : all.live) table().erase(key_of(one->handle));
  all.live.clear();
  all.parting.clear();
}

std::optional<int> Windows::make(Job& job, const Wish& wish, void*& base, MPI_Win& win) noexcept {
  try {
    Making making(job, wish);
    if (!making.begin()) return std::nullopt;
    std::unique_ptr<Holding> holding = making.run();
    if (holding == nullptr) return std::nullopt;
    if (!enter(*holding)) return MPI_ERR_NO_MEM;
    base = making.base();
    win = holding->handle;
    const std::lock_guard guard(known().mutex);
    known().live.push_back(std::move(holding));
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace photon::mpi
