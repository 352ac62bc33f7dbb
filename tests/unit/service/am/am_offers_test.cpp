#include "service/am/am_offers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "service/fake_port.hpp"

namespace photon::service::am {
namespace {

using photon::test::Bytes;
using photon::test::FakePort;

// Offers of one rank. It is no service: nothing of a port comes to it by itself.
struct Lending {
  FakePort port{wire::Owner::am};
  Budget budget{1 << 20};
  Offers offers{port, budget};
  Bytes memory = Bytes(100);
  std::vector<ph_const_block> payload = {
      {memory.data(), 60}, {memory.data(), 0}, {memory.data() + 70, 30}};
  std::uint64_t token = 0;

  ph_status make(Rank to = 1, bool tells_handled = false) {
    UserEnd end;
    end.rank = to;
    return offers.make({payload, end, tells_handled, true}, token);
  }
  void send(Rank to = 1, bool tells_handled = false) {
    ASSERT_EQ(make(to, tells_handled), PH_OK);
    offers.accept(token);
    offers.went(token);
  }
  static std::uint64_t word(ph_status status) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
  }
  bool is_over() const {
    return budget.used() == 0 && port.holds_nothing() && offers.is_idle() && offers.held() == 0;
  }
};

TEST(Offers, table_names_each_block_that_has_bytes) {
  Lending one;
  one.send();
  ASSERT_EQ(one.offers.blocks_of(one.token), 2u);
  std::vector<SourceBlock> table(2);
  one.offers.write_table(one.token, reinterpret_cast<std::byte*>(table.data()));
  EXPECT_EQ(table[0].address, reinterpret_cast<std::uint64_t>(one.memory.data()));
  EXPECT_EQ(table[0].size_bytes, 60u);
  EXPECT_EQ(table[1].address, reinterpret_cast<std::uint64_t>(one.memory.data() + 70));
  EXPECT_NE(table[0].key, table[1].key);
  EXPECT_TRUE(is_table(table, 90));
  EXPECT_TRUE(one.offers.done(1, one.token, 0));
}

TEST(Offers, read_gives_the_payload_back_and_done_ends_the_message) {
  Lending one;
  one.send();
  EXPECT_EQ(one.port.exposures(), 2u);
  EXPECT_TRUE(one.offers.read(1, one.token));
  EXPECT_EQ(one.port.told(), 1u) << "its user waits for nothing";
  EXPECT_EQ(one.port.exposures(), 0u) << "it can still be read";
  EXPECT_FALSE(one.offers.is_idle()) << "its handlers are still to end";
  EXPECT_TRUE(one.offers.done(1, one.token, 0));
  EXPECT_EQ(one.port.told(), 1u);
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, with_delivered_the_end_of_the_handlers_tells_alone) {
  Lending one;
  one.send(1, true);
  EXPECT_FALSE(one.offers.read(1, one.token)) << "nobody says it of such a message";
  EXPECT_EQ(one.port.told(), 0u);
  EXPECT_TRUE(one.offers.done(1, one.token, Lending::word(PH_ERR_NOT_FOUND)));
  EXPECT_EQ(one.port.told(), 1u);
  EXPECT_TRUE(one.is_over());
}

// The port finds fault with a second completion that is no error.
TEST(Offers, an_error_behind_read_is_told_once_more) {
  Lending one;
  one.send();
  EXPECT_TRUE(one.offers.read(1, one.token));
  EXPECT_TRUE(one.offers.done(1, one.token, Lending::word(PH_ERR_KEY)));
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, words_of_a_target_that_do_not_fit_are_malformed) {
  Lending one;
  ASSERT_EQ(one.make(), PH_OK);
  one.offers.accept(one.token);
  EXPECT_FALSE(one.offers.read(1, one.token)) << "it was not told of it";
  EXPECT_FALSE(one.offers.done(1, one.token, 0));
  one.offers.went(one.token);
  EXPECT_FALSE(one.offers.read(2, one.token)) << "it is another rank's";
  EXPECT_FALSE(one.offers.done(2, one.token, 0));
  EXPECT_FALSE(one.offers.read(1, one.token + 1)) << "no such place";
  EXPECT_FALSE(one.offers.read(1, one.token + (std::uint64_t{1} << 32))) << "no such generation";
  EXPECT_FALSE(one.offers.done(1, one.token, 1)) << "no end";
  EXPECT_FALSE(one.offers.done(1, one.token, Lending::word(static_cast<ph_status>(-1000))));
  EXPECT_TRUE(one.offers.read(1, one.token));
  EXPECT_FALSE(one.offers.read(1, one.token)) << "a second time";
  EXPECT_TRUE(one.offers.done(1, one.token, 0));
  EXPECT_FALSE(one.offers.done(1, one.token, 0)) << "a second time";
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, a_place_that_is_used_again_has_another_token) {
  Lending one;
  one.send();
  const std::uint64_t before = one.token;
  EXPECT_TRUE(one.offers.done(1, one.token, 0));
  one.send();
  EXPECT_NE(one.token, before);
  EXPECT_FALSE(one.offers.read(1, before)) << "an old word ends a new message";
  EXPECT_TRUE(one.offers.done(1, one.token, 0));
}

TEST(Offers, without_a_promise_nothing_is_lent) {
  Lending one;
  one.port.refuse(0);
  EXPECT_EQ(one.make(), PH_AGAIN);
  EXPECT_TRUE(one.is_over());
}

// A port that has keys for so many blocks.
struct FewKeys : FakePort {
  using FakePort::FakePort;
  int keys = 1;
  ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                   Exposed& exposed) override {
    return keys-- > 0 ? FakePort::expose(memory, access, exposed) : PH_ERR_MEMORY;
  }
};

