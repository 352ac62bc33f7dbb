// The windows of this process that are ours, and how they are made and freed together with the
// other members (docs/mpi.md, "What is ours and what stays MPI's").
//
//   making:  each member says what it has -- one cannot serve --> left to MPI
//            all map each other's memory and blocks -- one cannot --> left to MPI
//            MPI makes the real window over the memory -- it refuses --> one without memory
//            -- it refuses that, too --> left to MPI
//            it stands on a keyval of the real one, and in the table -- no room at one --> left to
//            MPI
//
// Each arrow is an agreement of all members. While a member waits in one it serves both engines,
// since others need that to meet it.
// Owner: the process, as Job. Threads: make() and free() as MPI_Win_create(); find() any.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/window.hpp"
#include "sync/handle_table.hpp"

namespace photon::mpi {

// The program asks for this.
struct Wish {
  void* base = nullptr;  // of MPI_Win_create
  std::uint64_t size_bytes = 0;
  int unit = 1;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  bool allocates = false;  // MPI_Win_allocate
  bool fits = true;        // an int holds the unit that was asked for
};

// A window with what it holds; all of that is given back with it.
struct Holding {
  explicit Holding(Job& its_job) noexcept : job(its_job) {}
  ~Holding();
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  Job& job;
  std::unique_ptr<Window> window;
  void* memory = nullptr;     // of Job::allocate(): the block, behind the window's own if any
  std::vector<void*> mapped;  // of ph_map()
  std::uint64_t key = 0;      // of ph_register(); 0: none
  MPI_Win handle = MPI_WIN_NULL;
  // Its attributes, which the program gets the addresses of.
  void* base = nullptr;
  MPI_Aint size_bytes = 0;
  int unit = 1;
  int flavour = 0;
};

class Windows {
 public:
  // Null: it is MPI's.
  static Window* find(MPI_Win win) noexcept {
    const Holding* const holding = table().find(key_of(win));
    return holding == nullptr ? nullptr : holding->window.get();
  }
  static Holding* holding(MPI_Win win) noexcept { return table().find(key_of(win)); }

  // Collective over the communicator of the wish. None: MPI has to make it, and nothing is left.
  // Else a status of MPI's; at MPI_SUCCESS `base` and `win` are set.
  static std::optional<int> make(Job& job, const Wish& wish, void*& base, MPI_Win& win) noexcept;
  // Frees the real window and ours.
  static int free(Holding& holding, MPI_Win* win) noexcept;
  // A handle of an operation names nothing any more.
  static void forget(MPI_Op op) noexcept;
  // MPI is about to end: windows that the program has not freed.
  static void end() noexcept;

 private:
  static constexpr std::size_t kPlaces = 4096;
  using Table = sync::HandleTable<Policy, Holding*, kPlaces>;
  static Table& table() noexcept {
    static constinit Table all;
    return all;
  }
  static std::uint64_t key_of(MPI_Win win) noexcept {
    std::uint64_t key = 0;
    std::memcpy(&key, &win, sizeof win);
    return key;
  }
  static int keyval() noexcept;
  static int on_deletion(MPI_Win win, int keyval, void* value, void* extra) noexcept;
  // True: the holding has been taken, and is found from now on.
  static bool enter(std::unique_ptr<Holding>& holding) noexcept;
};

}  // namespace photon::mpi
