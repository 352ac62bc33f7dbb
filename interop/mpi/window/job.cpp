#include "interop/mpi/window/job.hpp"

#include <photon/photon.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "interop/mpi/window/windows.hpp"

namespace photon::mpi {

namespace {

// Never destroyed: a program may end without MPI_Finalize(), and so does a child of fork().
std::unique_ptr<Job>& the_job() noexcept {
  static std::unique_ptr<Job>& job = *new std::unique_ptr<Job>;
  return job;
}

// All ranks say yes.
bool vote(bool mine) noexcept {
  int own = mine ? 1 : 0;
  int all = 0;
  return real().Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
         all == 1;
}

// MPI_Finalize() deletes the attributes of MPI_COMM_SELF before all else, the oldest last. So the
// program's own callbacks there still have their windows and their memory.
int on_finalize(MPI_Comm, int, void*, void*) noexcept {
  Windows::end();
  Job::end();
  return MPI_SUCCESS;
}

bool end_with_mpi() noexcept {
  const auto copy_nothing = [](MPI_Comm, int, void*, void*, void*, int* is_copied) -> int {
    *is_copied = 0;
    return MPI_SUCCESS;
  };
  int keyval = MPI_KEYVAL_INVALID;
  const Real& mpi = real();
  if (mpi.Comm_create_keyval(copy_nothing, on_finalize, &keyval, nullptr) != MPI_SUCCESS)
    return false;
  const int result = mpi.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  mpi.Comm_free_keyval(&keyval);
  return result == MPI_SUCCESS;
}

int gather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  Job& job = *static_cast<Job*>(user);
  if (!job.agree(size_bytes <= INT_MAX)) return 1;
  const int count = static_cast<int>(size_bytes);
  return real().Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, job.comm());
}

int meet(void* user) { return static_cast<Job*>(user)->agree(true) ? 0 : 1; }

// Room for any window: it costs address space alone until it is touched.
std::string memory_of_host() {
  constexpr unsigned long long kMost = 1ULL << 40;  // of the setting
  const auto pages = static_cast<unsigned long long>(::sysconf(_SC_PHYS_PAGES));
  return std::to_string(std::min(pages * 4096, kMost));
}

// A setting of the environment goes before what this library would choose.
void choose(std::vector<ph_option>& options, const ph_option& own, const char* variable) {
  if (std::getenv(variable) == nullptr) options.push_back(own);
}

bool is_all(const ph_setting& setting, const char* value) noexcept {
  return std::strcmp(setting.value, value) == 0;
}

}  // namespace

Job* Job::current() noexcept { return the_job().get(); }

void Job::begin() noexcept {
  if (the_job() != nullptr || !is_our_abi()) return;
  try {
    the_job() = std::unique_ptr<Job>(new Job);
  } catch (const std::bad_alloc&) {
  }
  if (!vote(the_job() != nullptr)) return the_job().reset();
  bool has_joined = false;
  try {
    has_joined = the_job()->join() && end_with_mpi();
  } catch (const std::bad_alloc&) {
  }
  if (!the_job()->agree(has_joined)) the_job().reset();
}

bool Job::agree(bool mine) noexcept {
  if (is_refused_) return false;
  is_refused_ = !vote(mine);
  return !is_refused_;
}

void Job::end() noexcept { the_job().reset(); }

bool Job::join() {
  int level = MPI_THREAD_SINGLE;
  int rank = 0;
  int size = 0;
  const Real& mpi = real();
  if (mpi.Query_thread(&level) != MPI_SUCCESS || mpi.Comm_rank(MPI_COMM_WORLD, &rank) != 0 ||
      mpi.Comm_size(MPI_COMM_WORLD, &size) != 0 || mpi.Comm_dup(MPI_COMM_WORLD, &comm_) != 0)
    return false;
  // MPI may tell of the end of a rank by an error of any call on it; locks are to outlive that.
  mpi.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  is_multiple_ = level == MPI_THREAD_MULTIPLE;
  rank_ = static_cast<ph_rank>(rank);
  const ph_bootstrap bootstrap{this, rank_, static_cast<std::uint32_t>(size), gather, meet};
  const std::string arena = memory_of_host();
  std::vector<ph_option> options;
  choose(options, {"arena_bytes", arena.c_str()}, "PHOTON_ARENA_BYTES");
  choose(options, {"max_regions", "4096"}, "PHOTON_MAX_REGIONS");
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  config.options = options.data();
  config.options_count = options.size();
  ph_error error{};
  if (ph_context_create(&config, &context_, &error) != PH_OK) {
    std::fprintf(stderr, "photon: rank %d of MPI: no window is served, since %s\n", rank,
                 error.text);
    return false;
  }
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context_, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, "log") == 0)
      is_talkative_ = is_all(setting, "info") || is_all(setting, "debug");
  count_neighbours();
  return true;
}

