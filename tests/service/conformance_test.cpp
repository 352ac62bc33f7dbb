// What every service has to bear, whatever it does: its peers die between any two messages, and
// inside its own calls; every call finds no room; what comes is malformed, or of another order; it
// is left with operations under way; memory runs out anywhere.
#include <random>

#include "driver.hpp"
#include "unit/shortage.hpp"

namespace photon::test {
namespace {

constexpr Rank kPeer = 1, kOther = 2;

class ServiceConformance : public testing::TestWithParam<ServiceRow> {
 protected:
  void SetUp() override { driver_ = GetParam().make(); }
  Driver& driver() { return *driver_; }
  FakePort& port() { return driver_->port(); }
  service::Service& service() { return driver_->service(); }
  void anew() { driver_ = GetParam().make(); }

  // One operation of each kind to that rank. How many were accepted.
  std::uint64_t start_all(Rank to) {
    std::uint64_t accepted = 0;
    for (std::size_t kind = 0; kind < driver().kinds(); ++kind)
      accepted += driver().start(kind, to) == PH_OK;
    return accepted;
  }
  void arrive_all(Rank from) {
    for (const Coming& coming : driver().arrivals(from)) port().deliver(coming);
  }
  // Its peers are gone and its user has taken what there is: it holds on to nothing.
  void expect_empty() {
    service().close();
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) port().lose(rank);
    port().run_turns();
    driver().take();
    EXPECT_TRUE(service().is_idle());
    EXPECT_EQ(service().held(), 0u);
    EXPECT_EQ(port().loans(), 0u);
    EXPECT_EQ(port().exposures(), 0u);
    EXPECT_EQ(port().promises(), 0u);
  }

 private:
  std::unique_ptr<Driver> driver_;
};

TEST_P(ServiceConformance, each_operation_that_is_answered_is_over_once) {
  std::uint64_t started = 0;
  for (int round = 0; round < 5; ++round) {
    started += start_all(kPeer) + start_all(kOther);
    driver().answer_all();
    driver().take();
    EXPECT_EQ(driver().over(), started);
  }
  EXPECT_EQ(started, 10 * driver().kinds());
  EXPECT_FALSE(driver().is_lost(kPeer));
  EXPECT_EQ(service().held(), 0u);
  EXPECT_TRUE(port().holds_nothing());
  expect_empty();
}

TEST_P(ServiceConformance, what_a_peer_begins_ends_and_leaves_nothing) {
  for (int round = 0; round < 5; ++round) {
    for (const Coming& coming : driver().arrivals(kPeer)) ASSERT_TRUE(port().deliver(coming));
    port().run_turns();
    driver().take();
    driver().answer_all();
    EXPECT_EQ(service().held(), 0u);
    EXPECT_TRUE(port().holds_nothing());
  }
  expect_empty();
}

// Of calls that may be told to try again each is, alone and with all that follow it.
TEST_P(ServiceConformance, a_call_that_finds_no_room_is_refused_with_nothing_held_or_goes_later) {
  for (std::size_t kind = 0; kind < driver().kinds(); ++kind) {
    for (const std::uint64_t count : {std::uint64_t{1}, FakePort::kNever}) {
      anew();
      std::uint64_t refused = 0, accepted = 0;
      for (;; ++refused) {
        ASSERT_LT(refused, 20u);
        const std::uint64_t before = port().asked();
        const std::uint64_t held = service().held();
        const std::size_t promises = port().promises();
        port().refuse(refused, count);
        const ph_status status = driver().start(kind, kPeer);
        port().refuse_nothing();
        if (status == PH_OK && port().asked() - before <= refused) {  // it met no refusal
          ++accepted;
          break;
        }
        if (status == PH_OK) {
          ++accepted;
          continue;
        }
        ASSERT_EQ(status, PH_AGAIN);
        EXPECT_EQ(port().waiting(), accepted);
        EXPECT_EQ(service().held(), held);
        EXPECT_EQ(port().promises(), promises);
        port().give_room(kPeer);
      }
      EXPECT_GT(refused, 0u) << "no call of it can be refused";
      port().give_room(kPeer);  // what was accepted without room goes now
      driver().answer_all();
      driver().take();
      EXPECT_EQ(driver().over(), accepted) << "kind " << kind;
      EXPECT_EQ(service().held(), 0u);
      EXPECT_TRUE(port().holds_nothing());
    }
  }
}

// What a peer is owed is not lost where there is no room for it: it goes then, or when there is.
TEST_P(ServiceConformance, what_a_peer_is_owed_goes_though_every_call_is_refused) {
  const auto owed = [&](std::uint64_t count) {
    anew();
    port().refuse(0, count);
    arrive_all(kPeer);
    port().run_turns();
    driver().take();
    port().refuse_nothing();
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) port().give_room(rank);
    port().run_turns();
    return port().waiting();
  };
  const std::size_t usual = owed(0);
  EXPECT_GT(usual, 0u);
  EXPECT_EQ(owed(FakePort::kNever), usual);
}

