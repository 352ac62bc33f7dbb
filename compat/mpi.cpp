#include "compat/mpi.hpp"

#include <dlfcn.h>

#include <climits>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {

// In the global scope of the program, or of a library that was loaded apart, as a plug-in's MPI is.
void* look_up(const char* name) noexcept {
  if (void* found = ::dlsym(RTLD_DEFAULT, name); found != nullptr) return found;
  for (const char* library : {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"}) {
    // Loaded already or not at all; it stays as long as the program keeps it.
    void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* found = ::dlsym(handle, name);
    ::dlclose(handle);
    if (found != nullptr) return found;
  }
  return nullptr;
}

template <class Function>
bool find_function(const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(look_up(name));
  return function != nullptr;
}

// One of the two ABIs: Handle is int in MPICH's, a pointer in Open MPI's.
template <class Handle>
class MpiOf : public Mpi {
 public:
  MpiOf(Handle world, Handle byte) noexcept : world_(world), byte_(byte) {}

  bool is_whole() noexcept {
    return find_function("MPI_Comm_rank", rank_) && find_function("MPI_Comm_size", size_) &&
           find_function("MPI_Allgather", allgather_) && find_function("MPI_Barrier", barrier_);
  }

  int rank() const override { return ask(rank_); }
  int size() const override { return ask(size_); }
  int allgather(const void* mine, void* all, std::size_t size_bytes) const override {
    if (size_bytes > INT_MAX) return -1;
    const int count = static_cast<int>(size_bytes);
    return allgather_(mine, count, byte_, all, count, byte_, world_);
  }
  int barrier() const override { return barrier_(world_); }

 private:
  using Ask = int(Handle, int*);
  using Allgather = int(const void*, int, Handle, void*, int, Handle, Handle);
  using Barrier = int(Handle);

  int ask(Ask* what) const {
    int answer = -1;
    return what(world_, &answer) == 0 ? answer : -1;
  }

  const Handle world_;
  const Handle byte_;
  Ask* rank_ = nullptr;
  Ask* size_ = nullptr;
  Allgather* allgather_ = nullptr;
  Barrier* barrier_ = nullptr;
};

bool is_running() noexcept {
  int (*initialized)(int*) = nullptr;
  int (*finalized)(int*) = nullptr;
  int flag = 0;
  if (!find_function("MPI_Initialized", initialized)) {
    warn("photon_init",
         "PHOTON_EXCH_MPI, but this program has no MPI, or is linked statically; link it with it, "
         "or start it by photonrun with PHOTON_EXCH_TCP");
    return false;
  }
  if (initialized(&flag) != 0 || flag == 0) {
    warn("photon_init", "PHOTON_EXCH_MPI needs MPI_Init() first");
    return false;
  }
  if (find_function("MPI_Finalized", finalized) && finalized(&flag) == 0 && flag != 0) {
    warn("photon_init", "PHOTON_EXCH_MPI, but MPI_Finalize() was called");
    return false;
  }
  return true;
}

template <class Handle>
std::unique_ptr<Mpi> whole(Handle world, Handle byte) {
  auto mpi = std::make_unique<MpiOf<Handle>>(world, byte);
  if (mpi->is_whole()) return mpi;
  warn("photon_init", "PHOTON_EXCH_MPI, but this program's MPI lacks calls");
  return nullptr;
}

}  // namespace

std::unique_ptr<Mpi> Mpi::find() {
  if (!is_running()) return nullptr;
  void* world = look_up("ompi_mpi_comm_world");
  void* byte = look_up("ompi_mpi_byte");
  if (world != nullptr && byte != nullptr) return whole<void*>(world, byte);
  // The ABI that MPICH and its relatives have agreed upon.
  constexpr int kWorld = 0x44000000;
  constexpr int kByte = 0x4c00010d;
  return whole<int>(kWorld, kByte);
}

}  // namespace photon::classic
