// How many of the connected peers are reached in which way, as the counters tell.
#include "settings.hpp"

namespace photon::test {
namespace {

class Ways : public OverSettings {
 protected:
  struct Counts {
    std::uint64_t in_process, by_memory, by_network;
    bool operator==(const Counts&) const = default;
  };
  static Counts of(ph_context* context) {
    return {counter_of(context, "peers_same_process"), counter_of(context, "peers_shared_memory"),
            counter_of(context, "peers_network")};
  }
  // Ranks are threads of this process, on hosts by turns where the setting says so.
  static Counts expected(ph_rank rank, std::uint32_t size) {
    const std::string name = GetParam().name;
    const bool is_split = name == "mixed" || name == "mixed_small" || name == "ofi_mixed";
    if (is_split) {
      const std::size_t hosts_count = namespaces().empty() ? 2 : namespaces().size();
      std::uint32_t near_count = 0;
      for (ph_rank peer = 0; peer < size; ++peer)
        if (peer != rank && peer % hosts_count == rank % hosts_count) ++near_count;
      return {near_count, 0, size - 1 - near_count};
    }
    const bool is_memory = name.starts_with("shm") || name == "mixed_near";
    return is_memory ? Counts{size - 1, 0, 0} : Counts{0, 0, size - 1};
  }
};

TEST_P(Ways, of_connected_peers_are_counted_and_those_not_met_are_not) {
  ThreadJob job(3, options());
  job.run([](ph_context* context, ph_rank rank) {
    EXPECT_EQ(of(context), (Counts{0, 0, 0})) << "nobody was met";
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (ph_rank peer = 0; peer < 3; ++peer) ASSERT_EQ(ph_notify(context, peer, rank), PH_OK);
    for (int i = 0; i < 3; ++i) take(context, PH_REMOTE);
    // Who has answered may not have been heard yet.
    while (of(context) != expected(rank, 3)) ph_wait(context, kAnyRemote, 500);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}
INSTANTIATE_TEST_SUITE_P(Settings, Ways, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
