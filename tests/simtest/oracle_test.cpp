// That the oracle finds what is wrong: it is fed calls and completions of a job that never ran.
#include <gtest/gtest.h>

#include <string>

#include "simtest/burst.hpp"
#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

TEST(Oracle, a_put_that_keeps_its_promises_is_no_finding) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.arrive(op);
  fed.local(op);
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "");
  EXPECT_TRUE(fed.oracle.is_settled());
}

TEST(Oracle, an_id_before_its_bytes_is_found) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "bytes");
}

TEST(Oracle, a_second_registration_under_another_key_is_found) {
  FedOracle fed;
  fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, FedOracle::extra_key});
  EXPECT_EQ(fed.finding(), "");
  EXPECT_EQ(fed.oracle.memory(1).lease(Area::extra).holds, 2u);
  fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, FedOracle::extra_key + 1});
  EXPECT_EQ(fed.finding(), "region");
}

TEST(Oracle, what_a_leaver_has_put_must_come) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.oracle.leaving(0);
  fed.oracle.left(0, PH_OK);
  EXPECT_FALSE(fed.oracle.is_settled());
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "bytes");
}

TEST(Oracle, a_leaver_s_sources_are_overwritten_when_it_has_left) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.oracle.leaving(0);
  fed.oracle.left(0, PH_OK);
  fed.arrive(op);  // too late: these are not the bytes any more
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "bytes");
}

TEST(Oracle, an_operation_fails_as_departed_only_if_its_target_leaves) {
  FedOracle fed;
  fed.post(1, put_to(0));  // they have met
  Operation& first = fed.post(0, put_to(1));
  Operation& second = fed.post(0, put_to(1));
  Operation& third = fed.post(0, put_to(1));
  fed.oracle.leaving(1);
  fed.local(first, PH_ERR_DEPARTED);
  fed.local(second, PH_ERR_KEY);  // its keys were stale before its bye was read
  EXPECT_EQ(fed.finding(), "");
  fed.local(third, PH_ERR_PEER);
  EXPECT_EQ(fed.finding(), "status");
  FedOracle staying;
  staying.local(staying.post(0, put_to(1)), PH_ERR_DEPARTED);
  EXPECT_EQ(staying.finding(), "status");
}

TEST(Oracle, what_goes_to_a_leaver_must_end) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  Step silent = put_to(1, Area::window, kContendedBytes + 32);
  silent.flags = PH_NO_LCE;
  fed.post(0, silent);
  fed.oracle.leaving(1);
  fed.oracle.left(1, PH_OK);
  EXPECT_FALSE(fed.oracle.is_settled());
  fed.local(op);
  EXPECT_TRUE(fed.oracle.is_settled());  // of the silent one nobody hears if it went out
}

TEST(Oracle, an_error_after_the_remote_id_was_probed_is_found) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.arrive(op);
  fed.remote(op);
  fed.oracle.leaving(1);
  fed.local(op, PH_ERR_DEPARTED);
  EXPECT_EQ(fed.finding(), "status");
}

TEST(Oracle, half_of_a_put_may_lie_at_a_rank_that_left_but_nothing_else) {
  for (const bool is_torn : {true, false}) {
    FedOracle fed;
    Operation& op = fed.post(0, put_to(1));
    fed.oracle.leaving(1);
    std::byte* place = fed.oracle.memory(1).address(Area::window, kContendedBytes);
    place[3] = is_torn ? op.buffer[3] : ~op.buffer[3];
    fed.oracle.left(1, PH_OK);
    EXPECT_EQ(fed.finding(), is_torn ? "" : "bytes");
  }
}

TEST(Oracle, memory_written_after_finalize_is_found) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.oracle.leaving(1);
  fed.oracle.left(1, PH_OK);
  fed.arrive(op);
  fed.oracle.check_memory(1);
  EXPECT_EQ(fed.finding(), "guard");
}

TEST(Oracle, finalize_says_an_error_that_nobody_has_heard_of_and_no_other) {
  for (const ph_status status : {PH_OK, PH_ERR_KEY, PH_ERR_RANGE, PH_TIMEOUT}) {
    FedOracle fed;
    Step refused = put_to(1, Area::contended, 0);
    refused.fault = Fault::wrong_key;
    fed.post(0, refused);
    fed.oracle.leaving(0);
    fed.oracle.left(0, status);
    EXPECT_EQ(fed.finding(), status == PH_ERR_KEY ? "" : "status") << status;
  }
}

