// A peer that says of active messages what it should not: each op, forged in every field, ends its
// sender and nothing else (tests/unit/service/am/am_arriving_test.cpp has what the service makes of
// each alone).
#include "attack.hpp"
#include "service/am/am.hpp"

namespace photon::test {
namespace {

using service::am::Am;
using AmOp = service::am::Op;
using AmWord = service::am::Word;

constexpr std::uint32_t kAmId = 1;  // it has a handler at the victim
constexpr std::uint64_t kAmError = static_cast<std::uint64_t>(std::int64_t{PH_ERR_RANGE});

std::uint64_t am_word(AmOp op, std::uint8_t flags = 0, std::uint16_t header_bytes = 0,
                      std::uint16_t handled = 0) {
  const auto id = static_cast<std::uint16_t>(op < AmOp::aggregate ? kAmId : 0);
  return service::am::encode(AmWord{op, flags, id, header_bytes, handled});
}

// The victim has sent two messages to the attacker, who was to tell that they were handled.
class AmAttack : public Attack {
 public:
  explicit AmAttack(Ground ground) : Attack(ground) {
    Am& am = victim();
    EXPECT_EQ(am.enroll(kAmId, count, &handled_), PH_OK);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(am.send_small(kAttacker, kAmId, {}), PH_OK);
    EXPECT_EQ(am.send_small(kFriend, kAmId, {}), PH_OK);
  }
  Am& victim() { return *static_cast<Am*>(ranks()[kVictim].service(wire::Owner::am)); }

  void say(const std::vector<std::uint64_t>& header, std::vector<std::uint64_t> payload = {},
           std::uint32_t payload_bytes = 0) {
    if (payload_bytes == 0) payload_bytes = bytes_in(payload);
    std::vector<std::uint64_t> all = header;
    all.insert(all.end(), payload.begin(), payload.end());
    post(wire::encode(Kind::message, bytes_in(header), payload_bytes, wire::Owner::am),
         wire::lines_for(Kind::message, bytes_in(header), payload_bytes), all);
  }
  void say_chunk(const std::vector<std::uint64_t>& header, std::uint64_t size_bytes,
                 std::uint64_t offset, std::uint64_t bytes, std::uint64_t flags) {
    std::vector<std::uint64_t> all{size_bytes, offset, bytes | flags};
    all.insert(all.end(), header.begin(), header.end());
    post(wire::encode(Kind::body, bytes_in(header), 0, wire::Owner::am), 1, all);
  }
  // So many messages of its have been handled.
  int handled() {
    serve_victim();
    for (int i = 0; i < 4; ++i) {
      victim().collect();
      victim().run();
      victim().ran();
    }
    return handled_;
  }

