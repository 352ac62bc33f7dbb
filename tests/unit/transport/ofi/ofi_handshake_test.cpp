// Every message in every stage, and what a stranger can do: nothing.
#include "transport/ofi/ofi_handshake.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace photon::transport::ofi {
namespace {

using Step = OfiHandshake::Step;
using Message = std::vector<std::byte>;

class OfiHandshakeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!boot::can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
    dialer_ = *OfiHandshake::make(secret_, {0, 2, 0}, 1);
    acceptor_ = *OfiHandshake::make(secret_, {1, 2, 0}, 0);
  }
  static Message said(OfiHandshake& one) {
    const Message message(one.reply().begin(), one.reply().end());
    one.replied();
    return message;
  }
  static Step hear(OfiHandshake& one, const Message& message) {
    MessageHead head;
    std::memcpy(&head, message.data(), sizeof head);
    return one.take(head, std::span(message).subspan(sizeof head));
  }

  const std::array<std::byte, 8> address_{};
  boot::Secret secret_{std::byte{7}}, other_secret_{std::byte{8}};
  OfiHandshake dialer_ = *OfiHandshake::make(secret_, {0, 2, 0}, 1);
  OfiHandshake acceptor_ = *OfiHandshake::make(secret_, {1, 2, 0}, 0);
};

TEST_F(OfiHandshakeTest, of_two_that_know_the_secret_opens_and_gives_each_the_others_key) {
  dialer_.dial(address_);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::waits);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::waits);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::open);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::open);
  EXPECT_EQ(dialer_.their_key(), acceptor_.our_key());
  EXPECT_EQ(acceptor_.their_key(), dialer_.our_key());
}

TEST_F(OfiHandshakeTest, tells_who_does_not_know_the_secret_at_either_side) {
  OfiHandshake stranger = *OfiHandshake::make(other_secret_, {1, 2, 0}, 0);
  dialer_.dial(address_);
  EXPECT_EQ(hear(stranger, said(dialer_)), Step::wrong_secret) << "the hello is sealed";
  const MessageHead made_up_head{.key = dialer_.our_key(), .kind = MessageKind::challenge};
  const Challenge made_up_challenge{};
  EXPECT_EQ(dialer_.take(made_up_head, std::as_bytes(std::span(&made_up_challenge, 1))),
            Step::not_it);
  EXPECT_TRUE(dialer_.reply().empty()) << "it gets no proof";

  acceptor_ = *OfiHandshake::make(secret_, {1, 2, 0}, 0);
  const MessageHead head{.key = acceptor_.our_key(), .from = 0, .kind = MessageKind::proof};
  const ProofBody made_up{};
  EXPECT_EQ(acceptor_.take(head, std::as_bytes(std::span(&made_up, 1))), Step::wrong_secret);
}

TEST_F(OfiHandshakeTest, a_strangers_hello_between_those_of_a_rank_changes_nothing) {
  OfiHandshake stranger = *OfiHandshake::make(other_secret_, {0, 2, 0}, 1);
  dialer_.dial(address_);
  stranger.dial(address_);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::waits);
  const Message challenge = said(acceptor_);
  EXPECT_EQ(hear(acceptor_, said(stranger)), Step::wrong_secret);
  EXPECT_TRUE(acceptor_.reply().empty());
  EXPECT_EQ(hear(dialer_, challenge), Step::waits);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::open);
}

TEST_F(OfiHandshakeTest, of_two_that_both_dial_goes_on_by_the_hello_of_the_lower_rank) {
  dialer_.dial(address_);
  acceptor_.dial(address_);
  const Message lower = said(dialer_), higher = said(acceptor_);
  EXPECT_EQ(hear(dialer_, higher), Step::late);
  EXPECT_EQ(hear(acceptor_, lower), Step::waits);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::waits);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::open);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::open);
}

