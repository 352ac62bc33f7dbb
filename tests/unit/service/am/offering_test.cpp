#include <array>
#include <cstring>

#include "am_receiving_unit.hpp"
#include "service/am/am_sender.hpp"

namespace photon::service::am {
namespace {

using namespace test;

constexpr std::size_t kOver = 32769;

// A sender alone; what its target says the test says.
struct Offerer {
  AmPort port;
  Gates gates{FakePort::kSize, 4};
  std::unique_ptr<Sender> sender = std::make_unique<Sender>(port, gates);
  struct Ends : Service {
    explicit Ends(Sender& of) : sender(of) {}
    bool on_message(const Message&) override { return true; }
    void on_local(Rank to, std::uint64_t token, ph_status status) override {
      sender.on_local(to, token, status);
    }
    void on_room(Rank to) override { sender.on_room(to); }
    void on_lost(Rank rank, ph_status why) noexcept override { sender.on_lost(rank, why); }
    bool turn() override { return sender.turn(); }
    Sender& sender;
  } ends{*sender};
  Bytes payload = Bytes(kOver);

  Offerer() {
    port.settings.am_slots = 4;
    port.serve(ends);
  }
  ph_status send(std::uint32_t flags = 0, Asker asker = Asker::user) {
    ph_am_args args{};
    args.size = sizeof args;
    args.id = 3;
    args.flags = flags;
    args.payload = payload.data();
    args.payload_bytes = payload.size();
    args.header = "head";
    args.header_bytes = 4;
    args.immediate = 55;
    return sender->send(1, args, asker);
  }
  // The token of the next offer that goes; 0: none does.
  std::uint64_t taken() {
    Said said;
    if (!port.take(said)) return 0;
    const auto words = words_in(said.header);
    EXPECT_EQ(decode(words[0])->op, Op::pull);
    EXPECT_EQ(words.size(), 5u);
    EXPECT_EQ(words[1], kOver);
    EXPECT_EQ(words[4], 55u);
    std::array<SourceBlock, 1> table;
    EXPECT_EQ(said.payload.size(), sizeof table + 4);
    std::memcpy(table.data(), said.payload.data(), sizeof table);
    EXPECT_EQ(table[0].address, reinterpret_cast<std::uint64_t>(payload.data()));
    EXPECT_EQ(std::memcmp(said.payload.data() + sizeof table, "head", 4), 0);
    return words[2];
  }
  bool is_over() const {
    return port.holds_nothing() && sender->is_idle() && sender->held() == 0 &&
           sender->budget().used() == 0;
  }
};

TEST(Offering, a_byte_over_the_carried_is_told_with_its_table_and_header) {
  Offerer one;
  ASSERT_EQ(one.send(), PH_OK);
  EXPECT_EQ(one.port.told(), 0u) << "its payload is lent";
  EXPECT_FALSE(one.sender->is_idle());
  const std::uint64_t token = one.taken();
  ASSERT_TRUE(one.sender->handled(1, 1));
  EXPECT_EQ(one.port.told(), 0u);
  ASSERT_TRUE(one.sender->read(1, token));
  EXPECT_EQ(one.port.told(), 1u);
  ASSERT_TRUE(one.sender->done(1, token, 0));
  EXPECT_TRUE(one.is_over());
}

TEST(Offering, one_without_a_slot_waits_in_order_and_its_payload_stays_lent) {
  Offerer one;
  for (int i = 0; i < 6; ++i) ASSERT_EQ(one.send(), PH_OK);
  std::vector<std::uint64_t> tokens;
  for (std::uint64_t token = one.taken(); token != 0; token = one.taken()) tokens.push_back(token);
  ASSERT_EQ(tokens.size(), 4u);
  ASSERT_TRUE(one.sender->handled(1, 4));
  for (std::uint64_t token = one.taken(); token != 0; token = one.taken()) tokens.push_back(token);
  ASSERT_EQ(tokens.size(), 6u);
  for (const std::uint64_t token : tokens) EXPECT_TRUE(one.sender->done(1, token, 0));
  ASSERT_TRUE(one.sender->handled(1, 6));
  EXPECT_EQ(one.port.told(), 6u);
  EXPECT_TRUE(one.is_over());
}

TEST(Offering, of_1024_at_a_target_the_next_waits_for_the_end_of_one) {
  Offerer one;
  one.port.settings.am_slots = 4;
  std::uint64_t first = 0;
  std::vector<std::uint64_t> tokens;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    ASSERT_EQ(one.send(), PH_OK);
    tokens.push_back(one.taken());
    ASSERT_TRUE(one.sender->handled(1, i + 1));
  }
  ASSERT_EQ(one.send(), PH_OK);
  EXPECT_EQ(one.taken(), 0u) << "the target cuts off who has more";
  const Bytes small(8);
  ASSERT_EQ(one.sender->send_small(1, 3, {small.data(), 8}, Asker::user), PH_OK);
  EXPECT_EQ(one.port.waiting(), 0u) << "it has passed what waits";
  ASSERT_TRUE(one.sender->done(1, tokens[7], 0));
  first = one.taken();
  EXPECT_NE(first, 0u);
  EXPECT_EQ(one.port.waiting(), 1u) << "what was behind it has not gone";
  one.port.lose(1);
  EXPECT_EQ(one.port.told(), 1025u);
  EXPECT_TRUE(one.is_over());
}

TEST(Offering, a_promise_that_is_refused_leaves_nothing) {
  Offerer one;
  one.port.refuse(0);
  EXPECT_EQ(one.send(), PH_AGAIN);
  EXPECT_TRUE(one.is_over());
  EXPECT_EQ(one.port.told(), 0u);
}

TEST(Offering, those_of_handlers_count_in_the_queue_bytes_until_they_are_over) {
  Offerer one;
  ASSERT_EQ(one.send(PH_NO_LCE, Asker::handler), PH_OK);
  EXPECT_EQ(one.sender->budget().used(), 512u);
  const std::uint64_t token = one.taken();
  ASSERT_TRUE(one.sender->done(1, token, 0));
  ASSERT_TRUE(one.sender->handled(1, 1));
  EXPECT_TRUE(one.is_over());
}

TEST(Offering, the_request_of_one_that_cannot_be_exposed_keeps_its_value) {
  Offerer one;
  ph_request request = 77;
  ph_am_args args{};
  args.size = sizeof args;
  args.payload = one.payload.data();
  args.payload_bytes = one.payload.size();
  args.request = &request;
  one.port.exposes = PH_ERR_MEMORY;
  EXPECT_EQ(one.sender->send(1, args, Asker::user), PH_ERR_MEMORY);
  EXPECT_EQ(request, 77u);
  EXPECT_TRUE(one.port.holds_nothing());
}

// Wherever the target is lost: at each call that names it.
TEST(Offering, a_target_that_is_lost_anywhere_is_told_of_once) {
  for (std::uint64_t at = 1; at <= 6; ++at) {
    Offerer one;
    one.port.lose_inside(at);
    int accepted = 0;
    for (int i = 0; i < 6; ++i) accepted += one.send(PH_DELIVERED) == PH_OK ? 1 : 0;
    one.port.lose(1);
    one.port.run_turns();
    EXPECT_EQ(one.port.told(), static_cast<std::uint64_t>(accepted)) << "lost at " << at;
    EXPECT_TRUE(one.is_over()) << "lost at " << at;
  }
}

}  // namespace
}  // namespace photon::service::am
