// A job whose ranks find each other by addresses, on one host or several: rank r in the network
// namespace of the argument r modulo their number; none: all here. Only ranks below others are
// given addresses, so that the others learn of them at first contact.
//
//   addressed work RANKS [NAMESPACE...]    everybody notifies, puts to and gets from everybody, and
//                                          leaves; also on a lane
//   addressed killed RANKS [NAMESPACE...]  rank 1 is killed after it met the others, who all hear
//   addressed unmet RANKS [NAMESPACE...]   the same, before it met anybody
//   addressed left RANKS [NAMESPACE...]    rank 1 leaves, and who comes too late is told so
//   addressed refused RANKS NAMESPACE...   addresses are refused, and the errors printed
//
// Exit status 0: each rank did and met what it should.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "rank_calls.hpp"

using namespace photon::test;

namespace {

constexpr char kSecret[] = "the secret of the test's job";

// How the program passes bytes, and meets: its own affair.
struct Runtime {
  const ph_bootstrap& calls;
  const std::vector<std::string>& names;

  template <class T>
  std::vector<T> gather(const T& mine) const {
    std::vector<T> all(calls.size);
    if (calls.allgather(calls.user, &mine, all.data(), sizeof mine) != 0) std::_Exit(1);
    return all;
  }
  void meet() const { calls.barrier(calls.user); }
};

struct Card {
  std::size_t size_bytes = 0;
  char bytes[PH_MAX_ADDRESS_BYTES] = {};
};

// Also how ranks meet: who is here has been served as long as it needed it.
void notify_all(ph_context* context) {
  const ph_rank me = ph_rank_of(context);
  for (ph_rank to = me; to < ph_size_of(context); ++to)
    require(context, ph_notify(context, to, me), "notify upward");
  for (ph_rank i = 0; i <= me; ++i)  // they have said who they are
    if (next(context, i, PH_REMOTE).id != i) fail(context, "a notice", PH_ERR_STATE);
  for (ph_rank to = 0; to < me; ++to)
    require(context, ph_notify(context, to, me), "notify downward");
  for (ph_rank i = me + 1; i < ph_size_of(context); ++i)
    if (next(context, i, PH_REMOTE).id != i) fail(context, "a notice", PH_ERR_STATE);
}

void take_addresses(ph_context* context, const Runtime& runtime) {
  Card mine;
  require(context, ph_address(context, mine.bytes, sizeof mine.bytes, &mine.size_bytes), "address");
  const auto all = runtime.gather(mine);
  const ph_rank me = ph_rank_of(context);
  if (me > 0 && ph_notify(context, 0, 1) != PH_ERR_NOT_FOUND)
    fail(context, "a notice to an unknown rank", PH_OK);
  for (ph_rank to = ph_size_of(context); to-- > me;) {
    ph_rank whose = PH_ANY_RANK;
    require(context, ph_connect(context, all[to].bytes, all[to].size_bytes, &whose), "connect");
    if (whose != to) fail(context, "whose address it was", PH_ERR_RANK);
  }
}

void put_and_get(ph_context* context, const Runtime& runtime) {
  const ph_rank size = ph_size_of(context);
  std::vector<unsigned char> landing(kBytes * size);
  ph_region mine{};
  require(context, ph_register(context, landing.data(), landing.size(), PH_ACCESS_ALL, &mine),
          "register");
  const auto all = runtime.gather(mine);  // before anybody needs to be served
  notify_all(context);
  for (ph_rank to = 0; to < size; ++to) {
    put_block(context, to, all[to], nullptr);
    expect_back(context, to, all[to]);
  }
  notify_all(context);
  expect_blocks(context, landing);
  notify_all(context);  // nobody reads here any more
  require(context, ph_unregister(context, mine.key), "unregister");
}

void look_at_paths(ph_context* context, const Runtime& runtime) {
  const char* const chosen = std::getenv("PHOTON_TRANSPORT");
  const bool is_tcp = chosen != nullptr && std::strcmp(chosen, "tcp") == 0;
  const ph_rank me = ph_rank_of(context);
  const std::size_t hosts = runtime.names.empty() ? 1 : runtime.names.size();
  for (ph_rank rank = 0; rank < ph_size_of(context); ++rank) {
    if (rank == me) continue;
    ph_path path{};
    path.size = sizeof path;
    require(context, ph_path_to(context, rank, &path), "path");
    const char* const wanted = !is_tcp && rank % hosts == me % hosts ? "shm" : "tcp";
    if (std::strcmp(path.transport, wanted) != 0) fail(context, path.transport, PH_ERR_STATE);
  }
}

void work(ph_context* context, const Runtime& runtime) {
  put_and_get(context, runtime);
  look_at_paths(context, runtime);
  ph_context* lane = nullptr;
  require(context, ph_lane_open(context, 7, &lane), "opening a lane");
  notify_all(lane);
  notify_all(context);
  require(context, ph_lane_close(lane), "closing a lane");
  if (ph_barrier(context) != PH_ERR_STATE) fail(context, "a barrier", PH_OK);
  require(context, ph_finalize(context), "finalize");
}

// Rank 1 is killed; the others hear of it in what they wait for, or post. Unmet, only those below
// it have its address.
void lose(ph_context* context, bool are_met) {
  const ph_rank me = ph_rank_of(context);
  if (are_met) {
    notify_all(context);
    if (me != 1) require(context, ph_notify(context, 1, 5), "all of its notices are here");
    for (ph_rank i = 0; me == 1 && i < ph_size_of(context); ++i)
      if (i != 1) static_cast<void>(next(context, i, PH_REMOTE));
  }
  if (me == 1) static_cast<void>(::kill(::getpid(), SIGKILL));
  if (!are_met && me > 1) return;
  const ph_query of_1{1, PH_EITHER, nullptr};
  ph_status status = are_met ? PH_OK : ph_notify(context, 1, 5);
  if (status == PH_OK) status = ph_wait(context, of_1, kLongUs);
  if (status != PH_ERR_PEER) fail(context, "the end of rank 1", status);
}

void outlive(ph_context* context) {
  notify_all(context);
  if (ph_rank_of(context) == 1) return require(context, ph_finalize(context), "finalize");
  outlive_rank_1(context);
}

int refuse(ph_context* context, const Runtime& runtime) {
  Card mine;
  require(context, ph_address(context, mine.bytes, sizeof mine.bytes, &mine.size_bytes), "address");
  const auto all = runtime.gather(mine);
  for (ph_rank to = 0; to < ph_size_of(context); ++to) {
    const ph_status status = ph_connect(context, all[to].bytes, all[to].size_bytes, nullptr);
    if (to == ph_rank_of(context) && status == PH_OK) continue;
    ph_error error{};
    ph_last_error(context, &error);
    std::fprintf(stderr, "rank %u: %s: %s\n", ph_rank_of(context), ph_status_text(status),
                 error.text);
    if (status != PH_ERR_CONFIG) return 1;
    if (ph_notify(context, to, 1) != PH_ERR_NOT_FOUND) return 1;
  }
  runtime.meet();
  return 0;
}

int be_a_rank(const std::string& mode, const Runtime& runtime) {
  const ph_job job{sizeof job, runtime.calls.rank, runtime.calls.size, kSecret, sizeof kSecret};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_join(&job, nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "rank %u: join: %s\n", job.rank, error.text);
    std::_Exit(1);
  }
  int status = 0;
  if (mode == "refused") status = refuse(context, runtime);
  if (mode != "refused") take_addresses(context, runtime);
  if (mode != "refused") runtime.meet();
  if (mode == "work") work(context, runtime);
  if (mode == "killed" || mode == "unmet") lose(context, mode == "killed");
  if (mode == "left") outlive(context);
  ph_context_destroy(context);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[1];
  const auto ranks_count = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::vector<std::string> names(argv + 3, argv + argc);
  return run_ranks(ranks_count, names, mode == "killed" || mode == "unmet",
                   [&](const ph_bootstrap& calls) {
                     return be_a_rank(mode, {calls, names});
                   });
}
