#include "service/echo/echo.hpp"

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using service::echo::Echo;

Echo& echo_of(Engine& engine) { return *static_cast<Echo*>(engine.service(wire::Owner::echo)); }

TEST(Echo, answers_and_the_answer_is_taken_once) {
  Two two;
  ASSERT_EQ(echo_of(two.ranks[0]).ask(1, 17), PH_OK);
  EXPECT_TRUE(two.ranks.eventually([&] { return echo_of(two.ranks[0]).has_answer(); }));
  ph_echo_result result{};
  ASSERT_TRUE(echo_of(two.ranks[0]).take(result));
  EXPECT_EQ(result.value, 17u);
  EXPECT_FALSE(echo_of(two.ranks[0]).take(result));
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
}

TEST(Echo, says_why_there_is_no_answer) {
  Two two;
  std::vector<std::byte> body(100'000);
  ASSERT_EQ(echo_of(two.ranks[0]).ask(1, 17), PH_OK);
  ASSERT_EQ(echo_of(two.ranks[0]).ask_body(1, body, 18), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
  two.ranks[0].serve();
  ph_echo_result result{};
  for (const std::uint64_t value : {17u, 18u}) {
    ASSERT_TRUE(echo_of(two.ranks[0]).take(result));
    EXPECT_EQ(result.value, value);
    EXPECT_EQ(result.status, PH_ERR_PEER);
  }
  two.ranks[0].serve();
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
}

TEST(Echo, ends_a_peer_that_answers_what_nobody_asked) {
  Two two;
  ASSERT_EQ(echo_of(two.ranks[0]).ask(1, 17), PH_OK);
  service::Port& port = (echo_of(two.ranks[1]), two.ranks[1].port(wire::Owner::echo));
  ASSERT_EQ(port.say_words(0, 2, 99), PH_OK);
  EXPECT_TRUE(two.ranks.eventually([&] { return echo_of(two.ranks[0]).has_answer(); }));
  ph_echo_result result{};
  ASSERT_TRUE(echo_of(two.ranks[0]).take(result));
  EXPECT_EQ(result.status, PH_ERR_PROTOCOL);
}

// Its caller may use the memory again when the answer is there.
TEST(Echo, ends_a_peer_that_answers_a_body_before_all_of_it_has_left) {
  Two two;
  std::vector<std::byte> body(1'000'000);
  ASSERT_EQ(echo_of(two.ranks[0]).ask_body(1, body, 18), PH_OK);
  service::Port& port = (echo_of(two.ranks[1]), two.ranks[1].port(wire::Owner::echo));
  ASSERT_EQ(port.say_words(0, 5, 99), PH_OK);
  EXPECT_TRUE(two.ranks.eventually([&] { return echo_of(two.ranks[0]).has_answer(); }));
  ph_echo_result result{};
  ASSERT_TRUE(echo_of(two.ranks[0]).take(result));
  EXPECT_EQ(result.status, PH_ERR_PROTOCOL);
  EXPECT_EQ(result.value, 18u);
}

}  // namespace
}  // namespace photon::engine::test