 private:
  static std::uint32_t bytes_in(const std::vector<std::uint64_t>& words) {
    return static_cast<std::uint32_t>(words.size() * sizeof(std::uint64_t));
  }
  static ph_status count(void* user, const ph_am_message*, ph_am_landing*) {
    ++*static_cast<int*>(user);
    return PH_OK;
  }
  int handled_ = 0;
};

struct ForgedAm {
  const char* name;
  std::function<void(AmAttack&)> say;
};

constexpr std::uint64_t kWholeBody = wire::kBulkFirst | wire::kBulkLast;
const std::vector<std::uint64_t> kFiveWords(5);

const std::vector<ForgedAm> kForgedLines = {
    {"no op", [](AmAttack& a) { a.say({0}); }},
    {"an op between", [](AmAttack& a) { a.say({9}); }},
    {"an op beyond", [](AmAttack& a) { a.say({24}); }},
    {"an unknown flag", [](AmAttack& a) { a.say({am_word(AmOp::line, 16)}); }},
    {"a long header", [](AmAttack& a) { a.say({am_word(AmOp::line, 0, 4097)}); }},
    {"a missing header",
     [](AmAttack& a) {
       a.say({am_word(AmOp::line, 0, 9), 0});
     }},
    {"a missing immediate", [](AmAttack& a) { a.say({am_word(AmOp::line, 1)}); }},
    {"a line with a payload", [](AmAttack& a) { a.say({am_word(AmOp::line)}, kFiveWords); }},
    {"a line beyond a line",
     [](AmAttack& a) {
       a.say({am_word(AmOp::line), 0, 0, 0, 0, 0, 0, 0});
     }},
    {"a reply unasked", [](AmAttack& a) { a.say({am_word(AmOp::line, 4)}); }},
    {"a reply that wants one", [](AmAttack& a) { a.say({am_word(AmOp::line, 6)}); }},
    {"too much handled", [](AmAttack& a) { a.say({am_word(AmOp::line, 0, 0, 3)}); }},
    {"less handled than before",
     [](AmAttack& a) {
       a.say({am_word(AmOp::line, 0, 0, 2)});
       a.say({am_word(AmOp::line, 0, 0, 1)});
     }},
    {"more than its slots",
     [](AmAttack& a) {
       for (int i = 0; i < 129; ++i) {
         a.say({am_word(AmOp::line)});
         if (i % 16 == 0) a.serve_victim(4);
       }
     }},
};

const std::vector<ForgedAm> kForgedBodies = {
    {"a record without its size", [](AmAttack& a) { a.say({am_word(AmOp::record)}, kFiveWords); }},
    {"a record that is too short",
     [](AmAttack& a) {
       a.say({am_word(AmOp::record), 41}, kFiveWords);
     }},
    {"a record that is too long",
     [](AmAttack& a) {
       a.say({am_word(AmOp::record), 39}, kFiveWords);
     }},
    {"a record of a huge size",
     [](AmAttack& a) {
       a.say({am_word(AmOp::record), kHuge}, kFiveWords);
     }},
    {"a record that wraps",
     [](AmAttack& a) {
       a.say({am_word(AmOp::record, 0, 48), ~std::uint64_t{7}}, kFiveWords);
     }},
    {"a record with words too many",
     [](AmAttack& a) {
       a.say({am_word(AmOp::record), 40, 0, 0}, kFiveWords);
     }},
    {"a body that is a record",
     [](AmAttack& a) {
       a.say({am_word(AmOp::body), 40}, kFiveWords);
     }},
    {"a record that is a body",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::record), 64}, 64, 0, 64, kWholeBody);
     }},
    {"a body without words", [](AmAttack& a) { a.say_chunk({}, 64, 0, 64, kWholeBody); }},
    {"a body of another size",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::body), 63}, 64, 0, 64, kWholeBody);
     }},
    {"a body of a huge size",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::body), kHuge}, kHuge, 0, 64, wire::kBulkFirst);
     }},
    {"a body beyond what is carried",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::body), 32769}, 32769, 0, 64, wire::kBulkFirst);
     }},
    {"a body whose rest does not come",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::body), 128}, 128, 0, 64, wire::kBulkFirst);
       a.say_chunk({}, 128, 64, 0, wire::kBulkLast);
     }},
    {"a chunk that has words again",
     [](AmAttack& a) {
       a.say_chunk({am_word(AmOp::body), 128}, 128, 0, 64, wire::kBulkFirst);
       a.say_chunk({am_word(AmOp::body), 128}, 128, 64, 64, wire::kBulkLast);
     }},
};

