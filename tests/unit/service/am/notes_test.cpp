// What is to be said of messages that have gone: once each, and without memory.
#include "service/am/notes.hpp"

#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

using Tolds = std::vector<Told>;

struct Noting {
  Noting() { port.serve(half); }

  void add(std::uint64_t number, Note::Kind kind, std::uint64_t value) {
    notes.expect();
    notes.add(number, {kind, false, value});
  }
  void add_promise(std::uint64_t number, std::uint64_t id, bool is_beyond = false) {
    UserEnd end;
    end.local = {&id, sizeof id};
    notes.expect();
    notes.add(number, teller.promised(port.promise(end), is_beyond));
  }
  void settle(std::uint64_t known) { notes.settle(1, known, teller); }

  AmPort port;
  Gates gates{4, 8};
  Half half{port, gates};
  Budget budget{1 << 20};
  Teller teller{port, budget};
  Notes notes{8};
};

TEST(AmNotes, a_count_ends_all_below_it_once) {
  Noting one;
  one.add_promise(0, 10);
  one.add(2, Note::Kind::id, 12);
  one.add_promise(3, 13, true);
  EXPECT_EQ(one.teller.promises(), 2u);
  EXPECT_EQ(one.budget.used(), Note::kPromiseBytes) << "of the one made in a handler";
  one.settle(0);
  EXPECT_EQ(one.port.told, Tolds{});
  one.settle(3);
  EXPECT_EQ(one.port.told, (Tolds{{10, PH_OK}})) << "an id is told of errors alone";
  one.settle(4);
  one.settle(4);
  EXPECT_EQ(one.port.told, (Tolds{{10, PH_OK}, {13, PH_OK}}));
  EXPECT_EQ(one.port.late, Tolds{});
  EXPECT_TRUE(one.notes.empty());
  EXPECT_TRUE(one.port.holds_nothing());
  EXPECT_EQ(one.budget.used(), 0u);
}

TEST(AmNotes, one_that_was_taken_is_not_told_again) {
  Noting one;
  one.add_promise(1, 10);
  one.add(4, Note::Kind::id, 14);
  one.add_promise(5, 15);
  EXPECT_EQ(one.notes.find(2).kind, Note::Kind::none);
  EXPECT_EQ(one.notes.find(4).value, 14u);
  EXPECT_EQ(one.notes.find(6).kind, Note::Kind::none);
  one.teller.end(1, one.notes.take(5), PH_ERR_RANGE, "why");
  one.teller.end(1, one.notes.take(4), PH_ERR_KEY, "why");
  EXPECT_EQ(one.notes.take(4).kind, Note::Kind::none) << "a second time";
  one.settle(9);
  EXPECT_EQ(one.port.told, (Tolds{{15, PH_ERR_RANGE}, {10, PH_OK}}));
  EXPECT_EQ(one.port.late, (Tolds{{14, PH_ERR_KEY}}));
}

TEST(AmNotes, a_loss_ends_promises_and_tells_ids_only_where_they_may_be_missed) {
  for (const bool tells_ids : {false, true}) {
    Noting one;
    one.add_promise(0, 10);
    one.add(1, Note::Kind::id, 11);
    one.add(2, Note::Kind::pull, 12);
    one.add(3, Note::Kind::aggregate, 5);
    one.notes.lose(1, PH_ERR_PEER, tells_ids, one.teller);
    EXPECT_EQ(one.port.told, (Tolds{{10, PH_ERR_PEER}}));
    EXPECT_EQ(one.port.late, tells_ids ? (Tolds{{11, PH_ERR_PEER}}) : Tolds{});
    EXPECT_TRUE(one.notes.empty());
    EXPECT_TRUE(one.port.holds_nothing());
  }
}

TEST(AmNotes, while_the_lane_closes_an_error_is_unheard) {
  Noting one;
  one.add(0, Note::Kind::id, 10);
  one.teller.close();
  one.teller.end(1, one.notes.take(0), PH_ERR_RANGE, "why");
  EXPECT_EQ(one.port.late, Tolds{});
  EXPECT_EQ(one.port.unheard, (std::vector<ph_status>{PH_ERR_RANGE}));
}

// What was expected may go when no memory is left, in any mixture of what has gone and what waits.
TEST(AmNotes, what_was_expected_needs_no_memory) {
  Noting one;
  std::uint64_t next = 0;
  std::uint64_t known = 0;
  std::uint64_t waiting = 0;
  for (std::uint64_t step = 0; step < 400; ++step) {
    if (waiting < 20) {
      one.notes.expect();
      ++waiting;
    }
    const photon::test::Shortage shortage(0);
    if (step % 3 == 0) {
      known = std::min(next, known + step % 7);
      one.settle(known);
    }
    if (waiting > step % 20 && next - known < 8) {
      one.notes.add(next++, {Note::Kind::id, false, step});
      --waiting;
    }
  }
  EXPECT_GT(next, 100u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