TEST_F(OfiHandshakeTest, said_again_is_late_or_answered_again) {
  dialer_.dial(address_);
  const Message hello = said(dialer_);
  EXPECT_EQ(hear(acceptor_, hello), Step::waits);
  const Message challenge = said(acceptor_);
  EXPECT_EQ(hear(acceptor_, hello), Step::waits);
  EXPECT_EQ(said(acceptor_), challenge);
  EXPECT_EQ(hear(dialer_, challenge), Step::waits);
  const Message proof = said(dialer_);
  EXPECT_EQ(hear(dialer_, challenge), Step::late);
  EXPECT_EQ(hear(acceptor_, proof), Step::open);
  EXPECT_EQ(hear(acceptor_, hello), Step::late);
  const Message welcome = said(acceptor_);
  EXPECT_EQ(hear(acceptor_, proof), Step::waits) << "the welcome was lost";
  EXPECT_EQ(said(acceptor_), welcome);
  EXPECT_EQ(hear(dialer_, welcome), Step::open);
  EXPECT_EQ(hear(dialer_, welcome), Step::late);
  EXPECT_FALSE(dialer_.is_owed());
}

TEST_F(OfiHandshakeTest, the_dialer_says_its_latest_message_again_until_it_is_welcome) {
  EXPECT_FALSE(acceptor_.is_owed()) << "the other one says its own again";
  dialer_.dial(address_);
  const Message hello = said(dialer_);
  ASSERT_TRUE(dialer_.is_owed());
  EXPECT_TRUE(dialer_.reply().empty());
  dialer_.again();
  EXPECT_EQ(said(dialer_), hello);
  EXPECT_EQ(hear(acceptor_, hello), Step::waits);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::waits);
  const Message proof = said(dialer_);
  EXPECT_TRUE(dialer_.awaits_welcome());
  dialer_.again();
  EXPECT_EQ(said(dialer_), proof);
  EXPECT_EQ(hear(acceptor_, proof), Step::open);
  dialer_.welcomed();
  EXPECT_FALSE(dialer_.is_owed());
}

TEST_F(OfiHandshakeTest, a_proof_with_other_random_bytes_does_not_open_again) {
  dialer_.dial(address_);
  EXPECT_EQ(hear(acceptor_, said(dialer_)), Step::waits);
  EXPECT_EQ(hear(dialer_, said(acceptor_)), Step::waits);
  Message proof = said(dialer_);
  EXPECT_EQ(hear(acceptor_, proof), Step::open);
  acceptor_.replied();
  proof[sizeof(MessageHead)] ^= std::byte{1};
  EXPECT_EQ(hear(acceptor_, proof), Step::unexpected);
  EXPECT_TRUE(acceptor_.reply().empty());
}

TEST_F(OfiHandshakeTest, of_another_version_rank_lane_or_size_is_told_apart) {
  const auto take = [&](const Hello& hello) {
    HelloBody body{.hello = hello};
    const auto sealed = std::as_bytes(std::span(&body, 1)).first(sizeof body - sizeof body.seal);
    body.seal = boot::prove(secret_, {boot::Role::dialer, sealed, {}});
    const MessageHead head{.key = kHelloKey, .from = 0, .kind = MessageKind::hello};
    return acceptor_.take(head, std::as_bytes(std::span(&body, 1)));
  };
  EXPECT_EQ(take({.version = wire::kVersion + 1, .from = 0, .to = 1}), Step::version);
  EXPECT_EQ(take({.lane = 3, .from = 0, .to = 1}), Step::unexpected);
  EXPECT_EQ(take({.from = 0, .to = 0}), Step::unexpected);
  EXPECT_EQ(take({.magic = 1, .from = 0, .to = 1}), Step::garbage);
  const MessageHead short_hello{.key = kHelloKey, .kind = MessageKind::hello};
  EXPECT_EQ(acceptor_.take(short_hello, {}), Step::garbage);
  const MessageHead other{.key = acceptor_.our_key(), .kind = MessageKind::welcome};
  EXPECT_EQ(acceptor_.take(other, {}), Step::unexpected);
  EXPECT_TRUE(acceptor_.reply().empty());
}

// Else who was asked for a proof could send back the one that it got.
TEST_F(OfiHandshakeTest, a_challenge_with_our_key_and_a_proof_of_ours_is_none) {
  dialer_.dial(address_);
  const Message hello = said(dialer_);
  EXPECT_EQ(hear(acceptor_, hello), Step::waits);
  Message challenge = said(acceptor_);
  challenge.back() ^= std::byte{1};
  EXPECT_EQ(hear(dialer_, challenge), Step::not_it);
}

}  // namespace
}  // namespace photon::transport::ofi
