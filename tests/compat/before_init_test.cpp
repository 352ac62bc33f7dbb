// Every call before photon_init(): it says so, and touches nothing.
#include <gtest/gtest.h>
#include <photon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "compat/process_session.hpp"

namespace photon::test {
namespace {

TEST(BeforeInit, photon_initialized_says_no) { EXPECT_EQ(photon_initialized(), 0); }

TEST(BeforeInit, the_time_of_day_is_told) {
  double before = 0, after = 0;
  ASSERT_EQ(photon_gettime_(&before), PHOTON_OK);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  ASSERT_EQ(photon_gettime_(&after), PHOTON_OK);
  EXPECT_NEAR(before, now, 10);
  EXPECT_NEAR(after, now, 10);
  EXPECT_EQ(photon_gettime_(nullptr), PHOTON_ERROR);
}

TEST(BeforeInit, finalize_says_that_there_was_no_init) {
  EXPECT_EQ(photon_finalize(), PHOTON_ERROR_NOINIT);
}

TEST(BeforeInit, puts_gets_and_probes_say_so) {
  photon_buffer_t from{}, to{};
  photon_cid id{};
  EXPECT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, id, id, 0), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_put_with_completion(0, 8, &from, &to, id, id, PHOTON_REQ_PWC_NO_LCE),
            PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_get_with_completion(0, 8, &from, &to, id, id, 0), PHOTON_ERROR_NOINIT);
  int flag = 7, remaining = 7, source = 7;
  EXPECT_EQ(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, &remaining, &id, &source, nullptr,
                                    PHOTON_PROBE_ANY),
            PHOTON_ERROR_NOINIT);
  photon_rid rid = 7;
  char byte = 1;
  EXPECT_EQ(photon_post_os_put_direct(0, &byte, 1, &to, 0, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_os_get_direct(0, &byte, 1, &to, 0, &rid), PHOTON_ERROR_NOINIT);
  void* bytes[] = {&byte};
  std::uint64_t sizes[] = {1};
  photonBuffer targets[] = {&to};
  EXPECT_EQ(photon_post_os_putv_direct(0, bytes, sizes, targets, 1, 0, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_os_getv_direct(0, bytes, sizes, targets, 1, 0, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_atomic(0, &from, &to, PHOTON_INT64, PHOTON_ATOMIC_SUM, 1, 2, 0),
            PHOTON_ERROR_NOINIT);
  EXPECT_EQ(byte, 1);
}

TEST(BeforeInit, registrations_and_requests_say_so) {
  char bytes[64] = {};
  const photon_buffer_priv_t* keys = nullptr;
  EXPECT_EQ(photon_register_buffer(bytes, sizeof bytes), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_unregister_buffer(bytes, sizeof bytes), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_get_buffer_private(bytes, sizeof bytes, &keys), PHOTON_ERROR_NOINIT);
  photon_buffer_t found{};
  EXPECT_EQ(photon_get_buffer_remote(1, &found), PHOTON_ERROR_NOINIT);
  int flag = 7, kind = 7;
  photon_status_t status{};
  photon_rid rid = 7;
  EXPECT_EQ(photon_test(1, &flag, &kind, &status), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait(1), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait_any(&kind, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait_any_ledger(&kind, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_cancel(1, 0), PHOTON_ERROR_NOINIT);
}

TEST(BeforeInit, rendezvous_says_so) {
  char bytes[64] = {};
  photon_rid rid = 7;
  int flag = 7;
  photon_status_t status{};
  EXPECT_EQ(photon_post_recv_buffer_rdma(0, bytes, 64, 1, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_send_buffer_rdma(0, bytes, 64, 1, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_send_request_rdma(0, 64, 1, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait_recv_buffer_rdma(0, 64, 1, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait_send_buffer_rdma(0, 64, 1, &rid), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_wait_send_request_rdma(1), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_os_put(1, 0, bytes, 64, 1, 0), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_post_os_get(1, 0, bytes, 64, 1, 0), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_send_FIN(1, 0, 0), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_probe_ledger(0, &flag, PHOTON_RECV_LEDGER, &status), PHOTON_ERROR_NOINIT);
}

TEST(BeforeInit, collectives_say_so) {
  photon_rid rid = 7;
  photon_coll_comm comm = nullptr;
  int active[] = {0};
  EXPECT_EQ(photon_collective_init(PHOTON_COLL_BARRIER, {}, &rid, 0), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_collective_init_new_comm(active, 1, 1, PHOTON_COLL_BARRIER, {}, &rid, 0),
            PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_collective_comm_create(active, 1, 1, &comm), PHOTON_ERROR_NOINIT);
  EXPECT_EQ(photon_collective_join(1, nullptr, nullptr, 0, PHOTON_INT8, nullptr),
            PHOTON_ERROR_NOINIT);
}

// As in a process that has called nothing yet.
class EmptySession : public testing::Test {
 protected:
  template <class Call>
  static std::string words_of(Call call) {
    classic::ProcessSession process;
    classic::bind(&process);
    testing::internal::CaptureStderr();
    call();
    classic::bind(nullptr);
    return testing::internal::GetCapturedStderr();
  }
  static std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(EmptySession, is_named_by_the_first_call_that_needs_a_session_whichever_it_is) {
  const std::pair<const char*, void (*)()> calls[] = {
      {"photon_put_with_completion",
       [] { photon_put_with_completion(0, 0, nullptr, nullptr, {}, {}, 0); }},
      {"photon_get_with_completion",
       [] { photon_get_with_completion(0, 0, nullptr, nullptr, {}, {}, 0); }},
      {"photon_probe_completion",
       [] { photon_probe_completion(0, nullptr, nullptr, nullptr, nullptr, nullptr, 1); }},
      {"photon_register_buffer", [] { photon_register_buffer(nullptr, 0); }},
      {"photon_test", [] { photon_test(1, nullptr, nullptr, nullptr); }},
      {"photon_wait_send_request_rdma", [] { photon_wait_send_request_rdma(1); }},
      {"photon_collective_join",
       [] { photon_collective_join(1, nullptr, nullptr, 0, PHOTON_INT8, nullptr); }},
      {"photon_finalize", [] { photon_finalize(); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string said = words_of(call);
    EXPECT_EQ(lines_of(said), 1u) << said;
    EXPECT_NE(said.find(std::string("photon: ") + name), std::string::npos) << said;
    EXPECT_NE(said.find("photon_init() was not called"), std::string::npos) << said;
  }
}

TEST_F(EmptySession, is_no_flood_for_who_probes_for_ever) {
  const std::string said = words_of([] {
    int flag = 0;
    for (int i = 0; i < 1000; ++i)
      photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, nullptr, nullptr, nullptr,
                              PHOTON_PROBE_ANY);
    photon_put_with_completion(0, 0, nullptr, nullptr, {}, {}, 0);
  });
  EXPECT_EQ(lines_of(said), 1u) << said;
}

TEST_F(EmptySession, is_no_matter_to_calls_that_need_none) {
  EXPECT_EQ(words_of([] {
              double seconds = 0;
              photon_gettime_(&seconds);
              photon_initialized();
            }),
            "");
}

TEST(BeforeInit, a_null_configuration_is_refused) { EXPECT_EQ(photon_init(nullptr), PHOTON_ERROR); }

TEST(Init, a_zeroed_configuration_without_a_launcher_makes_a_job_of_one) {
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  ASSERT_EQ(photon_init(&config), PHOTON_OK);
  EXPECT_EQ(photon_initialized(), 1);
  EXPECT_EQ(config.address, 0);
  EXPECT_EQ(config.nproc, 1);
  EXPECT_EQ(photon_finalize(), PHOTON_OK);
  EXPECT_EQ(photon_initialized(), 0);
}

}  // namespace
}  // namespace photon::test
