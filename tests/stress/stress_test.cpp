// Everything at once, at random: sizes from 0 to 8 MiB, ids of every length, three threads a rank,
// each byte and each id's place verified. PHOTON_STRESS_SECONDS (default 5) is shared by all tests
// of this file; PHOTON_STRESS_SEED repeats a run.
#include <cstdlib>
#include <iostream>
#include <random>

#include "rank.hpp"
#include "support/real_fabric.hpp"
#include "support/thread_job.hpp"

namespace photon::test {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Case {
  const char* name;
  std::uint32_t ranks_count;
  Options options;
  std::uint32_t max_id_bytes = 8;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// Records carry what is below 4 KiB, as between processes that do not map each other's memory.
const Options kStaged = {{"mapped_min", "4096"}};
const Options kSmall = {{"ledger_slots", "2"},
                        {"ring_lines", "64"},
                        {"bulk_bytes", "8192"},
                        {"bulk_chunk", "1024"},
                        {"requests", "64"}};

Options with(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"shm_2", 2, {{"transport", "shm"}}},
      {"shm_3_long_ids", 3, {{"transport", "shm"}}, 1024},
      {"shm_5_no_cma", 5, {{"transport", "shm"}, {"shm_cma", "off"}, {"mapped_min", "4096"}}, 100},
      {"shm_8", 8, {{"transport", "shm"}}},
      {"shm_3_small", 3, with(kSmall, with(kStaged, {{"transport", "shm"}})), 1024},
      {"shm_2_scarce", 2, with(kSmall, {{"transport", "shm"}})},
      {"mixed_5", 5, {{kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}}, 100},
      {"ofi_4", 4, {{"transport", "ofi"}, {"ofi_provider", kRxm}}, 64},
      {"ofi_mixed_5", 5, {{kHostsOption, "2"}, {"network", "ofi"}, {"ofi_provider", kRxm}}, 64},
      {"sim_2", 2, {{"transport", "sim"}}, 64},
      {"sim_3_small", 3, with(kSmall, {{"transport", "sim"}}), 1024},
      {"sim_5", 5, {{"transport", "sim"}}},
  };
  return all;
}

class Stress : public testing::TestWithParam<Case> {};

TEST_P(Stress, random_traffic_arrives_whole_in_order_and_once) {
  const Case& one = GetParam();
  const bool is_ofi = std::string(one.name).starts_with("ofi");
  if (is_ofi && no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  const std::uint64_t seed = number_of("PHOTON_STRESS_SEED", std::random_device{}());
  const std::uint64_t seconds = number_of("PHOTON_STRESS_SECONDS", 5);
  std::cout << "PHOTON_STRESS_SEED=" << seed << std::endl;
  stress::Plan plan;
  plan.seed = seed;
  plan.max_id_bytes = one.max_id_bytes;
  plan.duration = std::chrono::milliseconds(seconds * 1000 / cases().size());
  const auto options = with(one.options, {{"max_cid_size", std::to_string(one.max_id_bytes)}});
  ThreadJob job(one.ranks_count, options, plan.duration + std::chrono::seconds(180));
  std::atomic<std::uint64_t> messages = 0, echoes = 0;
  job.run([&](ph_context* context, ph_rank) {
    stress::Rank rank(context, plan);
    EXPECT_EQ(rank.run(), "") << "repeat with PHOTON_STRESS_SEED=" << seed;
    messages += rank.messages_count();
    echoes += rank.echoes_count();
    job.meet(context);  // the memory outlives everybody's last operation
  });
  std::cout << messages << " messages and " << echoes << " echoes verified" << std::endl;
  EXPECT_GT(messages, 0u);
}

INSTANTIATE_TEST_SUITE_P(Jobs, Stress, testing::ValuesIn(cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace photon::test
