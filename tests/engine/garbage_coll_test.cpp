// A peer that says of collective operations what it should not (garbage_test.cpp has the malformed
// records, tests/unit/service/coll/dispatch_test.cpp what the service makes of each word alone).
#include "attack.hpp"
#include "service/coll/collectives.hpp"

namespace photon::test {
namespace {

using service::coll::Blame;
using service::coll::Channels;
using service::coll::Collectives;
using service::coll::encode;
using service::coll::Head;
using service::coll::Name;
using service::coll::Op;
using service::coll::Operation;
using service::coll::OpState;
using service::coll::Team;

constexpr std::uint64_t kLargeCount = 3000;  // its bytes are read, not sent
constexpr std::uint64_t kSmallCount = 4;
constexpr std::uint32_t kBlameWords = sizeof(Blame) / sizeof(std::uint64_t);

// The victim has begun an allreduce of all three, which the friend has begun, too, and waits for a
// broadcast of the attacker's.
class CollAttack : public Attack {
 public:
  explicit CollAttack(Ground ground) : Attack(ground) {
    begin(kVictim, PH_COLL_ALLREDUCE, kLargeCount, in_, out_);
    begin(kFriend, PH_COLL_ALLREDUCE, kLargeCount, friends_in_, friends_out_);
    begin(kVictim, PH_COLL_BCAST, kSmallCount, in_, small_);
    serve_victim(20);
  }

  Collectives& collectives(Rank rank) {
    return *static_cast<Collectives*>(ranks()[rank].service(wire::Owner::coll));
  }
  Team& world(Rank rank) {
    Team* team = nullptr;
    EXPECT_EQ(collectives(rank).world(team), PH_OK);
    return *team;
  }
  void say(const std::vector<std::uint64_t>& words, std::uint32_t payload_words = 0) {
    const auto bytes =
        static_cast<std::uint32_t>((words.size() - payload_words) * sizeof(std::uint64_t));
    const auto payload = static_cast<std::uint32_t>(payload_words * sizeof(std::uint64_t));
    post(wire::encode(Kind::message, bytes, payload, wire::Owner::coll),
         wire::lines_for(Kind::message, bytes, payload), words);
  }
  void say_head(const Head& head, const std::vector<std::uint64_t>& more = {},
                std::uint32_t payload_words = 0) {
    const auto words = encode(head);
    std::vector<std::uint64_t> all(words.begin(), words.end());
    all.insert(all.end(), more.begin(), more.end());
    say(all, payload_words);
  }
  // The attacker is cut off for good: what the victim had begun is over, and nothing is kept.
  void expect_all_over() {
    say({~std::uint64_t{0}});  // if it was not cut off yet
    serve_victim();
    EXPECT_EQ(status_of_attacker(), PH_ERR_PROTOCOL);
    for (Operation* op : ops_) {
      ASSERT_EQ(op->state, OpState::over);
      EXPECT_LT(collectives(op->team->own).done(*op), PH_OK);
    }
    EXPECT_EQ(collectives(kVictim).held(), 0u);
    EXPECT_EQ(collectives(kFriend).held(), 0u);
  }
  void expect_unharmed() {
    for (const Guarded* one : {&in_, &out_, &small_, &friends_in_, &friends_out_})
      EXPECT_TRUE(one->guards_whole());
    EXPECT_TRUE(in_.untouched()) << "an input";
    expect_nothing_else_harmed();
    EXPECT_TRUE(memory().untouched());
  }

 private:
  void begin(Rank rank, ph_coll_kind kind, std::uint64_t count, Guarded& in, Guarded& out) {
    ph_coll_args args{};
    args.size = sizeof args;
    args.kind = kind;
    args.root = kAttacker;
    args.in = kind == PH_COLL_BCAST ? nullptr : in.bytes().data();
    args.out = out.bytes().data();
    args.count = count;
    args.type = PH_INT32;
    args.op = PH_OP_ADD;
    Operation* op = nullptr;
    ASSERT_EQ(collectives(rank).begin(world(rank), args, &op), PH_OK);
    ops_.push_back(op);
  }

