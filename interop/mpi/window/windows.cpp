#include "interop/mpi/window/windows.hpp"

#include <photon/map.h>
#include <photon/memory.h>

#include <list>
#include <new>
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
// Never destroyed: a program may end without MPI_Finalize(), and so does a child of fork().
Known& known() noexcept {
  static Known& all = *new Known;
  return all;
}

}  // namespace

Holding::~Holding() {
  if (window != nullptr && window->server() != nullptr) window->server()->leave(window->number());
  window.reset();
  for (void* const one : mapped) ph_unmap(job.context(), one);
  if (key != 0) ph_revoke(job.context(), key);
  if (memory != nullptr) job.free(memory);
}

int Windows::keyval() noexcept {
  static const int made = [] {
    // MPI's own function of that kind is a symbol that need not be loaded.
    constexpr auto copy_nothing = [](MPI_Win, int, void*, void*, void*, int* is_copied) -> int {
      *is_copied = 0;
      return MPI_SUCCESS;
    };
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
bool Windows::enter(std::unique_ptr<Holding>& holding) noexcept {
  try {
    std::list<std::unique_ptr<Holding>> entry(1);
    Known& all = known();
    const std::lock_guard guard(all.mutex);
    if (keyval() == MPI_KEYVAL_INVALID ||
        real().Win_set_attr(holding->handle, keyval(), holding.get()) != MPI_SUCCESS ||
        !table().set(key_of(holding->handle), holding.get()))
      return false;
    entry.front() = std::move(holding);
    all.live.splice(all.live.end(), entry);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

int Windows::free(Holding& holding, MPI_Win* win) noexcept {
  const int result = real().Win_free(win);
  Known& all = known();
  std::list<std::unique_ptr<Holding>> gone;
  const std::lock_guard guard(all.mutex);
  // Others that part may still be in a call of another thread.
  for (auto at = all.parting.begin(); at != all.parting.end(); ++at) {
    if (at->get() != &holding) continue;
    gone.splice(gone.end(), all.parting, at);
    break;
  }
  return result;
}

void Windows::forget(MPI_Op op) noexcept {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  for (const auto& one : all.live) one->window->ops().forget(op);
}

// The real windows stay, and forget ours.
void Windows::end() noexcept {
  Known& all = known();
  std::list<std::unique_ptr<Holding>> live;
  std::list<std::unique_ptr<Holding>> parting;
  {
    const std::lock_guard guard(all.mutex);
    for (const auto& one : all.live) table().erase(key_of(one->handle));
    live.swap(all.live);
    parting.swap(all.parting);
  }
  for (const auto& one : live) real().Win_delete_attr(one->handle, keyval());
}

std::optional<int> Windows::make(Job& job, const Wish& wish, void*& base, MPI_Win& win) noexcept {
  Making making(job, wish);
  if (!making.begin()) return std::nullopt;
  std::unique_ptr<Holding> holding = making.run();
  if (holding == nullptr) return std::nullopt;
  Holding& made = *holding;
  MPI_Win handle = made.handle;
  if (!making.agree(enter(holding))) {
    making.say("there is no room in the table of windows");
    free(made, &handle);
    return std::nullopt;
  }
  base = making.base();
  win = handle;
  return MPI_SUCCESS;
}

}  // namespace photon::mpi
