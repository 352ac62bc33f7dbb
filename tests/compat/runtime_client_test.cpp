// A task runtime as a client of the classic API.
#include "clients.hpp"

namespace photon::test {
namespace {

using RuntimeClient = Clients;
INSTANTIATE_TEST_SUITE_P(grounds, RuntimeClient, all_clients(), client_name);

// A task runtime: an exchange of its own, a configuration of which only the fields it knows are
// set, sources without keys, retries, a thread for local and one for remote ids, and no finalize.
// (tests/process/programs/classic_runtime.cpp is one whose ranks are processes.)
constexpr std::uint64_t kTasks = 100;  // to each other rank
constexpr std::size_t kTaskBytes = 1000;

std::size_t task_offset(int from, std::uint64_t task) {
  return (static_cast<std::size_t>(from) * kTasks + task) * kTaskBytes;
}
std::uint64_t task_seed(int from, std::uint64_t task) {
  return static_cast<std::uint64_t>(from) << 32 | task;
}

void take_tasks(const std::vector<unsigned char>& landing, std::uint64_t count, int ranks) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(ranks), 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
    ASSERT_EQ(found.status, PHOTON_OK);
    ASSERT_EQ(found.id.u64, next[static_cast<std::size_t>(found.source)]++);
    ASSERT_EQ(first_wrong(landing.data() + task_offset(found.source, found.id.u64), kTaskBytes,
                          task_seed(found.source, found.id.u64)),
              kTaskBytes);
  }
}

void send_tasks(const std::vector<photon_buffer_t>& places, int rank,
                std::atomic<std::uint64_t>& refusals) {
  std::vector<unsigned char> source(kTaskBytes);  // up to small_pwc_size: ours again on return
  photon_buffer_t from = bare(source.data(), kTaskBytes);
  for (std::uint64_t task = 0; task < kTasks; ++task) {
    for (int to = 0; to < static_cast<int>(places.size()); ++to) {
      if (to == rank) continue;
      fill(source.data(), kTaskBytes, task_seed(rank, task));
      photon_buffer_t place =
          part(places[static_cast<std::size_t>(to)], task_offset(rank, task), kTaskBytes);
      ASSERT_EQ(put_until_taken(to, &from, &place, {u64(task), u64(task)}, &refusals), PHOTON_OK);
    }
  }
}

// Few requests, and nobody probes for local ids before there was none left.
TEST_P(RuntimeClient, never_finalizes) {
  setenv("PHOTON_REQUESTS", "32", 1);
  ClassicJob job(ranks(), ground(),
                 [](photon_config_t& config) { config.cap.small_pwc_size = 1024; });
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    const std::uint64_t count = kTasks * static_cast<std::uint64_t>(ranks() - 1);
    std::vector<unsigned char> landing(task_offset(ranks(), 0));
    ASSERT_EQ(photon_register_buffer(landing.data(), landing.size()), PHOTON_OK);
    const photon_buffer_priv_t* keys = nullptr;
    ASSERT_EQ(photon_get_buffer_private(landing.data(), landing.size(), &keys), PHOTON_OK);
    const photon_buffer_t mine = {reinterpret_cast<std::uintptr_t>(landing.data()), landing.size(),
                                  *keys};
    const auto places = job.exchange(mine);
    std::atomic<std::uint64_t> refusals{0};
    std::thread evq = ClassicJob::in_same_rank([count, &refusals] {
      while (refusals == 0) std::this_thread::yield();
      for (std::uint64_t i = 0; i < count; ++i)
        ASSERT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).status, PHOTON_OK);
    });
    std::thread ledger =
        ClassicJob::in_same_rank([&landing, count] { take_tasks(landing, count, ranks()); });
    send_tasks(places, rank, refusals);
    evq.join();
    ledger.join();
    job.meet();
    classic::current_process->settle();  // as an exit does
    classic::current_process->leave();
  });
  unsetenv("PHOTON_REQUESTS");
}

}  // namespace
}  // namespace photon::test
