// A job with a bootstrap of its own whose ranks are on several hosts: rank r in the network
// namespace of the argument r modulo their number.
//
//   callers work RANKS NAMESPACE...    everybody puts to, gets from and notifies everybody, also on
//                                      a lane, and leaves
//   callers killed RANKS NAMESPACE...  rank 1 is killed after it met the others, who all hear of it
//   callers unmet RANKS NAMESPACE...   the same, before it met anybody
//   callers left RANKS NAMESPACE...    rank 1 leaves, and who comes too late is told so
//   callers refused RANKS NAMESPACE... rank 1 cannot create its context, so nobody can
//   callers cut 2 NAMESPACE...         rank 1 takes its host off the network (interface v0) for
//                                      good, and both hear that the other is gone
//
// Exit status 0: each rank did and met what it should.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "rank_calls.hpp"

using namespace photon::test;

namespace {

void notify_all(ph_context* context) {
  for (ph_rank to = 0; to < ph_size_of(context); ++to)
    require(context, ph_notify(context, to, ph_rank_of(context)), "notify");
  for (ph_rank i = 0; i < ph_size_of(context); ++i) {
    const ph_completion one = next(context, PH_ANY_RANK, PH_REMOTE);
    if (one.id != one.peer || one.status != PH_OK) fail(context, "a notice", one.status);
  }
}

void put_and_get(ph_context* context) {
  const std::uint64_t me = ph_rank_of(context);
  const ph_rank size = ph_size_of(context);
  std::vector<unsigned char> landing(kBytes * size);
  ph_region mine{};
  std::vector<ph_region> all(size);
  require(context, ph_register(context, landing.data(), landing.size(), PH_ACCESS_ALL, &mine),
          "register");
  require(context, ph_allgather(context, &mine, all.data(), sizeof mine), "allgather");
  for (ph_rank to = 0; to < size; ++to) {
    put_block(context, to, all[to], &me);
    expect_back(context, to, all[to]);
  }
  for (ph_rank i = 0; i < size; ++i) next(context, PH_ANY_RANK, PH_REMOTE);
  expect_blocks(context, landing);
  require(context, ph_barrier(context), "barrier");
  require(context, ph_unregister(context, mine.key), "unregister");
}

void work(ph_context* context) {
  put_and_get(context);
  ph_context* lane = nullptr;
  require(context, ph_lane_open(context, 7, &lane), "opening a lane");
  notify_all(lane);
  require(context, ph_barrier(context), "barrier");
  require(context, ph_lane_close(lane), "closing a lane");
  require(context, ph_finalize(context), "finalize");
}

// Rank 1 is killed; the others hear of it in what they wait for, or post.
void lose(ph_context* context, bool are_met) {
  if (are_met) {
    notify_all(context);
    require(context, ph_barrier(context), "barrier");
  }
  if (ph_rank_of(context) == 1) static_cast<void>(::kill(::getpid(), SIGKILL));
  ph_status status = PH_OK;
  const ph_query of_1{1, PH_EITHER, nullptr};
  if (are_met) {
    status = ph_wait(context, of_1, kLongUs);
  } else {
    status = ph_notify(context, 1, 5);
    if (status == PH_OK) status = ph_wait(context, of_1, kLongUs);
  }
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("rank %u: %s\n", ph_rank_of(context), error.text);
  if (status != PH_ERR_PEER) fail(context, "the end of rank 1", status);
}

void part(ph_context* context) {
  notify_all(context);
  require(context, ph_barrier(context), "barrier");
  const ph_rank self = ph_rank_of(context);
  if (self == 1 && std::system("ip link set v0 down") != 0)
    fail(context, "ip link set v0 down", PH_ERR_SYSTEM);
  const ph_status status = ph_wait(context, {1 - self, PH_EITHER, nullptr}, kLongUs);
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("rank %u: %s\n", self, error.text);
  if (status != PH_ERR_PEER) fail(context, "the end of the other host", status);
}

void outlive(ph_context* context, const ph_bootstrap& bootstrap) {
  notify_all(context);
  require(context, ph_barrier(context), "barrier");
  if (ph_rank_of(context) == 1) require(context, ph_finalize(context), "finalize");
  bootstrap.barrier(bootstrap.user);
  if (ph_rank_of(context) == 1) return;
  outlive_rank_1(context);
}

int be_a_rank(const std::string& mode, const ph_bootstrap& bootstrap) {
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  const bool is_refused = mode == "refused";
  const ph_option unknown{"transport", "pigeon"};
  if (is_refused && bootstrap.rank == 1) {
    config.options = &unknown;
    config.options_count = 1;
  }
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "rank %u: create: %s\n", bootstrap.rank, error.text);
    std::_Exit(is_refused ? 0 : 1);
  }
  if (is_refused) fail(context, "a context of a job that rank 1 is not in", PH_OK);
  if (mode == "work") work(context);
  if (mode == "killed" || mode == "unmet") lose(context, mode == "killed");
  if (mode == "left") outlive(context, bootstrap);
  if (mode == "cut") part(context);
  ph_context_destroy(context);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string mode = argv[1];
  const auto ranks_count = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::vector<std::string> names(argv + 3, argv + argc);
  return run_ranks(ranks_count, names, mode == "killed" || mode == "unmet",
                   [&](const ph_bootstrap& bootstrap) { return be_a_rank(mode, bootstrap); });
}
