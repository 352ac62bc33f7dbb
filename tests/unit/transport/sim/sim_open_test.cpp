#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "memory_boot.hpp"
#include "transport/sim/sim_transport.hpp"

namespace photon::transport::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Opened = base::Result<std::unique_ptr<Transport>>;

// A boot whose introduction arrives changed, as that of a rank elsewhere would.
class ElsewhereBoot final : public boot::Boot {
 public:
  explicit ElsewhereBoot(std::unique_ptr<boot::Boot> real) : real_(std::move(real)) {}
  boot::Rank rank() const override { return real_->rank(); }
  std::uint32_t size() const override { return real_->size(); }
  const boot::Secret& secret() const override { return real_->secret(); }
  std::uint32_t local_size() const override { return real_->local_size(); }
  base::Result<bool> send(boot::Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override {
    return real_->send(to, bytes, fds);
  }
  base::Result<std::optional<boot::Message>> receive() override { return real_->receive(); }
  bool idle() const override { return real_->idle(); }
  int poll_fd() const override { return real_->poll_fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const boot::Serve& serve) override {
    std::vector<std::byte> changed(mine.begin(), mine.end());
    changed[0] ^= std::byte{1};  // the process number stands first
    return real_->allgather(changed, all, serve);
  }
  base::Result<> barrier(const boot::Serve& serve) override { return real_->barrier(serve); }

 private:
  std::unique_ptr<boot::Boot> real_;
};

using Body = std::function<void(Rank, std::unique_ptr<boot::Boot>)>;

void on_threads(std::uint32_t ranks_count, const Body& body) {
  test::MemoryJob job(ranks_count);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks_count; ++rank)
    threads.emplace_back([&, rank] { body(rank, job.boot(rank)); });
  for (std::thread& thread : threads) thread.join();
}

base::Config small() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8192;
  config.max_regions = 16;
  return config;
}

TEST(SimOpenTest, ranks_of_one_process_find_their_network) {
  on_threads(4, [](Rank, std::unique_ptr<boot::Boot> boot) {
    const Opened transport = open_sim(small(), *boot);
    ASSERT_TRUE(transport) << transport.error().what;
    EXPECT_STREQ((*transport)->name(), "sim");
  });
}

TEST(SimOpenTest, all_ranks_refuse_a_rank_of_another_process) {
  on_threads(3, [](Rank rank, std::unique_ptr<boot::Boot> boot) {
    if (rank == 1) boot = std::make_unique<ElsewhereBoot>(std::move(boot));
    const Opened transport = open_sim(small(), *boot);
    ASSERT_FALSE(transport);
    EXPECT_EQ(transport.error().status, PH_ERR_CONFIG);
    EXPECT_THAT(transport.error().what,
                AllOf(HasSubstr("ranks of one process only"), HasSubstr("ranks 0 and 1")));
  });
}

TEST(SimOpenTest, a_setting_that_differs_is_named_with_both_values_on_all_ranks) {
  on_threads(3, [](Rank rank, std::unique_ptr<boot::Boot> boot) {
    base::Config config = small();
    if (rank == 2) config.ring_lines = 128;
    const Opened transport = open_sim(config, *boot);
    ASSERT_FALSE(transport);
    EXPECT_EQ(transport.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_THAT(transport.error().what,
                AllOf(HasSubstr("ring_lines"), HasSubstr("64"), HasSubstr("128")));
  });
}

TEST(SimOpenTest, a_rank_that_cannot_open_does_not_leave_the_others_waiting) {
  test::MemoryJob job(2);
  std::thread other([&] {
    const auto boot = job.boot(1);
    job.meeting().break_up();
  });
  const auto boot = job.boot(0);
  const Opened transport = open_sim(small(), *boot);
  other.join();
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().status, PH_ERR_BOOTSTRAP);
}

}  // namespace
}  // namespace photon::transport::sim
