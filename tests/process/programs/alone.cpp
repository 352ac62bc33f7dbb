// alone: rank 0 puts to rank 1 and gets from it with PH_ALONE while rank 1 makes no call: it waits
// for a signal. With callbacks, by forked ranks; over shared memory.
#include <unistd.h>

#include <cstring>
#include <vector>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::kLongUs;
using photon::test::next;
using photon::test::require;

constexpr std::size_t kSizes[] = {8, 300, 1 << 20};
constexpr std::size_t kRoomBytes = 4 << 20;

// What each rank shows: memory of ph_alloc, and ordinary memory, which only the kernel reaches.
struct Shown {
  ph_region regions[2];
  pid_t pid;
};

char byte_of(std::size_t size, int which) { return static_cast<char>('a' + size % 20 + which); }

void put_and_get(ph_context* context, const ph_region& region, std::size_t size, int which) {
  const std::vector<char> source(size, byte_of(size, which));
  const std::uint64_t id = size;
  ph_put_args put{};
  put.size = sizeof put;
  put.source = source.data();
  put.size_bytes = size;
  put.target = ph_at(&region, size);
  put.local = put.remote = {&id, sizeof id};
  put.flags = PH_ALONE | PH_DELIVERED;
  require(context, ph_put(context, 1, &put), "put");
  ph_completion one = next(context, 1, PH_LOCAL);
  if (one.id != id || one.status != PH_OK) fail(context, "the put's end", one.status);
  std::vector<char> back(size);
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = back.data();
  get.size_bytes = size;
  get.source = put.target;
  get.local = {&id, sizeof id};
  get.flags = PH_ALONE | PH_NO_RCE;
  require(context, ph_get(context, 1, &get), "get");
  one = next(context, 1, PH_LOCAL);
  if (one.id != id || one.status != PH_OK) fail(context, "the get's end", one.status);
  if (back != source) fail(context, "other bytes came back", PH_ERR_STATE);
}

// 1: only memory of ph_alloc is reached. 2: all of it.
int reached(ph_context* context) {
  ph_path path{};
  path.size = sizeof path;
  require(context, ph_path_to(context, 1, &path), "path_to");
  return path.cma != 0 ? 2 : 1;
}

void expect_refused(ph_context* context, const ph_region& region) {
  const char bytes[8] = {};
  ph_put_args put{};
  put.size = sizeof put;
  put.source = bytes;
  put.size_bytes = sizeof bytes;
  put.target = ph_at(&region, 0);
  put.flags = PH_ALONE;
  const ph_status status = ph_put(context, 1, &put);
  if (status != PH_ERR_NOT_FOUND) fail(context, "a put without a way", status);
}

void work(ph_context* context, const Shown& there) {
  const int regions_count = reached(context);
  for (int which = 0; which < regions_count; ++which)
    for (const std::size_t size : kSizes) put_and_get(context, there.regions[which], size, which);
  if (regions_count == 1) expect_refused(context, there.regions[1]);
  ::kill(there.pid, SIGUSR1);
}

void wait_outside(ph_context* context, const Shown& mine, const sigset_t& awaited) {
  const timespec limit = {20, 0};
  if (::sigtimedwait(&awaited, nullptr, &limit) != SIGUSR1)
    fail(context, "no signal came", PH_ERR_STATE);
  const auto* const bytes = reinterpret_cast<const char*>(mine.regions[0].address);
  for (const std::size_t size : kSizes)
    if (bytes[size] != byte_of(size, 0)) fail(context, "bytes are not there", PH_ERR_STATE);
  for (const std::size_t size : kSizes)
    if (next(context, 0, PH_REMOTE).id != size) fail(context, "another id", PH_ERR_STATE);
}

int run(const ph_bootstrap& bootstrap) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  const ph_config config = {sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 3;
  std::vector<char> ordinary(kRoomBytes);
  Shown mine{}, all[2]{};
  mine.pid = ::getpid();
  require(context, ph_alloc(context, kRoomBytes, &mine.regions[0]), "alloc");
  require(context,
          ph_register(context, ordinary.data(), kRoomBytes, PH_ACCESS_ALL, &mine.regions[1]),
          "register");
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  const ph_rank other = 1 - bootstrap.rank;
  require(context, ph_notify(context, other, 1), "notify");
  next(context, other, PH_REMOTE);
  require(context, ph_flush(context, other, kLongUs), "flush");
  require(context, ph_barrier(context), "barrier");
  if (bootstrap.rank == 0)
    work(context, all[1]);
  else
    wait_outside(context, mine, awaited);
  require(context, ph_barrier(context), "barrier");
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main() { return photon::test::run_ranks(2, {}, false, &run); }