TEST_P(ServiceConformance, a_peer_that_dies_between_two_messages_ends_what_it_had_under_way) {
  std::vector<Coming> all = driver().arrivals(kPeer);
  const std::size_t most = all.size() + 2 * driver().kinds();
  for (std::size_t messages = 0; messages <= most; ++messages)
    for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED}) {
      SCOPED_TRACE(messages);
      anew();
      const std::uint64_t started = 2 * start_all(kPeer);
      ASSERT_EQ(start_all(kPeer) * 2, started);
      const std::uint64_t others = start_all(kOther);
      std::vector<Said> to_other;
      std::size_t left = messages;
      for (std::size_t i = 0; i < all.size() && left > 0; ++i, --left)
        ASSERT_TRUE(port().deliver(all[i]));
      for (Said said; left > 0 && port().take(said);) {
        if (said.to == kOther) {
          to_other.push_back(said);
          continue;
        }
        const auto coming = driver().answer(said);
        if (coming.has_value()) {
          ASSERT_TRUE(port().deliver(*coming));
        }
        --left;
      }
      port().lose(kPeer, why);
      port().run_turns();
      driver().take();
      for (const Said& said : to_other) {
        const auto coming = driver().answer(said);
        if (coming.has_value()) {
          ASSERT_TRUE(port().deliver(*coming)) << "it is another's";
        }
      }
      driver().answer_all();
      driver().take();
      EXPECT_EQ(driver().over(), started + others);
      EXPECT_FALSE(driver().is_lost(kOther));
      expect_empty();
    }
}

TEST_P(ServiceConformance, a_peer_that_is_lost_inside_any_call_is_lost_and_nothing_else) {
  for (std::uint64_t call = 1;; ++call) {
    SCOPED_TRACE(call);
    ASSERT_LT(call, 200u);
    anew();
    port().lose_inside(call);
    std::uint64_t started = start_all(kPeer);
    arrive_all(kPeer);
    port().run_turns();
    driver().take();
    driver().answer_all();
    service().close();
    port().run_turns();
    const bool is_beyond = port().named() < call;
    EXPECT_EQ(driver().is_lost(kPeer), !is_beyond);
    port().lose(kPeer);
    port().run_turns();
    driver().take();
    EXPECT_EQ(driver().over(), started);
    expect_empty();
    if (is_beyond) break;
  }
}

Bytes random_bytes(std::mt19937_64& random, std::size_t size) {
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : 0);
  if (size != 0) bytes[0] = static_cast<std::byte>(random() % 8);
  // Where a service keeps what a message is.
  if (size >= 8) bytes[7] = static_cast<std::byte>(random() % 2 == 0 ? 0 : (random() % 5) << 4);
  return bytes;
}

