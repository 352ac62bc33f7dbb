// A context's life at the interface: create, the latest error, collectives, finalize, destroy.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>
#include <vector>

#include "boot/proof.hpp"
#include "thread_job.hpp"

namespace photon::test {
namespace {

TEST(ContextApi, without_a_launcher_a_process_is_a_job_of_one_rank) {
  ph_context* context = nullptr;
  ph_error error{};
  error.status = PH_ERR_KEY;
  ASSERT_EQ(ph_context_create(nullptr, &context, &error), PH_OK);
  EXPECT_EQ(error.status, PH_OK);
  EXPECT_EQ(ph_rank_of(context), 0u);
  EXPECT_EQ(ph_size_of(context), 1u);
  const std::uint64_t mine = 5;
  std::uint64_t all = 0;
  EXPECT_EQ(ph_allgather(context, &mine, &all, sizeof mine), PH_OK);
  EXPECT_EQ(all, 5u);
  EXPECT_EQ(ph_barrier(context), PH_OK);
  ph_last_error(context, &error);
  EXPECT_EQ(error.status, PH_OK);
  EXPECT_EQ(error.rank, PH_ANY_RANK);
  EXPECT_EQ(ph_finalize(context), PH_OK);
  EXPECT_EQ(ph_finalize(context), PH_ERR_STATE);
  ph_context_destroy(context);
}

TEST(ContextApi, several_contexts_of_one_process_are_ranks_with_errors_of_their_own) {
  ThreadJob job(3);
  job.run([](ph_context* context, ph_rank rank) {
    std::vector<std::uint64_t> all(3);
    const std::uint64_t mine = 100 + rank;
    ASSERT_EQ(ph_allgather(context, &mine, all.data(), 8), PH_OK);
    EXPECT_EQ(all, (std::vector<std::uint64_t>{100, 101, 102}));
    if (rank == 1) {
      EXPECT_EQ(ph_notify(context, 77, 1), PH_ERR_RANK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ph_error error{};
    ph_last_error(context, &error);
    EXPECT_EQ(error.status, rank == 1 ? PH_ERR_RANK : PH_OK);
    EXPECT_EQ(error.rank, rank == 1 ? 77u : PH_ANY_RANK);
  });
}

TEST(ContextApi, an_allgather_takes_up_to_64_KiB_a_rank) {
  ThreadJob job(2);
  job.run([](ph_context* context, ph_rank rank) {
    std::vector<char> mine(64 << 10, static_cast<char>('a' + rank)), all(2 * mine.size());
    ASSERT_EQ(ph_allgather(context, mine.data(), all.data(), mine.size()), PH_OK);
    EXPECT_EQ(std::string(all.begin(), all.end()),
              std::string(mine.size(), 'a') + std::string(mine.size(), 'b'));
    EXPECT_EQ(ph_allgather(context, mine.data(), all.data(), mine.size() + 1), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_allgather(context, mine.data(), all.data(), 0), PH_ERR_ARGUMENT);
  });
}

TEST(ContextApi, a_callback_that_fails_is_an_error_and_no_crash) {
  const auto fails = [](void*, const void*, void*, std::size_t) { return -1; };
  const auto barrier = [](void*) { return -1; };
  const ph_bootstrap bootstrap = {nullptr, 0, 2, fails, barrier};
  const ph_config config = {sizeof config, &bootstrap, nullptr, 0};
  ph_context* context = nullptr;
  ph_error error{};
  EXPECT_EQ(ph_context_create(&config, &context, &error), PH_ERR_BOOTSTRAP);
  EXPECT_EQ(context, nullptr);
  EXPECT_NE(error.text[0], '\0');
}

TEST(ContextApi, the_path_to_a_peer_is_described_in_words) {
  ThreadJob job(2);
  job.run([](ph_context* context, ph_rank rank) {
    ph_path path{};
    path.size = sizeof path;
    ASSERT_EQ(ph_path_to(context, 1 - rank, &path), PH_OK);
    EXPECT_STREQ(path.transport, "shm");
    EXPECT_NE(path.reason[0], '\0');
    EXPECT_EQ(ph_path_to(context, 2, &path), PH_ERR_RANK);
    path.size = 1;
    EXPECT_EQ(ph_path_to(context, 0, &path), PH_ERR_ARGUMENT);
  });
}

TEST(ContextApi, each_peer_of_a_job_on_several_hosts_has_the_path_that_its_host_allows) {
  if (!boot::can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  ThreadJob job(4, {{kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}});
  job.run([](ph_context* context, ph_rank rank) {
    for (ph_rank peer = 0; peer < 4; ++peer) {
      ph_path path{};
      path.size = sizeof path;
      ASSERT_EQ(ph_path_to(context, peer, &path), PH_OK);
      EXPECT_STREQ(path.transport, peer == rank ? "self" : peer % 2 == rank % 2 ? "shm" : "tcp");
    }
  });
}

}  // namespace
}  // namespace photon::test
