// A rank that polls rarely runs the handlers of all its peers, and not those of the first ring
// alone.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmTurns : public OverSettings {};

constexpr std::uint64_t kMet = 600;  // until then both peers have been looked for
constexpr std::uint64_t kServed = 400;

// What two peers ask of rank 0, one thing at a time each, and how often it was done.
struct Asking {
  std::array<std::atomic<std::uint64_t>, 3> asked{}, served{};
  std::atomic<bool> is_over = false;

  void serve(ph_rank peer) { served[peer].fetch_add(1); }
  bool all_wait() const { return asked[1] > served[1] && asked[2] > served[2]; }
  std::uint64_t total() const { return served[1] + served[2]; }
};

// Rank 0 looks only when both peers have asked; `look` serves what it finds.
void expect_turns(Asking& asking, const std::function<void()>& look) {
  std::array<std::uint64_t, 3> before{};
  for (std::uint64_t total = 0; total < kMet + kServed; total = asking.total()) {
    if (total <= kMet) before = {0, asking.served[1], asking.served[2]};
    while (!asking.all_wait()) std::this_thread::yield();
    look();
  }
  asking.is_over = true;
  for (const ph_rank peer : {1u, 2u})
    EXPECT_GE(asking.served[peer] - before[peer], kServed / 4) << "of rank " << peer;
  while (asking.served[1] < asking.asked[1] || asking.served[2] < asking.asked[2]) look();
}

// Asks again whenever it has been served. False: it could not.
void ask_for_ever(Asking& asking, ph_context* context, ph_rank rank,
                  const std::function<ph_status()>& ask) {
  while (!asking.is_over) {
    ASSERT_EQ(ask(), PH_OK);
    const std::uint64_t asked = asking.asked[rank].fetch_add(1) + 1;
    while (asking.served[rank] < asked && !asking.is_over) {
      ph_completion none{};
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, kAnyLocal, &none, 1, &count), PH_OK);
      std::this_thread::yield();
    }
  }
}

ph_status poll(ph_context* context) {
  const ph_status status = ph_am_poll(context, 0);
  return status == PH_AGAIN ? PH_OK : status;
}
ph_status probe(ph_context* context) {
  ph_completion none{};
  std::size_t count = 0;
  return ph_probe(context, kAnyLocal, &none, 1, &count);
}

// Messages that wait for no reply run beside the engine, those that do through it.
void expect_handlers_in_turns(const Options& options, std::uint32_t flags,
                              ph_status (*look)(ph_context*)) {
  ThreadJob job(3, options);
  Asking asking;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      asking.serve(message.source);
      return PH_OK;
    });
    handler.enroll(context, 1);
    job.meet(context);
    if (rank == 0) {
      expect_turns(asking, [&] { ASSERT_EQ(look(context), PH_OK); });
    } else {
      const std::byte word{};
      ph_am_args args = am_args(1, {&word, 1});
      args.flags |= flags;
      ask_for_ever(asking, context, rank, [&] {
        return send_surely(context, [&] { return ph_am_send(context, 0, &args); });
      });
    }
    job.meet(context);
  });
}

TEST_P(AmTurns, of_messages_by_polls) { expect_handlers_in_turns(options(), 0, poll); }
TEST_P(AmTurns, of_messages_by_probes) { expect_handlers_in_turns(options(), 0, probe); }
TEST_P(AmTurns, of_requests_by_polls) { expect_handlers_in_turns(options(), PH_AM_REPLY, poll); }
TEST_P(AmTurns, of_requests_by_probes) { expect_handlers_in_turns(options(), PH_AM_REPLY, probe); }

// A new peer, and all that comes through a connection, is looked for every so many turns (am.h), so
// that only rings in shared memory can be compared.
std::vector<Setting> of_shared_memory() {
  std::vector<Setting> settings;
  for (const Setting& setting : all_settings())
    if (std::string(setting.name).starts_with("shm")) settings.push_back(setting);
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Settings, AmTurns, testing::ValuesIn(of_shared_memory()), setting_name);

}  // namespace
}  // namespace photon::test
