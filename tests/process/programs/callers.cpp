// A job with a bootstrap of its own whose ranks are on several hosts: rank r in the network
// namespace of the argument r modulo their number.
//
//   callers work RANKS NAMESPACE...    everybody puts to, gets from and notifies everybody, also on
//                                      a lane, and leaves
//   callers killed RANKS NAMESPACE...  rank 1 is killed after it met the others, who all hear of it
//   callers unmet RANKS NAMESPACE...   the same, before it met anybody
//   callers left RANKS NAMESPACE...    rank 1 leaves, and who comes too late is told so
//
// Exit status 0: each rank did and met what it should.
#include <photon/photon.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "forked_job.hpp"

namespace {

constexpr std::int64_t kLongUs = 20'000'000;
constexpr std::size_t kBytes = 100'000;

[[noreturn]] void fail(ph_context* context, const char* what, int status) {
  ph_error error{};
  ph_last_error(context, &error);
  std::fprintf(stderr, "rank %u: %s: %s: %s\n", ph_rank_of(context), what,
               ph_status_text(static_cast<ph_status>(status)), error.text);
  std::_Exit(1);
}

void require(ph_context* context, ph_status status, const char* what) {
  if (status != PH_OK) fail(context, what, status);
}

// The next completion of a kind, from whomever.
ph_completion next(ph_context* context, ph_rank peer, std::uint32_t kind) {
  ph_completion found{};
  std::size_t count = 0;
  const ph_query query{peer, kind, nullptr};
  require(context, ph_wait(context, query, kLongUs), "wait");
  require(context, ph_probe(context, query, &found, 1, &count), "probe");
  if (count != 1) fail(context, "no completion where one was announced", PH_ERR_STATE);
  return found;
}

void notify_all(ph_context* context) {
  for (ph_rank to = 0; to < ph_size_of(context); ++to)
    require(context, ph_notify(context, to, ph_rank_of(context)), "notify");
  for (ph_rank i = 0; i < ph_size_of(context); ++i) {
    const ph_completion one = next(context, PH_ANY_RANK, PH_REMOTE);
    if (one.id != one.peer || one.status != PH_OK) fail(context, "a notice", one.status);
  }
}

unsigned char byte_of(ph_rank from, std::size_t i) {
  return static_cast<unsigned char>(from * 31 + i * 7);
}

void put_and_get(ph_context* context) {
  const ph_rank me = ph_rank_of(context), size = ph_size_of(context);
  std::vector<unsigned char> landing(kBytes * size), source(kBytes), back(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) source[i] = byte_of(me, i);
  ph_region mine{};
  std::vector<ph_region> all(size);
  require(context, ph_register(context, landing.data(), landing.size(), PH_ACCESS_ALL, &mine),
          "register");
  require(context, ph_allgather(context, &mine, all.data(), sizeof mine), "allgather");
  for (ph_rank to = 0; to < size; ++to) {
    ph_request request = PH_REQUEST_NONE;
    const std::uint64_t id = me;
    ph_put_args put{};
    put.size = sizeof put;
    put.source = source.data();
    put.size_bytes = kBytes;
    put.target = ph_at(&all[to], me * kBytes);
    put.remote = {&id, sizeof id};
    put.request = &request;
    require(context, ph_put(context, to, &put), "put");
    require(context, ph_wait_request(context, &request, nullptr, kLongUs), "the put's end");
    ph_get_args get{};
    get.size = sizeof get;
    get.destination = back.data();
    get.size_bytes = kBytes;
    get.source = ph_at(&all[to], me * kBytes);
    get.flags = PH_NO_RCE;
    request = PH_REQUEST_NONE;
    get.request = &request;
    require(context, ph_flush(context, to, kLongUs), "flush");
    require(context, ph_get(context, to, &get), "get");
    require(context, ph_wait_request(context, &request, nullptr, kLongUs), "the get's end");
    if (back != source) fail(context, "other bytes came back", PH_ERR_STATE);
  }
  for (ph_rank i = 0; i < size; ++i) {
    const ph_rank from = next(context, PH_ANY_RANK, PH_REMOTE).peer;
    for (std::size_t at = 0; at < kBytes; ++at)
      if (landing[from * kBytes + at] != byte_of(from, at))
        fail(context, "a put is damaged", PH_ERR_STATE);
  }
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

void outlive(ph_context* context, const ph_bootstrap& bootstrap) {
  notify_all(context);
  require(context, ph_barrier(context), "barrier");
  if (ph_rank_of(context) == 1) require(context, ph_finalize(context), "finalize");
  bootstrap.barrier(bootstrap.user);
  if (ph_rank_of(context) == 1) return;
  const ph_query of_1{1, PH_EITHER, nullptr};
  ph_status status = ph_wait(context, of_1, kLongUs);
  if (status == PH_ERR_DEPARTED) status = ph_notify(context, 1, 5);
  if (status != PH_ERR_DEPARTED) fail(context, "word to a rank that has left", status);
  static_cast<void>(ph_finalize(context));
}

int be_a_rank(const std::string& mode, const ph_bootstrap& bootstrap) {
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "rank %u: create: %s\n", bootstrap.rank, error.text);
    std::_Exit(1);
  }
  if (mode == "work") work(context);
  if (mode == "killed" || mode == "unmet") lose(context, mode == "killed");
  if (mode == "left") outlive(context, bootstrap);
  ph_context_destroy(context);
  return 0;
}

void enter(const std::string& name) {
  const int handle = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0 || ::setns(handle, CLONE_NEWNET) != 0) {
    std::perror(name.c_str());
    std::_Exit(1);
  }
  ::close(handle);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string mode = argv[1];
  const auto ranks_count = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const std::vector<std::string> names(argv + 3, argv + argc);
  const auto statuses = photon::test::fork_ranks(ranks_count, [&](const ph_bootstrap& bootstrap) {
    enter(names[bootstrap.rank % names.size()]);
    return be_a_rank(mode, bootstrap);
  });
  const bool is_killed = mode == "killed" || mode == "unmet";
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    const bool is_victim = is_killed && rank == 1;
    if (statuses[rank] != (is_victim ? SIGKILL : 0)) return 1;
  }
  return 0;
}
