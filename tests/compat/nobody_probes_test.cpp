// Puts to a rank that never probes for them: the sender gets all of its local ids, and the end is
// not kept waiting.
#include <algorithm>
#include <future>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class NobodyProbes : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, NobodyProbes, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

constexpr std::uint64_t kMost = 300;
constexpr std::uint64_t kPutBytes = 64;
constexpr int kLedger = 8;

struct Sent {
  std::uint64_t posted = 0;
  std::uint64_t told = 0;  // their local ids came
  int finalized = PHOTON_ERROR;
};

// Puts of a pattern each, one after the other, each when the local id of the last one has come.
Sent put_serially(photon_buffer_t target) {
  Sent sent;
  std::vector<unsigned char> source(kPutBytes);
  while (sent.posted < kMost && sent.posted == sent.told) {
    const std::uint64_t i = sent.posted++;
    fill(source.data(), kPutBytes, i);
    photon_buffer_t from = bare(source.data(), kPutBytes);
    photon_buffer_t to = part(target, i * kPutBytes, kPutBytes);
    EXPECT_EQ(photon_put_with_completion(1, kPutBytes, &from, &to, u64(i), u64(i), 0), PHOTON_OK);
    Probed found;
    while (found.flag != 1) found = probe(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ);
    if (found.id.u64 == i) ++sent.told;
  }
  return sent;
}

// Rank 1 makes no call before rank 0 has finalized.
TEST_P(NobodyProbes, what_was_told_has_arrived_and_finalize_ends_in_its_time) {
  const Variable limit("PHOTON_FINALIZE_TIMEOUT_MS", "300");
  ClassicJob job(2, GetParam(),
                 [](photon_config_t& config) { config.cap.ledger_entries = kLedger; });
  std::promise<Sent> done;
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    std::vector<unsigned char> memory(kMost * kPutBytes);
    ASSERT_EQ(photon_register_buffer(memory.data(), memory.size()), PHOTON_OK);
    const photon_buffer_priv_t* keys = nullptr;
    ASSERT_EQ(photon_get_buffer_private(memory.data(), memory.size(), &keys), PHOTON_OK);
    const photon_buffer_t mine = {reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(),
                                  *keys};
    const auto all = job.exchange(mine);
    if (rank == 0) {
      Sent sent = put_serially(all[1]);
      sent.finalized = photon_finalize();
      return done.set_value(sent);
    }
    const Sent sent = done.get_future().get();
    EXPECT_EQ(sent.told, kMost) << "a local id waits for nobody's probes";
    const std::uint64_t arrived = sent.finalized == PHOTON_OK ? sent.posted : sent.told;
    std::uint64_t right = 0;
    while (right < arrived &&
           first_wrong(&memory[right * kPutBytes], kPutBytes, right) == kPutBytes)
      ++right;
    EXPECT_EQ(right, arrived) << "of " << sent.posted << ", finalize " << sent.finalized;
    // Over a network ids beyond the ledger wait at their sender, whose finalize says so.
    const bool is_seen = GetParam() == Ground::shm && !is_on_hosts(GetParam());
    const bool is_all = is_seen || sent.finalized == PHOTON_OK;
    const std::uint64_t ids = is_all ? arrived : std::min<std::uint64_t>(arrived, kLedger);
    for (std::uint64_t i = 0; i < ids; ++i)
      ASSERT_EQ(probe(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER).id.u64, i) << "of " << arrived;
    EXPECT_EQ(photon_finalize(), PHOTON_OK);
  });
}

}  // namespace
}  // namespace photon::test
