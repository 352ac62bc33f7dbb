// Joining and leaving: what a configuration may be, twice, again, and by many threads.
#include <atomic>
#include <climits>

#include "classic_job.hpp"
#include "compat/settings.hpp"

namespace photon::test {
namespace {

void ring(int rank, int size) {
  ASSERT_EQ(photon_put_with_completion((rank + 1) % size, 0, nullptr, nullptr, u64(1),
                                       u64(static_cast<std::uint64_t>(rank)), 0),
            PHOTON_OK);
  const Probed from = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
  EXPECT_EQ(from.id.u64, static_cast<std::uint64_t>((rank + size - 1) % size));
  EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
}

TEST(Session, a_second_init_warns) {
  ClassicJob job(1);
  job.run([&](int rank) {
    photon_config_t config = job.configuration(rank);
    testing::internal::CaptureStderr();
    EXPECT_EQ(photon_init(&config), PHOTON_OK);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("photon_init: called again"), std::string::npos) << said;
  });
}

// Programs print them, and take an option's place in the array for the enum.
TEST(Session, names_of_orders_backends_and_collectives_are_the_originals) {
  const auto expect_names = [](const char* const* names, std::vector<std::string> wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(names[i], wanted[i]);
  };
  expect_names(PHOTON_ORDER_TO_STRING, {"default", "none", "strict", "INVALID_COMP_ORDER"});
  expect_names(PHOTON_BACKEND_TO_STRING, {"default", "verbs", "ugni", "fi", "INVALID_BACKEND"});
  expect_names(PHOTON_COLL_IFACE_TO_STRING,
               {"default", "pwc", "nbc", "INVALID_COLLECTIVE_INTERACE"});
  EXPECT_STREQ(PHOTON_BACKEND_TO_STRING[PHOTON_BACKEND_FI], "fi");
}

TEST(Session, a_second_init_is_ok_and_changes_nothing) {
  ClassicJob job(2);
  job.run([&](int rank) {
    photon_config_t config = job.configuration(rank);
    config.meta_exch = PHOTON_EXCH_TCP;
    EXPECT_EQ(photon_init(&config), PHOTON_OK);
    EXPECT_EQ(config.address, rank) << "who asks again hears who it is";
    EXPECT_EQ(config.nproc, 2);
    ring(rank, 2);
  });
}

// A defect of the original.
TEST(Session, works_again_after_finalize) {
  ClassicJob job(3);
  job.run_bare([&](int rank) {
    for (int round = 0; round < 5; ++round) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      Registered memory(64);
      ring(rank, 3);
      job.meet();
      ASSERT_EQ(photon_unregister_buffer(memory.data(), 64), PHOTON_OK);
      ASSERT_EQ(photon_finalize(), PHOTON_OK);
      EXPECT_EQ(photon_initialized(), 0);
      EXPECT_EQ(photon_finalize(), PHOTON_ERROR_NOINIT);
    }
  });
}

TEST(Session, a_call_that_comes_too_late_says_that_there_is_none) {
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    // What a thread has in hand that was held up between finding the session and calling it.
    classic::Session* late = classic::current();
    ASSERT_EQ(photon_finalize(), PHOTON_OK);
    EXPECT_EQ(classic::status_of(ph_notify(late->context(), 0, 1)), PHOTON_ERROR_NOINIT);
    EXPECT_EQ(probe().status, PHOTON_ERROR_NOINIT);
  });
}

// A defect of the original: it asserted.
TEST(Session, odd_capacities_are_rounded_or_ignored) {
  struct Odd {
    int max_cid_size, small_pwc_size, ledger_entries, pwc_buf_size;
    int coll;
  };
  const Odd all[] = {{0, 0, 0, 0, 0},       {-1, -1, -1, -1, -1},
                     {9, 100, 63, 9000, 0}, {100000, 100000, 100000, 1 << 20, 99},
                     {1, 1, 1, 1, 1},       {1024, 1024, 8193, 7, 2}};
  for (const Odd& odd : all) {
    ClassicJob job(2, Ground::shm, [&](photon_config_t& config) {
      config.cap.max_cid_size = odd.max_cid_size;
      config.cap.small_pwc_size = odd.small_pwc_size;
      config.cap.ledger_entries = odd.ledger_entries;
      config.cap.pwc_buf_size = odd.pwc_buf_size;
      config.coll = static_cast<photon_cfg_coll_iface_t>(odd.coll);
    });
    job.run([](int rank) { ring(rank, 2); });
  }
}