TEST_P(ServiceConformance, malformed_messages_of_every_length_end_their_sender_alone) {
  std::mt19937_64 random(5);
  std::size_t refused = 0, taken = 0;
  for (std::size_t size = 0; size <= wire::kMaxIdBytes; size += size < 64 ? 1 : 120) {
    for (int round = 0; round < 20; ++round) {
      anew();
      const std::uint64_t started = start_all(kPeer) + start_all(kOther);
      const std::size_t payload = random() % 2 == 0 ? 0 : random() % wire::kMaxPackedBytes;
      Coming coming{kPeer, random_bytes(random, size), random_bytes(random, payload), {}, 0, 0};
      if (round % 3 == 2) {
        coming.size_bytes = random() % 2 == 0 ? random() | 1 : 1 + random() % 300;
        coming.body = Bytes(std::min<std::uint64_t>(coming.size_bytes, random() % 200));
      }
      ++(port().deliver(coming) ? taken : refused);
      port().lose(kPeer);
      port().run_turns();
      driver().answer_all();
      driver().take();
      EXPECT_EQ(driver().over(), started);
      EXPECT_FALSE(driver().is_lost(kOther));
      expect_empty();
    }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(refused, taken);
}

// Answers of several peers, and of one in an order that no rank of this library has.
TEST_P(ServiceConformance, answers_in_any_order_end_each_operation_once) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    anew();
    std::uint64_t started = 0;
    for (int i = 0; i < 3; ++i) started += start_all(kPeer) + start_all(kOther);
    std::vector<Coming> answers;
    for (Said said; port().take(said);)
      if (auto coming = driver().answer(said)) answers.push_back(std::move(*coming));
    if (seed % 2 == 0) {
      std::shuffle(answers.begin(), answers.end(), random);
    } else {  // each peer's keep theirs
      std::stable_sort(answers.begin(), answers.end(),
                       [](const Coming& a, const Coming& b) { return a.from > b.from; });
    }
    for (const Coming& coming : answers) port().deliver(coming);
    if (seed % 2 != 0) {
      EXPECT_FALSE(driver().is_lost(kPeer) || driver().is_lost(kOther));
    }
    for (const Rank rank : {kPeer, kOther}) port().lose(rank);
    port().run_turns();
    driver().take();
    EXPECT_EQ(driver().over(), started);
    expect_empty();
  }
}

TEST_P(ServiceConformance, it_can_be_left_with_operations_under_way_and_is_answered_all_the_same) {
  const std::uint64_t started = start_all(kPeer) + start_all(kOther);
  arrive_all(kPeer);
  service().close();
  arrive_all(kOther);  // they do not know yet
  port().run_turns();
  driver().answer_all();
  driver().take();
  EXPECT_TRUE(service().is_idle());
  EXPECT_EQ(driver().over(), started);
  EXPECT_TRUE(port().holds_nothing());
  EXPECT_FALSE(driver().is_lost(kPeer) || driver().is_lost(kOther));
  expect_empty();
}

// An operation without memory is refused; a message without ends its sender; a turn goes on later.
TEST_P(ServiceConformance, memory_that_runs_out_anywhere_loses_nothing_without_a_word) {
  bool is_enough = false;
  for (int allowed = 0; !is_enough; ++allowed) {
    SCOPED_TRACE(allowed);
    ASSERT_LT(allowed, 5000);
    anew();
    const std::vector<Coming> arrivals = driver().arrivals(kPeer);
    std::uint64_t accepted = 0;
    int tries = 0;
    {
      const Shortage shortage(allowed);
      const auto attempt = [&](const auto& act) {
        try {
          act();
        } catch (const std::bad_alloc&) {
          ++tries;
        }
      };
      for (std::size_t kind = 0; kind < driver().kinds(); ++kind)
        attempt([&] {
          const ph_status status = driver().start(kind, kOther);
          if (status == PH_OK)
            ++accepted;
          else
            ++tries;
        });
      for (const Coming& coming : arrivals) attempt([&] { port().deliver(coming); });
      for (int i = 0; i < 20; ++i) attempt([&] { port().run_turns(); });
      attempt([&] { service().close(); });
      is_enough = tries == 0 && !driver().is_lost(kPeer);
    }
    port().run_turns();
    driver().answer_all();
    driver().take();
    EXPECT_EQ(driver().over(), accepted);
    EXPECT_FALSE(driver().is_lost(kOther));
    expect_empty();
  }
}

INSTANTIATE_TEST_SUITE_P(Services, ServiceConformance, testing::ValuesIn(all_services()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace photon::test
