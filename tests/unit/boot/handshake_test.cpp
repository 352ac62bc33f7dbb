#include "boot/handshake.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "base/unique_fd.hpp"

namespace photon::boot {
namespace {

using Step = Handshake::Step;

constexpr Protocol kSpoken{0x1234567890, 7};

// A dialer (rank 1) and an acceptor (rank 0) of a job of two, on a pair of sockets.
class HandshakeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    dialer_.reset(ends[0]);
    acceptor_.reset(ends[1]);
  }
  Handshake acceptor(std::uint32_t lane = 0) {
    return Handshake::accept(secret_, {0, 2, lane, kSpoken});
  }
  Handshake dialer(const Secret& secret) { return *Handshake::dial(secret, {1, 2, 0, kSpoken}, 0); }
  Step say(const Hello& hello) {
    EXPECT_EQ(::send(dialer_.get(), &hello, sizeof hello, 0), ssize_t{sizeof hello});
    Handshake other = acceptor();
    return other.advance(acceptor_.get());
  }
  Hello good() {
    Hello hello;
    hello.magic = kSpoken.magic;
    hello.version = kSpoken.version;
    hello.from = 1;
    return hello;
  }

  const Secret secret_{std::byte{42}};
  base::UniqueFd dialer_;
  base::UniqueFd acceptor_;
};

TEST_F(HandshakeTest, two_that_know_the_secret_open_and_leave_what_follows_in_the_socket) {
  Handshake one = dialer(secret_), other = acceptor();
  EXPECT_EQ(other.advance(acceptor_.get()), Step::waits);
  EXPECT_EQ(one.advance(dialer_.get()), Step::waits);
  EXPECT_EQ(other.advance(acceptor_.get()), Step::waits);
  EXPECT_EQ(one.advance(dialer_.get()), Step::waits);
  EXPECT_EQ(other.advance(acceptor_.get()), Step::proven);
  EXPECT_EQ(other.from(), 1u);
  ASSERT_TRUE(other.welcome(acceptor_.get()));
  ASSERT_EQ(::send(acceptor_.get(), "frame", 5, 0), 5);
  EXPECT_EQ(one.advance(dialer_.get()), Step::open);
  char rest[16];
  EXPECT_EQ(::recv(dialer_.get(), rest, sizeof rest, 0), 5);
}

TEST_F(HandshakeTest, messages_that_come_byte_by_byte_are_put_together) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd near(ends[0]), far(ends[1]);
  Handshake one = dialer(secret_), other = acceptor();
  ASSERT_EQ(one.advance(dialer_.get()), Step::waits);
  // What the dialer says arrives slowly on the other pair; the answers go straight.
  const auto drip = [&](Step wanted) {
    char byte;
    Step step = Step::waits;
    while (::recv(acceptor_.get(), &byte, 1, 0) == 1) {
      EXPECT_EQ(step, Step::waits);
      EXPECT_EQ(::send(far.get(), &byte, 1, 0), 1);
      step = other.advance(near.get());
    }
    EXPECT_EQ(step, wanted);
  };
  drip(Step::waits);
  char challenge[sizeof(Challenge)];
  ASSERT_EQ(::recv(far.get(), challenge, sizeof challenge, 0), ssize_t{sizeof challenge});
  ASSERT_EQ(::send(acceptor_.get(), challenge, sizeof challenge, 0), ssize_t{sizeof challenge});
  ASSERT_EQ(one.advance(dialer_.get()), Step::waits);
  drip(Step::proven);
}

TEST_F(HandshakeTest, who_does_not_know_the_secret_is_refused_by_either_side) {
  const Secret wrong{std::byte{1}};
  Handshake one = dialer(wrong), other = acceptor();
  one.advance(dialer_.get());
  EXPECT_EQ(other.advance(acceptor_.get()), Step::waits);
  EXPECT_EQ(one.advance(dialer_.get()), Step::wrong_secret) << "the acceptor did not prove itself";
  // A dialer that does not mind sends any proof.
  const Proof made_up{std::byte{1}};
  ASSERT_EQ(::send(dialer_.get(), made_up.data(), made_up.size(), 0), ssize_t{32});
  EXPECT_EQ(other.advance(acceptor_.get()), Step::wrong_secret);
}

TEST_F(HandshakeTest, a_proof_that_is_sent_back_is_none) {
  Handshake other = acceptor();
  const Hello hello = good();
  ASSERT_EQ(::send(dialer_.get(), &hello, sizeof hello, 0), ssize_t{sizeof hello});
  ASSERT_EQ(other.advance(acceptor_.get()), Step::waits);
  Challenge challenge;
  ASSERT_EQ(::recv(dialer_.get(), &challenge, sizeof challenge, 0), ssize_t{sizeof challenge});
  ASSERT_EQ(::send(dialer_.get(), challenge.proof.data(), 32, 0), 32);
  EXPECT_EQ(other.advance(acceptor_.get()), Step::wrong_secret);
}

TEST_F(HandshakeTest, a_hello_that_is_none_or_means_somebody_else_is_refused_by_its_reason) {
  EXPECT_EQ(say(good()), Step::waits);
  Hello hello = good();
  hello.magic = 1;
  EXPECT_EQ(say(hello), Step::garbage);
  hello = good();
  hello.version = kSpoken.version + 1;
  EXPECT_EQ(say(hello), Step::wrong_version);
  hello = good();
  hello.from = 2;
  EXPECT_EQ(say(hello), Step::unexpected);
  hello.from = 0;
  EXPECT_EQ(say(hello), Step::unexpected);
  hello = good();
  hello.to = 1;
  EXPECT_EQ(say(hello), Step::unexpected);
  hello = good();
  hello.lane = 1;
  EXPECT_EQ(say(hello), Step::unexpected);
}

TEST_F(HandshakeTest, a_socket_that_closes_at_any_point_is_broken) {
  Handshake other = acceptor();
  const Hello hello = good();
  ASSERT_EQ(::send(dialer_.get(), &hello, sizeof hello - 1, 0), ssize_t{sizeof hello - 1});
  ASSERT_EQ(other.advance(acceptor_.get()), Step::waits);
  dialer_.reset();
  EXPECT_EQ(other.advance(acceptor_.get()), Step::broken);
}

}  // namespace
}  // namespace photon::boot