TEST(Session, max_rd_says_how_many_operations_may_be_under_way_unless_the_user_does) {
  struct Case {
    int max_rd;
    std::uint64_t requests;
  };
  constexpr std::uint64_t kDefault = 1u << 20;
  const Case all[] = {{0, kDefault}, {-1, kDefault}, {INT_MIN, kDefault}, {INT_MAX, kDefault},
                      {1, 16},       {1000, 1024},   {4096, 4096},        {0x5b5b5b5b, kDefault}};
  const auto expect = [](const Case& one) {
    ClassicJob job(2, Ground::shm,
                   [&](photon_config_t& config) { config.cap.max_rd = one.max_rd; });
    job.run([&](int rank) {
      EXPECT_EQ(classic::number_in_force(classic::current()->context(), "requests"), one.requests);
      ring(rank, 2);
    });
  };
  for (const Case& one : all) expect(one);
  const Variable his("PHOTON_REQUESTS", "64");
  for (const Case& one : all) expect({one.max_rd, 64});
}

TEST(Session, capacities_that_are_not_read_may_be_anything) {
  for (const int odd : {INT_MIN, -1, 0, 1, 7, 12345, INT_MAX}) {
    ClassicJob job(2, Ground::shm, [&](photon_config_t& config) {
      config.cap.small_msg_size = config.cap.eager_buf_size = odd;
      config.cap.default_rd = config.cap.num_cq = config.cap.use_rcq = odd;
    });
    job.run([](int rank) { ring(rank, 2); });
  }
}

TEST(Session, garbage_in_undocumented_fields_is_not_looked_at) {
  ClassicJob job(2, Ground::shm, [](photon_config_t& config) {
    std::memset(&config.ibv, 0x5b, sizeof config.ibv);
    std::memset(&config.ugni, 0x5b, sizeof config.ugni);
    std::memset(&config.fi, 0x5b, sizeof config.fi);
    std::memset(&config.forwarder, 0x5b, sizeof config.forwarder);
    std::memset(&config.comm, 0x5b, sizeof config.comm);
  });
  job.run([](int rank) { ring(rank, 2); });
}

TEST(Session, every_backend_but_ugni_is_accepted) {
  for (int backend = PHOTON_BACKEND_DEFAULT; backend <= PHOTON_BACKEND_MAX; ++backend) {
    ClassicJob job(1);
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      config.backend = static_cast<photon_cfg_backend_t>(backend);
      const int wanted = backend == PHOTON_BACKEND_UGNI ? PHOTON_ERROR : PHOTON_OK;
      testing::internal::CaptureStderr();
      EXPECT_EQ(photon_init(&config), wanted) << backend;
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_EQ(said.find("ugni") == std::string::npos, wanted == PHOTON_OK) << said;
      EXPECT_EQ(photon_initialized(), wanted == PHOTON_OK ? 1 : 0);
      EXPECT_EQ(photon_finalize(), wanted == PHOTON_OK ? PHOTON_OK : PHOTON_ERROR_NOINIT);
    });
  }
}

TEST(Session, external_exchange_needs_both_callbacks_and_a_rank_of_the_job) {
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    for (int i = 0; i < 5; ++i) {
      photon_config_t config = job.configuration(rank);
      if (i == 0) config.exch.allgather = nullptr;
      if (i == 1) config.exch.barrier = nullptr;
      if (i == 2) config.address = 1;
      if (i == 3) config.nproc = 0;
      if (i == 4) config.address = -1;
      EXPECT_EQ(photon_init(&config), PHOTON_ERROR) << i;
    }
  });
}

TEST(Session, an_exchange_that_fails_is_an_error_and_init_may_be_tried_again) {
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    const auto good = config.exch.allgather;
    config.exch.allgather = [](void*, void*, void*, int) { return 1; };
    EXPECT_EQ(photon_init(&config), PHOTON_ERROR);
    config.exch.allgather = good;
    EXPECT_EQ(photon_init(&config), PHOTON_OK);
    EXPECT_EQ(photon_finalize(), PHOTON_OK);
  });
}

// It has to be there, and one that would fail does no harm.
TEST(Session, the_barrier_of_an_external_exchange_is_not_called) {
  static std::atomic<int> calls;
  calls = 0;
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    config.exch.barrier = [](void*) { return ++calls; };
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    ring(rank, 1);
    EXPECT_EQ(photon_finalize(), PHOTON_OK);
  });
  EXPECT_EQ(calls, 0);
}

