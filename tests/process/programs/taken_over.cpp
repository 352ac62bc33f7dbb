// taken_over MODE: rank 0 gets ordinary memory of rank 1, which its kernel can copy, too. With
// callbacks, by forked ranks; over shared memory. What rank 1 does meanwhile is the mode:
//
//   polls     probes until rank 0 has all
//   away      makes no call until rank 0 has all, and answers then
//   comes     makes a call now and then
//   killed    is away, and ends by a signal
//   left      is away until rank 0 has finalized
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

#include "rank_calls.hpp"

namespace {

using photon::test::fail;
using photon::test::kLongUs;
using photon::test::next;
using photon::test::require;

constexpr std::size_t kRoomBytes = 9 << 20;
// Around where a choice begins, chunks, a call's share, the bulk ring.
constexpr std::size_t kSizes[] = {2047,    2048,          2049,    4096,          16383,
                                  16384,   32767,         32768,   32769,         65536,
                                  65537,   262143,        262144,  262145,        300001,
                                  1 << 20, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, (8 << 20) + 5};

// What both processes see.
struct Shared {
  std::atomic<bool> has_all;
  std::atomic<bool> has_left;
};

std::string_view mode;
bool must_poll = false;  // nobody else can copy its memory
Shared* shared = nullptr;

// How many of its looks rank 1 makes for one call; 0: it makes none.
unsigned looks_per_call() {
  if (mode == "polls" || must_poll) return 1;
  return mode == "comes" ? 3000 : 0;
}

std::vector<unsigned char> pattern(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 251);
  return bytes;
}

void get(ph_context* context, const ph_region& region, std::vector<unsigned char>& landing,
         std::uint64_t id) {
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = landing.data();
  args.size_bytes = landing.size();
  args.source = ph_at(&region, 0);
  args.local = {&id, sizeof id};
  args.flags = PH_NO_RCE;
  require(context, ph_get(context, 1, &args), "get");
  const ph_completion one = next(context, 1, PH_LOCAL);
  if (one.id != id || one.status != PH_OK) fail(context, "the get's end", one.status);
}

void expect_overwritten(ph_context* context, const std::vector<std::vector<unsigned char>>& all) {
  for (const auto& landing : all)
    for (const unsigned char byte : landing)
      if (byte != 0xee)
        fail(context, "a late answer has overwritten its destination", PH_ERR_STATE);
}

// Each size several times, so that every way is taken.
void get_all(ph_context* context, const ph_region& region) {
  const auto wanted = pattern(kRoomBytes);
  std::vector<std::vector<unsigned char>> landings;
  for (const std::size_t size : kSizes)
    for (std::uint64_t round = 0; round < 6; ++round) {
      auto& landing = landings.emplace_back(size);
      get(context, region, landing, round);
      if (std::memcmp(landing.data(), wanted.data(), size) != 0)
        fail(context, ("other bytes of " + std::to_string(size)).c_str(), PH_ERR_STATE);
      std::memset(landing.data(), 0xee, size);
    }
  require(context, ph_flush(context, 1, kLongUs), "flush");
  shared->has_all = true;
  if (mode == "killed" || mode == "left") return expect_overwritten(context, landings);
  require(context, ph_barrier(context), "barrier");  // rank 1 answers
  expect_overwritten(context, landings);
}

void serve(ph_context* context) {
  ph_completion found{};
  std::size_t count = 0;
  require(context, ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, &found, 1, &count),
          "probe");
}

void own(ph_context* context) {
  const unsigned each = looks_per_call();
  for (unsigned looks = 0; !shared->has_all; ++looks)
    if (each != 0 && looks % each == 0) serve(context);
  if (mode == "killed") ::raise(SIGKILL);
  while (mode == "left" && !shared->has_left) ::sched_yield();
  if (mode != "left") require(context, ph_barrier(context), "barrier");
}

int leave(ph_context* context, bool is_owner) {
  if (mode == "killed") {
    const ph_status status = ph_wait(context, {1, PH_EITHER, nullptr}, kLongUs);
    if (status != PH_ERR_PEER) fail(context, "a wait for a rank that was killed", status);
  }
  const ph_status status = ph_finalize(context);
  if (mode != "killed" && status != PH_OK) fail(context, "finalize", status);
  if (!is_owner) shared->has_left = true;
  ph_context_destroy(context);
  return 0;
}

int run(const ph_bootstrap& bootstrap) {
  const ph_config config = {sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 3;
  std::vector<unsigned char> memory = pattern(kRoomBytes);
  ph_region mine{}, all[2]{};
  require(context, ph_register(context, memory.data(), kRoomBytes, PH_ACCESS_ALL, &mine),
          "register");
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  const ph_rank other = 1 - bootstrap.rank;
  require(context, ph_notify(context, other, 1), "notify");
  next(context, other, PH_REMOTE);
  require(context, ph_flush(context, other, kLongUs), "flush");
  require(context, ph_barrier(context), "barrier");
  ph_path path{};
  path.size = sizeof path;
  require(context, ph_path_to(context, other, &path), "path_to");
  must_poll = path.cma == 0;
  if (bootstrap.rank == 0)
    get_all(context, all[1]);
  else
    own(context);
  return leave(context, bootstrap.rank == 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mode = argv[1];
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  shared = new (memory) Shared{};
  return photon::test::run_ranks(2, {}, mode == "killed", &run);
}
