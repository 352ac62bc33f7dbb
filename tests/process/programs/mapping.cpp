// mapping CASE: one rank maps the other's ph_alloc memory, and one of the two ends, by forked
// ranks.
//
//   kill, leave: rank 1 is the owner; rank 0 uses the pointer when rank 1's end is known
//   mapper: rank 1 is the mapper; rank 0 frees the memory, which waits until rank 1 was killed
#include <unistd.h>

#include <cstring>
#include <string>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::require;

constexpr std::size_t kMappedBytes = 3 << 20;

void expect(ph_context* context, bool is_so, const char* what) {
  if (!is_so) fail(context, what, PH_ERR_STATE);
}

// With progress alone.
void await(ph_context* context, ph_rank rank, ph_contact_state wanted) {
  for (ph_contact_state state = PH_PEER_UNKNOWN; state != wanted; ::sched_yield()) {
    ph_completion found{};
    std::size_t count = 0;
    require(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &found, 1, &count),
            "probe");
    require(context, ph_peer_state(context, rank, &state), "peer_state");
  }
}

char* map(ph_context* context, ph_rank rank, const ph_region& region) {
  void* local = nullptr;
  ph_status status = PH_AGAIN;
  while (status == PH_AGAIN) {
    std::size_t count = 0;
    require(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count),
            "probe");
    status = ph_map(context, rank, &region, &local);
  }
  require(context, status, "map");
  return static_cast<char*>(local);
}

void use(ph_context* context, char* local, char before) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{5000}, kMappedBytes - 1})
    expect(context, local[at] == before, "the owner's bytes are lost");
  std::memset(local, before + 1, kMappedBytes);
  expect(context, local[kMappedBytes / 2] == before + 1, "what was written is lost");
}

void outlive_owner(ph_context* context, const ph_region& region, bool is_killed) {
  char* const local = map(context, 1, region);
  require(context, ph_barrier(context), "barrier");
  await(context, 1, is_killed ? PH_PEER_DEAD : PH_PEER_DEPARTED);
  use(context, local, 'o');
  void* again = nullptr;
  const ph_status status = ph_map(context, 1, &region, &again);
  expect(context, status == (is_killed ? PH_ERR_PEER : PH_ERR_DEPARTED), "it was mapped again");
  use(context, local, 'p');
  require(context, ph_unmap(context, local), "unmap");
  expect(context, ph_unmap(context, local) == PH_ERR_NOT_FOUND, "it was unmapped twice");
}

bool is_reused(ph_context* context, const ph_region& freed) {
  ph_region next{};
  require(context, ph_alloc(context, kMappedBytes, &next), "alloc");
  require(context, ph_free(context, reinterpret_cast<void*>(next.address)), "free");
  return next.address == freed.address;
}

void outlive_mapper(ph_context* context, const ph_region& mine) {
  require(context, ph_free(context, reinterpret_cast<void*>(mine.address)), "free");
  expect(context, !is_reused(context, mine), "memory that is mapped was given away");
  require(context, ph_barrier(context), "barrier");
  await(context, 1, PH_PEER_DEAD);
  expect(context, is_reused(context, mine), "memory of a dead mapper is held");
}

int run(const ph_bootstrap& bootstrap, const std::string& what) {
  const ph_config config = {sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 3;
  ph_region mine{}, all[2]{};
  require(context, ph_alloc(context, kMappedBytes, &mine), "alloc");
  std::memset(reinterpret_cast<void*>(mine.address), 'o', kMappedBytes);
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  const bool is_first = bootstrap.rank == 0;
  if (what == "mapper") {
    if (!is_first) map(context, 0, all[0]);
    require(context, ph_barrier(context), "barrier");
    if (is_first) outlive_mapper(context, mine);
    if (!is_first) require(context, ph_barrier(context), "barrier");
  } else {
    if (is_first) outlive_owner(context, all[1], what == "kill");
    if (!is_first) require(context, ph_barrier(context), "barrier");
  }
  if (!is_first && what != "leave") ::kill(::getpid(), SIGKILL);
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string what = arguments[1];
  return photon::test::run_ranks(2, {}, what != "leave",
                                 [&](const ph_bootstrap& boot) { return run(boot, what); });
}