TEST(Session, mpi_exchange_without_an_mpi_is_an_error) {
  ClassicJob job(1);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    config.meta_exch = PHOTON_EXCH_MPI;
    EXPECT_EQ(photon_init(&config), PHOTON_ERROR);
  });
}

TEST(Session, retired_calls_are_errors) {
  int flag = 7;
  uint64_t request = 7;
  photon_addr address{};
  char name[64] = {};
  EXPECT_EQ(photon_probe(&address, &flag, nullptr), PHOTON_ERROR);
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(photon_send(&address, nullptr, 0, 0, &request), PHOTON_ERROR);
  EXPECT_EQ(photon_recv(request, nullptr, 0, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_register_addr(&address, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_unregister_addr(&address, 0), PHOTON_ERROR);
  EXPECT_EQ(photon_get_dev_addr(0, &address), PHOTON_ERROR);
  testing::internal::CaptureStderr();
  EXPECT_EQ(photon_get_dev_name(name), PHOTON_ERROR);
  EXPECT_EQ(photon_get_dev_name(name), PHOTON_ERROR);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("retired"), said.rfind("retired")) << said;
}

// Every call, with arguments that would do something.
TEST(BeforeInit, every_call_says_so_and_touches_nothing) {
  unsigned char memory[64] = {};
  photon_buffer_t buffer = bare(memory, 64);
  photonBuffer buffers[] = {&buffer};
  void* pieces[] = {memory};
  uint64_t sizes[] = {64};
  const photon_buffer_priv_t* keys = &buffer.priv;
  int flag = 7, proc = 7;
  photon_rid rid = 7;
  photon_coll_comm comm = nullptr;
  photon_status_t status{};
  const int said[] = {
      photon_cancel(1, 0),
      photon_finalize(),
      photon_register_buffer(memory, 64),
      photon_unregister_buffer(memory, 64),
      photon_get_buffer_private(memory, 64, &keys),
      photon_get_buffer_remote(1, &buffer),
      photon_post_recv_buffer_rdma(0, memory, 64, 1, &rid),
      photon_post_send_buffer_rdma(0, memory, 64, 1, &rid),
      photon_post_send_request_rdma(0, 64, 1, &rid),
      photon_wait_recv_buffer_rdma(0, 64, 1, &rid),
      photon_wait_send_buffer_rdma(0, 64, 1, &rid),
      photon_wait_send_request_rdma(1),
      photon_post_os_put(1, 0, memory, 64, 1, 0),
      photon_post_os_get(1, 0, memory, 64, 1, 0),
      photon_send_FIN(1, 0, 0),
      photon_post_os_put_direct(0, memory, 64, &buffer, 0, &rid),
      photon_post_os_get_direct(0, memory, 64, &buffer, 0, &rid),
      photon_post_os_putv_direct(0, pieces, sizes, buffers, 1, 0, &rid),
      photon_post_os_getv_direct(0, pieces, sizes, buffers, 1, 0, &rid),
      photon_put_with_completion(0, 64, &buffer, &buffer, u64(1), u64(2), 0),
      photon_get_with_completion(0, 64, &buffer, &buffer, u64(1), u64(2), 0),
      photon_probe_completion(-1, &flag, nullptr, nullptr, nullptr, nullptr, PHOTON_PROBE_ANY),
      photon_collective_comm_create(nullptr, 1, 1, &comm),
      photon_collective_init_new_comm(nullptr, 1, 1, PHOTON_COLL_BARRIER, u64(1), &rid, 0),
      photon_collective_init(PHOTON_COLL_BARRIER, u64(1), &rid, 0),
      photon_collective_join(1, memory, memory, 1, PHOTON_INT8, nullptr),
      photon_atomic(0, &buffer, &buffer, PHOTON_INT64, PHOTON_ATOMIC_SUM, 1, 2, 0),
      photon_test(1, &flag, nullptr, &status),
      photon_wait(1),
      photon_wait_any(&proc, &rid),
      photon_wait_any_ledger(&proc, &rid),
      photon_probe_ledger(0, &flag, PHOTON_SEND_LEDGER, &status),
  };
  for (const int one : said) EXPECT_EQ(one, PHOTON_ERROR_NOINIT) << &one - said;
  EXPECT_EQ(keys, nullptr);
}

}  // namespace
}  // namespace photon::test