TEST(Oracle, finalize_never_times_out) {
  for (const std::uint32_t ids : {4u, 5u}) {
    FedOracle fed;
    for (std::uint32_t i = 0; i < ids; ++i) fed.post(0, put_to(0, Area::contended, 0));
    fed.oracle.leaving(0);
    fed.oracle.left(0, PH_TIMEOUT);
    EXPECT_EQ(fed.finding(), "status");
  }
}

TEST(Oracle, a_nameless_refusal_must_be_one_that_can_be_meant) {
  for (const ph_status status : {PH_ERR_KEY, PH_ERR_ACCESS}) {
    FedOracle fed;
    Step refused = put_to(1, Area::contended, 0);
    refused.fault = Fault::wrong_key;
    fed.local(fed.post(0, refused));
    fed.nameless(0, 1, status);
    EXPECT_EQ(fed.finding(), status == PH_ERR_KEY ? "" : "unexpected");
    if (status == PH_ERR_KEY) fed.nameless(0, 1, status);  // there is no second
    EXPECT_EQ(fed.finding(), "unexpected");
  }
}

// One operation can have failed so, and so many others as are said: each has one error.
TEST(Oracle, nameless_errors_are_as_many_as_there_are_operations_and_others) {
  for (const std::uint64_t others : {0u, 1u, 2u}) {
    FedOracle fed;
    Step refused = put_to(1, Area::contended, 0);
    refused.fault = Fault::wrong_key;
    fed.local(fed.post(0, refused));
    for (std::uint64_t i = 0; i <= others; ++i) fed.nameless(0, 1, PH_ERR_KEY, others);
    EXPECT_EQ(fed.finding(), "") << others;
    fed.nameless(0, 1, PH_ERR_KEY, others);
    EXPECT_EQ(fed.finding(), "unexpected") << others;
  }
}