  Guarded in_{4 * kLargeCount}, out_{4 * kLargeCount}, small_{4 * kSmallCount};
  Guarded friends_in_{4 * kLargeCount}, friends_out_{4 * kLargeCount};
  std::vector<Operation*> ops_;
};

struct ForgedColl {
  const char* name;
  std::function<void(CollAttack&)> write;
};

Head head_of(Op op, const Name& name = {}, std::uint32_t digest = 0) {
  return {static_cast<std::uint8_t>(op), name, digest};
}

class GarbageColl : public testing::TestWithParam<Ground> {};

// What no peer that keeps to the rules says.
std::vector<ForgedColl> malformed_words() {
  return {
      {"no such word", [](auto& a) { a.say_head(head_of(static_cast<Op>(0))); }},
      {"a word beyond all", [](auto& a) { a.say_head(head_of(static_cast<Op>(97))); }},
      {"no step", [](auto& a) { a.say({static_cast<std::uint64_t>(Op::payload)}); }},
      {"a payload with words", [](auto& a) { a.say_head(head_of(Op::payload), {1}); }},
      {"a short note",
       [](auto& a) {
         a.say_head(head_of(Op::ready), {8, 1});
       }},
      {"a note with a payload",
       [](auto& a) {
         a.say_head(head_of(Op::ready), {8, 1, 1, 0, 1}, 1);
       }},
      {"fewer bytes than it says",
       [](auto& a) {
         a.say({64 + 32, 0, 0, 1});
       }},
      {"more bytes than it says",
       [](auto& a) {
         a.say({64 + 8, 0, 0, 1, 2});
       }},
      {"taken, with more", [](auto& a) { a.say_head(head_of(Op::taken), {1}); }},
      {"a failure without words", [](auto& a) { a.say_head(head_of(Op::failed)); }},
      {"a failure that is none",
       [](auto& a) {
         a.say_head(head_of(Op::failed), std::vector<std::uint64_t>(kBlameWords), kBlameWords);
       }},
      {"the loss of nobody",
       [](auto& a) {
         std::vector<std::uint64_t> blame(kBlameWords);
         blame[0] = static_cast<std::uint32_t>(PH_ERR_PEER) | std::uint64_t{3} << 32;
         a.say_head(head_of(Op::broken), blame, kBlameWords);
       }},
      {"a short question", [](auto& a) { a.say_head(head_of(Op::differs), {1}, 1); }},
      {"a short question of a start", [](auto& a) { a.say_head(head_of(Op::lacks), {1}, 1); }},
      {"never, without words", [](auto& a) { a.say_head(head_of(Op::never)); }},
      {"absent, and well", [](auto& a) { a.say_head(head_of(Op::absent)); }},
  };
}

std::vector<ForgedColl> impossible_words() {
  const Name far{0, 0, 0, Team::kMostAhead + 8, 0};
  const Name further{0, 0, static_cast<std::uint32_t>(Channels::kMostAhead) + 1, 0, 0};
  return {
      {"credit that it never had",
       [](auto& a) {
         a.say_head(head_of(Op::credit, {0, 1, 0, 0, 0}));
       }},
      {"too far ahead", [far](auto& a) { a.say_head(head_of(Op::words, far)); }},
      {"too many prepared ones", [further](auto& a) { a.say_head(head_of(Op::words, further)); }},
      {"a note too far ahead",
       [far](auto& a) {
         a.say_head(head_of(Op::ready, far), {8, 1, 1, 0});
       }},
      {"a short meeting",
       [](auto& a) {
         a.say({static_cast<std::uint64_t>(Op::meet), 1});
       }},
      {"a slot that cannot be",
       [](auto& a) {
         a.say({static_cast<std::uint64_t>(Op::meet), 1, kHuge});
       }},
      {"a meeting's short end",
       [](auto& a) {
         a.say({static_cast<std::uint64_t>(Op::met), 1});
       }},
  };
}

TEST_P(GarbageColl, what_cannot_be_ends_its_sender) {
  std::vector<ForgedColl> all = malformed_words();
  for (const ForgedColl& one : impossible_words()) all.push_back(one);
  for (const ForgedColl& bad : all) {
    SCOPED_TRACE(bad.name);
    CollAttack attack(GetParam());
    bad.write(attack);
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    attack.expect_all_over();
    attack.expect_unharmed();
  }
}

// Each field of each word, one at a time, beside what the victim waits for.
TEST_P(GarbageColl, a_forged_field_harms_its_sender_alone) {
  constexpr std::uint64_t kValues[] = {0, 1, 2, 15, 16, 17, 0xffff, 0x40000, 0xffffff, 0xffffffff};
  const std::uint8_t ops[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 64, 64 + 16, 64 + 32};
  for (const std::uint8_t op : ops)
    for (int field = 0; field < 6; ++field) {
      SCOPED_TRACE(std::to_string(op) + ", field " + std::to_string(field));
      CollAttack attack(GetParam());
      for (const std::uint64_t value : kValues) {
        const auto forged = static_cast<std::uint32_t>(value);
        Head head{op, {}, 0};
        std::uint32_t* const fields[] = {&head.name.slot,     &head.name.number, &head.name.channel,
                                         &head.name.sequence, &head.name.tag,    &head.digest};
        *fields[field] = field == 0 ? forged & (service::coll::kMostSlots - 1) : forged;
        std::vector<std::uint64_t> more;
        std::uint32_t payload_words = 0;
        if (op > 64) more.resize((op - 64 + 7) / 8, value);
        if (op == 2) more = {value, value << 20, value, value};
        if (op == 9) more = {value};
        if (op == 1) more.resize(payload_words = 2, value);
        if (op >= 5 && op <= 7) more.resize(payload_words = 9, value);
        if (op == 12 || op == 13) more.resize(payload_words = 9, value);
        if (!more.empty() && payload_words == 9)
          more[0] = static_cast<std::uint32_t>(PH_ERR_DEPARTED) | std::uint64_t{value % 3} << 32;
        attack.say_head(head, more, payload_words);
        attack.serve_victim(10);
      }
      attack.expect_all_over();
      attack.expect_unharmed();
    }
}

// Bytes that are said to lie where nothing does are not read from there.
TEST_P(GarbageColl, a_note_of_memory_that_is_not_there_is_not_read) {
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, kHuge})
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{4096}, kHuge}) {
      CollAttack attack(GetParam());
      const std::uint32_t digest =
          attack.world(kVictim).under_way(0, 1)->plan.digest;  // of the broadcast
      attack.say_head(head_of(Op::ready, {0, 0, 0, 1, 0}, digest),
                      {4 * kSmallCount, address, key, 0});
      attack.serve_victim();
      attack.expect_all_over();
      attack.expect_unharmed();
    }
}

INSTANTIATE_TEST_SUITE_P(Grounds, GarbageColl,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
