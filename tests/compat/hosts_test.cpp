// Ranks on several hosts: who is reached by which way, seen from both ends and by what was moved.
#include "classic_job.hpp"
#include "real_fabric.hpp"

namespace photon::test {
namespace {

struct Network {
  const char* name;
  photon_cfg_backend_t backend;
  const char* transport;
};
class ClassicHosts : public testing::TestWithParam<Network> {};
INSTANTIATE_TEST_SUITE_P(backends, ClassicHosts,
                         testing::Values(Network{"default", PHOTON_BACKEND_DEFAULT, "tcp"},
                                         Network{"verbs", PHOTON_BACKEND_VERBS, "ofi"},
                                         Network{"fi", PHOTON_BACKEND_FI, "ofi"}),
                         [](const auto& one) { return std::string(one.param.name); });

// More ranks than hosts, so that some have company.
TEST_P(ClassicHosts, shared_memory_and_the_network_are_used_side_by_side) {
  if (namespaces().empty()) GTEST_SKIP() << "no hosts here: tests/hosts/across makes some";
  const std::string network = GetParam().transport;
  if (network == "ofi" && no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  const auto ranks_count = static_cast<int>(namespaces().size()) + 2;
  constexpr std::size_t kBytes = 20'000;
  ClassicJob job(ranks_count, Ground::shm,
                 [](photon_config_t& config) { config.backend = GetParam().backend; });
  job.run([&](int rank) {
    Registered memory(static_cast<std::size_t>(ranks_count) * kBytes);
    const auto all = job.exchange(memory.buffer());
    std::vector<unsigned char> source(kBytes);
    fill(source.data(), kBytes, static_cast<std::uint64_t>(rank));
    for (int peer = 0; peer < ranks_count; ++peer) {
      photon_buffer_t from = bare(source.data(), kBytes);
      photon_buffer_t to = part(all[static_cast<std::size_t>(peer)],
                                static_cast<std::size_t>(rank) * kBytes, kBytes);
      ASSERT_EQ(photon_put_with_completion(peer, kBytes, &from, &to, u64(7),
                                           u64(static_cast<std::uint64_t>(rank)), 0),
                PHOTON_OK);
    }
    for (int i = 0; i < ranks_count; ++i) {
      const Probed one = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
      const auto from = static_cast<std::size_t>(one.id.u64);
      ASSERT_LT(from, static_cast<std::size_t>(ranks_count));
      EXPECT_EQ(first_wrong(memory.data() + from * kBytes, kBytes, from), kBytes);
    }
    for (int i = 0; i < ranks_count; ++i) take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ);
    int near = 0, far = 0;
    for (int peer = 0; peer < ranks_count; ++peer) {
      ph_path path{};
      path.size = sizeof path;
      ASSERT_EQ(ph_path_to(classic::current()->context(), static_cast<ph_rank>(peer), &path),
                PH_OK);
      EXPECT_STREQ(path.state, "connected") << path.reason;
      near += peer != rank && std::string(path.transport) == "shm" ? 1 : 0;
      far += path.transport == network ? 1 : 0;
    }
    const auto hosts_count = static_cast<int>(namespaces().size());
    const int company = (ranks_count - 1 - rank % hosts_count) / hosts_count;
    EXPECT_EQ(near, company);
    EXPECT_EQ(far, ranks_count - 1 - company);
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
