// Two ranks, the second of which has too little address space left to meet the first: what the
// first puts there ends with an error that names the second and the limit.
//
//   limited MIB        what the second may still map after its start
//
// The second stays until the first has been told, so that it is not its end that is told.
// Exit status 0: it was so.
#include <photon/photon.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

constexpr std::int64_t kLongUs = 30'000'000;

bool leave_address_space(std::uint64_t mib) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  if (pages == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return false;
  limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (mib << 20);
  return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

int run_first(ph_context* context) {
  if (ph_notify(context, 1, 77) != PH_OK) return 3;
  static_cast<void>(ph_wait(context, {1, PH_REMOTE, nullptr}, kLongUs));  // it is told
  const ph_status flushed = ph_flush(context, 1, kLongUs);
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("flush %d: rank %u: %s\n", flushed, error.rank, error.text);
  const bool is_told = flushed == PH_ERR_PEER && error.rank == 1 &&
                       std::strstr(error.text, "rank 1 has cut this rank off") != nullptr &&
                       std::strstr(error.text, "RLIMIT_AS") != nullptr;
  return is_told ? 0 : 4;
}

// Makes progress until the contact has failed here.
int run_second(ph_context* context) {
  const ph_status waited = ph_wait(context, {0, PH_REMOTE, nullptr}, kLongUs);
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("wait %d: %s\n", waited, error.text);
  return waited == PH_OK || waited == PH_TIMEOUT ? 5 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 1;
  }
  const bool is_first = ph_rank_of(context) == 0;
  if (!is_first && !leave_address_space(std::strtoull(argv[1], nullptr, 10))) return 6;
  const int status = is_first ? run_first(context) : run_second(context);
  std::fflush(stdout);
  if (ph_barrier(context) != PH_OK) return 7;
  ph_context_destroy(context);
  return status;
}
