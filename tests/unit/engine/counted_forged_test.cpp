// Counted records, withdrawals and names of fragments as nobody may send them: they end their peer
// or are dropped, and damage nothing else.
#include <functional>

#include "counted_unit.hpp"

namespace photon::engine::test {
namespace {

using wire::Kind;

constexpr std::uint64_t kHuge = ~std::uint64_t{0} / 3;

struct Forgery {
  const char* name;
  std::function<void(Initiator&)> write;
};

const std::vector<Forgery>& forged_records() {
  static const std::vector<Forgery> all = {
      {"a record that counts nothing", [](Initiator& a) { a.counted(0, 9); }},
      {"a record without an id", [](Initiator& a) { a.post(Kind::counted, {1}); }},
      {"a record of more fragments than can be", [](Initiator& a) { a.counted(1ull << 32, 9); }},
      {"a record of endless fragments", [](Initiator& a) { a.counted(kHuge, 9); }},
      {"a record of fewer fragments than have come",
       [](Initiator& a) {
         a.fragments(a.next_line(), 3);
         a.counted(2, 9);
       }},
      {"an id longer than the setting", [](Initiator& a) { a.counted(1, 9, 41); }},
      {"such an id whose fragments are here",
       [](Initiator& a) {
         a.fragments(a.next_line());
         a.counted(1, 9, 41);
       }},
      {"a withdrawal of a line that waits for nothing",
       [](Initiator& a) { a.withdraw(a.notify(7)); }},
      {"a withdrawal of what is ready",
       [](Initiator& a) {
         const auto line = a.counted(1, 7);
         a.fragments(line);
         a.withdraw(line);
       }},
      {"a second withdrawal",
       [](Initiator& a) {
         const auto line = a.counted(1, 9);
         a.withdraw(line);
         a.withdraw(line);
       }},
      {"a withdrawal of itself", [](Initiator& a) { a.withdraw(a.next_line()); }},
      {"a withdrawal of a line ahead",
       [](Initiator& a) {
         a.fragments(a.next_line() + 1);
         a.withdraw(a.next_line() + 1);
       }},
      {"a withdrawal of a line far ahead", [](Initiator& a) { a.withdraw(kHuge); }},
      {"a withdrawal of a line before the first",
       [](Initiator& a) { a.withdraw(a.counted(1, 9) - 64); }},
  };
  return all;
}

const std::vector<Forgery>& forged_imms() {
  static const std::vector<Forgery> all = {
      {"a fragment more than announced",
       [](Initiator& a) {
         const auto line = a.counted(1, 7);
         a.serve();
         a.fragments(line, 2);
       }},
      {"a fragment of a line that was read and counts nothing",
       [](Initiator& a) {
         const auto line = a.notify(7);
         a.serve();
         a.fragments(line);
       }},
      {"a fragment of a withdrawn record",
       [](Initiator& a) {
         const auto line = a.counted(2, 9);
         a.withdraw(line);
         a.serve();
         a.fragments(line);
       }},
      {"a fragment of a line that the ring cannot hold yet",
       [](Initiator& a) { a.fragments(a.next_line() + 64); }},
      {"a fragment of a line far away", [](Initiator& a) { a.fragments(1u << 29); }},
      {"fragments of two lines in one place",
       [](Initiator& a) {
         const auto line = a.counted(2, 9);
         a.serve();
         a.fragments(line + 64);
       }},
  };
  return all;
}

void expect_each_ends_its_sender(const std::vector<Forgery>& forgeries) {
  for (const Forgery& forged : forgeries) {
    SCOPED_TRACE(forged.name);
    Initiator peer;
    peer.notify(5);
    peer.counted(1, 6);
    peer.notify(7);
    peer.serve();
    forged.write(peer);
    peer.serve();
    EXPECT_TRUE(peer.is_cut_off());
    EXPECT_EQ(peer.ranks()[1].last_error().rank, 0u);
    peer.expect_the_friend_unharmed();
    const Ids found = peer.ids();
    ASSERT_GE(found.size(), 2u) << "what was complete stays readable";
    EXPECT_EQ(found[0], 5u);
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i], 7u) << "6 and 9 never came";
  }
}

TEST(CountedForged, every_forged_record_ends_its_sender_and_nothing_else) {
  expect_each_ends_its_sender(forged_records());
}

TEST(CountedForged, every_forged_name_ends_its_sender_and_nothing_else) {
  expect_each_ends_its_sender(forged_imms());
}

// The same events as they should be do no harm: the table above tests what it says.
TEST(CountedForged, a_last_line_that_the_ring_can_hold_may_have_fragments) {
  Initiator peer;
  peer.fragments(peer.next_line() + 63);
  EXPECT_FALSE(peer.is_cut_off());
}

TEST(CountedForged, names_of_ranks_that_are_not_there_are_dropped) {
  for (const Rank rank : {Rank{3}, Rank{1}}) {  // never met; ourselves, never met either
    Initiator peer;
    peer.tell(wire::ImmCodec(4).of(rank, 0));
    peer.tell(wire::ImmCodec(4).of(rank, 1u << 20));
    EXPECT_FALSE(peer.is_cut_off());
    peer.expect_the_friend_unharmed();
  }
}

TEST(CountedForged, names_of_ranks_beyond_the_job_are_dropped) {
  EngineGroup ranks(3, Ground::fake, counting());
  ranks.meet(0, 1);
  for (const std::uint32_t name : {0xc000'0000u, 0xffff'ffffu}) {
    ranks.net().seats[1].names.push_back(name);
    for (int i = 0; i < 10; ++i) ranks.turn();
  }
  ranks.meet(0, 1);
}

TEST(CountedForged, a_name_that_belongs_to_another_peer_ends_that_one_only) {
  Initiator peer;
  const std::uint64_t line = peer.counted(1, 6);
  peer.serve();
  peer.tell(wire::ImmCodec(4).of(2, 1u << 20));
  EXPECT_EQ(peer.ranks()[1].put(2, notice()), PH_ERR_PROTOCOL);
  EXPECT_FALSE(peer.is_cut_off());
  peer.fragments(line);
  EXPECT_EQ(peer.ids(), Ids{6});
}

TEST(CountedForged, where_no_fragment_is_named_counted_records_and_names_end_their_sender) {
  const std::vector<Forgery> all = {
      {"counted", [](Initiator& a) { a.counted(1, 9); }},
      {"withdrawn", [](Initiator& a) { a.withdraw(a.next_line() - 1); }},
      {"a name", [](Initiator& a) { a.fragments(a.next_line()); }}};
  for (const Forgery& forged : all) {
    SCOPED_TRACE(forged.name);
    Initiator peer(counting(false));
    peer.notify(5);
    forged.write(peer);
    peer.serve();
    EXPECT_TRUE(peer.is_cut_off());
    EXPECT_EQ(peer.ids(), Ids{5});
    peer.expect_the_friend_unharmed();
  }
}

}  // namespace
}  // namespace photon::engine::test