const std::vector<ForgedAm> kForgedAnswers = {
    {"a pull of no words", [](AmAttack& a) { a.say({am_word(AmOp::pull)}); }},
    {"an aggregate of no words", [](AmAttack& a) { a.say({am_word(AmOp::aggregate)}); }},
    {"credit of nothing", [](AmAttack& a) { a.say({am_word(AmOp::credit)}); }},
    {"credit with two words",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit), 1, 1});
     }},
    {"credit beyond what was sent",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit), 3});
     }},
    {"credit that goes back",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit), 2});
       a.say({am_word(AmOp::credit), 1});
     }},
    {"credit with a payload",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit), 1}, kFiveWords);
     }},
    {"credit with bits",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit) | 1 << 8, 1});
     }},
    {"a refusal without its words",
     [](AmAttack& a) {
       a.say({am_word(AmOp::refused), 0});
     }},
    {"a refusal of what was not sent",
     [](AmAttack& a) {
       a.say({am_word(AmOp::refused), 2, kAmError, 0});
     }},
    {"a refusal with no error",
     [](AmAttack& a) {
       a.say({am_word(AmOp::refused), 0, 0, 0});
     }},
    {"a refusal with no status",
     [](AmAttack& a) {
       a.say({am_word(AmOp::refused), 0, kHuge, 0});
     }},
    {"a refusal of what was handled",
     [](AmAttack& a) {
       a.say({am_word(AmOp::credit), 1});
       a.say({am_word(AmOp::refused), 0, kAmError, 0});
     }},
    {"a second refusal",
     [](AmAttack& a) {
       a.say({am_word(AmOp::refused), 0, kAmError, 0});
       a.say({am_word(AmOp::refused), 0, kAmError, 0});
     }},
    {"no reply to nothing",
     [](AmAttack& a) {
       a.say({am_word(AmOp::unreplied), 1});
     }},
    {"no reply, of none",
     [](AmAttack& a) {
       a.say({am_word(AmOp::unreplied), 0});
     }},
    {"no reply, of a huge number",
     [](AmAttack& a) {
       a.say({am_word(AmOp::unreplied), kHuge});
     }},
    {"a read of nothing",
     [](AmAttack& a) {
       a.say({am_word(AmOp::read), 7});
     }},
    {"a done of nothing",
     [](AmAttack& a) {
       a.say({am_word(AmOp::done), 7, 0});
     }},
    {"an up of no words", [](AmAttack& a) { a.say({am_word(AmOp::up)}); }},
    {"a down of no words", [](AmAttack& a) { a.say({am_word(AmOp::down)}); }},
    {"a broken of no words", [](AmAttack& a) { a.say({am_word(AmOp::broken)}); }},
};

class GarbageAm : public testing::TestWithParam<Ground> {};

// Each of them ends its sender, and leaves nothing behind.
void expect_ended(Ground ground, const std::vector<ForgedAm>& all) {
  for (const ForgedAm& one : all) {
    SCOPED_TRACE(one.name);
    AmAttack attack(ground);
    attack.serve_victim(20);
    ASSERT_EQ(attack.status_of_attacker(), PH_OK);
    one.say(attack);
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    attack.handled();
    attack.serve_victim();
    EXPECT_EQ(attack.victim().held(), 0u);
  }
}

TEST_P(GarbageAm, each_forged_line_ends_its_sender) { expect_ended(GetParam(), kForgedLines); }
TEST_P(GarbageAm, each_forged_body_ends_its_sender) { expect_ended(GetParam(), kForgedBodies); }
TEST_P(GarbageAm, each_forged_answer_ends_its_sender) { expect_ended(GetParam(), kForgedAnswers); }

TEST_P(GarbageAm, what_is_right_is_handled_and_then_garbage_harms_nobody) {
  AmAttack attack(GetParam());
  attack.say({am_word(AmOp::line)});
  attack.say({am_word(AmOp::record), 40}, std::vector<std::uint64_t>(5));
  attack.say_chunk({am_word(AmOp::body), 128}, 128, 0, 64, wire::kBulkFirst);
  attack.say_chunk({}, 128, 64, 64, wire::kBulkLast);
  attack.say({am_word(AmOp::refused), 0, kAmError, 0});
  attack.say({am_word(AmOp::credit), 2});
  EXPECT_EQ(attack.handled(), 3);
  EXPECT_EQ(attack.status_of_attacker(), PH_OK);
  attack.say({am_word(AmOp::credit), 3});
  attack.serve_victim();
  EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
  attack.expect_nothing_else_harmed();
}

INSTANTIATE_TEST_SUITE_P(Grounds, GarbageAm,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