// Launchers may tie each rank to a core of its own, so the cores of all are counted together.
void Job::count_neighbours() {
  const Real& mpi = real();
  MPI_Comm host = MPI_COMM_NULL;
  int size = 1;
  cpu_set_t own;
  cpu_set_t all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  ::sched_getaffinity(0, sizeof own, &own);
  if (mpi.Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) != 0) return;
  mpi.Comm_size(host, &size);
  const int result = mpi.Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, host);
  mpi.Comm_free(&host);
  is_crowded_ = result != MPI_SUCCESS || size > CPU_COUNT(&all);
}

Job::~Job() {
  // Memory that the program has not freed stays usable, as MPI's own does, until the process ends.
  part_there_.set(nullptr);
  part_.reset();
  serving_.set(nullptr);
  server_.reset();
  if (context_ != nullptr && memory_.empty()) {
    ph_finalize(context_);
    ph_context_destroy(context_);
  }
  if (comm_ != MPI_COMM_NULL) real().Comm_free(&comm_);
}

bool Job::has_ended(ph_rank rank) noexcept {
  const ph_status status = ph_contact(context_, rank);
  if (status == PH_ERR_PEER || status == PH_ERR_DEPARTED) return true;
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (ph_peer_state(context_, rank, &state) != PH_OK) return false;
  return state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
}

Server* Job::server() noexcept {
  const std::lock_guard guard(server_lock_);
  if (server_ != nullptr) return server_.get();
  try {
    ph_error why{};
    server_ = Server::open(*this, why);
    if (server_ == nullptr) say("no window that needs a thread can be served: %s", why.text);
  } catch (const std::bad_alloc&) {
  }
  serving_.set(server_.get());
  return server_.get();
}

std::uint64_t Job::next_number() noexcept {
  constexpr unsigned kBitsOfWindows = 40;
  const std::lock_guard guard(server_lock_);
  return (std::uint64_t{rank_} << kBitsOfWindows) | ++last_window_;
}

void Job::serve() noexcept {
  if (const Server* const server = serving_.get(); server != nullptr)
    static_cast<void>(ph_am_poll(server->lane(), 0));
  static_cast<void>(ph_probe_u64(context_, PH_ANY_RANK, PH_EITHER));
  int flag = 0;
  real().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, MPI_STATUS_IGNORE);
}

void* Job::allocate(std::size_t bytes) noexcept {
  ph_region region{};
  if (ph_alloc(context_, bytes == 0 ? 1 : bytes, &region) != PH_OK) return nullptr;
  auto* const memory = reinterpret_cast<void*>(region.address);
  try {
    const std::lock_guard guard(memory_lock_);
    memory_.emplace(region.address + region.size_bytes, region);
  } catch (const std::bad_alloc&) {
    ph_free(context_, memory);
    return nullptr;
  }
  return memory;
}

bool Job::free(void* memory) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  {
    const std::lock_guard guard(memory_lock_);
    const auto at = memory_.upper_bound(address);
    if (at == memory_.end() || at->second.address != address) return false;
    memory_.erase(at);
  }
  return ph_free(context_, memory) == PH_OK;
}

bool Job::find(const void* memory, std::size_t bytes, ph_region& region) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::lock_guard guard(memory_lock_);
  const auto at = memory_.upper_bound(address);
  if (at == memory_.end() || at->second.address > address || bytes > at->first - address)
    return false;
  region = at->second;
  return true;
}

void Job::say(const char* format, ...) const noexcept {
  if (!is_talkative_) return;
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "photon: rank %u of MPI: %s\n", rank_, line);
}

}  // namespace photon::mpi
