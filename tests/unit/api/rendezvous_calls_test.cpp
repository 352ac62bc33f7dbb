#include "api/rendezvous_calls.hpp"

#include "lending_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(RendezvousCalls, wait_for_a_buffer_no_longer_than_they_were_told) {
  Lending two;
  LaneGuard guard(two.ranks.lane(1));
  const ph_match match = Lending::any(PH_SEND_REQUEST);
  EXPECT_EQ(api::wait_buffer(two.ranks[1], guard, match, two.buffer, 1000), PH_TIMEOUT);
  ASSERT_EQ(two.announce(PH_SEND_REQUEST, {}), PH_OK);
  EXPECT_EQ(api::wait_buffer(two.ranks[1], guard, match, two.buffer, 10'000'000), PH_OK);
  EXPECT_EQ(two.buffer.kind, PH_SEND_REQUEST);
}

TEST(RendezvousCalls, that_fail_leave_the_services_words_as_the_calls) {
  Lending two;
  ph_buffer none{};
  EXPECT_EQ(api::finish(two.ranks[0], none), PH_ERR_NOT_FOUND);
  EXPECT_NE(two.ranks[0].last_error().what.find("finish: it was not taken"), std::string::npos);
}

}  // namespace
}  // namespace photon::engine::test