TEST(Oracle, waits_that_end_too_early_or_too_late_are_found) {
  struct Ending {
    std::uint64_t after_ns;
    ph_status status;
    const char* finding;
  };
  for (const Ending& ending :
       {Ending{4'999, PH_TIMEOUT, "time"}, Ending{5'000, PH_TIMEOUT, ""}, Ending{10, PH_OK, ""},
        Ending{100'000, PH_TIMEOUT, ""}, Ending{300'000, PH_TIMEOUT, "time"},
        Ending{300'000, PH_OK, "time"}}) {
    FedOracle fed;
    fed.now_ns = 1000 + ending.after_ns;
    fed.oracle.waited(0, {"wait", 1000, 5}, ending.status);
    EXPECT_EQ(fed.finding(), ending.finding) << ending.after_ns << ' ' << ending.status;
  }
}

TEST(Oracle, what_a_rank_stood_still_does_not_count_as_late_and_no_more_than_that) {
  for (const std::uint64_t after_ns : {500'000u, 800'000u}) {
    FedOracle fed;
    fed.now_ns = 1000 + after_ns;
    fed.oracle.waited(0, {"wait", 1000, 5, 400'000}, PH_TIMEOUT);
    EXPECT_EQ(fed.finding(), after_ns == 500'000 ? "" : "time");
  }
}

// A put to a contended place has landed; somebody reads there.
struct Reading {
  FedOracle fed;
  Reading() {
    Operation& put = fed.post(0, put_to(1, Area::contended, 0));
    fed.arrive(put);
    fed.remote(put);
  }
  std::string read_by(ph_rank reader, const Operation* bytes_of) {
    Operation& get = fed.post(reader, get_from(1, Area::contended));
    if (bytes_of == nullptr)
      fed.fetch(get);
    else
      std::copy(bytes_of->buffer.begin(), bytes_of->buffer.end(), get.destination().begin());
    fed.local(get);
    return fed.finding();
  }
};

TEST(Oracle, a_get_brings_what_lay_there_or_was_put_meanwhile) {
  EXPECT_EQ(Reading().read_by(1, nullptr), "");
  Reading reading;
  Operation& get = reading.fed.post(1, get_from(1, Area::contended));
  Operation& later = reading.fed.post(0, put_to(1, Area::contended, 0));
  reading.fed.arrive(later);
  reading.fed.fetch(get);
  reading.fed.local(get);
  EXPECT_EQ(reading.fed.finding(), "");
}

TEST(Oracle, a_get_that_brings_what_never_lay_there_is_found) {
  Reading reading;
  const Operation& elsewhere = reading.fed.post(0, put_to(1));
  EXPECT_EQ(reading.read_by(1, &elsewhere), "bytes");
}

TEST(Oracle, a_get_that_brings_what_was_overwritten_before_is_found) {
  Reading reading;
  Operation& get = reading.fed.post(1, get_from(1, Area::contended));
  Pattern(Purpose::background, 1).fill(get.destination());  // what lay there before the put
  reading.fed.local(get);
  EXPECT_EQ(reading.fed.finding(), "bytes");
}

TEST(Oracle, a_get_behind_a_fence_sees_the_puts_before_it) {
  for (const bool is_fenced : {false, true}) {
    FedOracle fed;
    fed.post(0, put_to(1, Area::contended, 0));  // nobody knows whether it has landed
    if (is_fenced) fed.oracle.fenced(0, 1);
    Operation& get = fed.post(0, get_from(1, Area::contended));
    fed.fetch(get);
    fed.local(get);
    EXPECT_EQ(fed.finding(), is_fenced ? "bytes" : "");
  }
}

TEST(Oracle, a_get_of_own_ranges_sees_no_other_bytes) {
  for (const bool is_good : {true, false}) {
    FedOracle fed;
    Operation& put = fed.post(0, put_to(1));
    fed.arrive(put);
    Operation& get = fed.post(1, get_from(1, Area::window, kContendedBytes, 32));
    fed.fetch(get);
    if (!is_good) get.destination()[20] = ~get.destination()[20];
    fed.local(get);
    EXPECT_EQ(fed.finding(), is_good ? "" : "bytes");
  }
}

TEST(Oracle, a_get_of_what_is_taken_back_may_fail_but_brings_no_later_bytes) {
  for (const ph_status status : {PH_OK, PH_ERR_KEY, PH_ERR_RANGE}) {
    FedOracle fed;
    RankMemory& memory = fed.oracle.memory(1);
    Operation& get = fed.post(0, get_from(1, Area::extra));
    fed.oracle.retiring(1, Area::extra);
    fed.oracle.retired(1, Area::extra);
    memory.refresh(Area::extra);
    fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, FedOracle::extra_key + 1});
    fed.fetch(get);  // under the new key
    fed.local(get, status);
    EXPECT_EQ(fed.finding(), status == PH_OK ? "bytes" : status == PH_ERR_KEY ? "" : "status");
  }
}

TEST(Burst, all_credit_that_is_due_and_no_more_is_expected) {
  const Burst large{64, 64, 16, 8, 0};  // the ring is the limit below, the ledger above
  EXPECT_EQ(large.least(), 48u);        // a line is kept
  EXPECT_EQ(large.most(), 63u);
  EXPECT_EQ(large.posted(), 64u);
  const Burst small{2, 64, 64, 8, 0};
  EXPECT_EQ(small.least(), 2u);
  EXPECT_EQ(small.posted(), 4u);
  EXPECT_EQ(small.breach(2), "");
  EXPECT_NE(small.breach(1), "");
  EXPECT_NE(small.breach(3), "");
  const Burst wide{16, 64, 64, 1024, 0};  // 19 lines an id
  EXPECT_EQ(wide.least(), 2u);
  EXPECT_EQ(wide.most(), 3u);
  EXPECT_NE(wide.breach(1), "");
  const Burst overflowing{2, 64, 64, 8, 4096};  // 16 bytes an id
  EXPECT_EQ(overflowing.least(), 2u + 256u);
  EXPECT_EQ(overflowing.most(), 2u + 256u);
}

TEST(RankMemory, the_smallest_registration_around_a_range_is_expected) {
  FedOracle fed;
  RankMemory& memory = fed.oracle.memory(0);
  memory.window_region.key = 1;
  memory.inner_region.key = 2;
  memory.library_region.key = 3;
  EXPECT_EQ(memory.key_around(Area::window, 0, 64), 1u);
  EXPECT_EQ(memory.key_around(Area::contended, kInnerOffset, kInnerBytes), 2u);
  EXPECT_EQ(memory.key_around(Area::contended, kInnerOffset, kInnerBytes + 1), 1u);
  EXPECT_EQ(memory.key_around(Area::library, kLibraryBytes - 1, 2), 0u);
  EXPECT_EQ(memory.key_around(Area::extra, 0, kLentBytes), FedOracle::extra_key);
  fed.oracle.retiring(0, Area::extra);
  EXPECT_EQ(memory.key_around(Area::extra, 0, 1), 0u);
}

}  // namespace
}  // namespace photon::simtest