TEST(Offers, one_whose_second_block_gets_no_key_was_never_made) {
  FewKeys port(wire::Owner::am);
  Budget budget(1 << 20);
  Offers offers(port, budget);
  const Bytes memory(10);
  const std::vector<ph_const_block> payload = {{memory.data(), 4}, {memory.data() + 4, 6}};
  UserEnd end;
  end.rank = 1;
  std::uint64_t token = 0;
  EXPECT_EQ(offers.make({payload, end, false, false}, token), PH_ERR_MEMORY);
  EXPECT_TRUE(port.holds_nothing()) << "the first block is exposed, or the promise is kept";
  EXPECT_TRUE(offers.is_idle());
}

TEST(Offers, one_that_did_not_go_is_withdrawn_untold) {
  Lending one;
  ASSERT_EQ(one.make(), PH_OK);
  one.offers.withdraw(one.token);
  EXPECT_EQ(one.port.told(), 0u);
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, one_whose_target_is_lost_inside_its_call_is_told_of_once) {
  Lending one;
  ASSERT_EQ(one.make(1), PH_OK);
  one.offers.on_lost(1, PH_ERR_PEER);
  EXPECT_EQ(one.port.told(), 0u);
  one.offers.accept(one.token);
  one.offers.fail(one.token, PH_ERR_PEER);
  EXPECT_EQ(one.port.told(), 1u);
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, of_a_lost_target_end_at_once_whatever_their_state) {
  Lending one;
  ASSERT_EQ(one.make(1), PH_OK);
  const std::uint64_t made = one.token;
  ASSERT_EQ(one.make(1), PH_OK);
  one.offers.accept(one.token);
  one.send(1);
  one.send(1);
  EXPECT_TRUE(one.offers.read(1, one.token));
  one.send(2);
  one.offers.on_lost(1, PH_ERR_PEER);
  EXPECT_EQ(one.port.told(), 3u);
  EXPECT_EQ(one.offers.held(), 2u) << "that of another target, and of which its call tells";
  one.offers.withdraw(made);
  EXPECT_EQ(one.port.told(), 3u);
  EXPECT_EQ(one.port.exposures(), 2u) << "a key of the lost rank's is left";
  EXPECT_TRUE(one.offers.done(2, one.token, 0));
  EXPECT_TRUE(one.is_over());
}

TEST(Offers, a_target_is_told_of_so_many_and_done_makes_room) {
  Lending one;
  one.payload.resize(1);
  std::vector<std::uint64_t> tokens;
  while (one.offers.may_go(1)) {
    one.send();
    tokens.push_back(one.token);
    ASSERT_LE(tokens.size(), 1024u);
  }
  EXPECT_EQ(tokens.size(), 1024u);
  EXPECT_TRUE(one.offers.may_go(2));
  EXPECT_TRUE(one.offers.read(1, tokens[5]));
  EXPECT_FALSE(one.offers.may_go(1)) << "its handlers have not ended";
  EXPECT_TRUE(one.offers.done(1, tokens[5], 0));
  EXPECT_TRUE(one.offers.may_go(1));
  one.offers.on_lost(1, PH_ERR_PEER);
}

}  // namespace
}  // namespace photon::service::am
