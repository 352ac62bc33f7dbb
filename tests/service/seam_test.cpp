// The engine's side of the seam, seen by a service that does what a test wants: what it is shown of
// a peer that is lost meanwhile, in which order, and what comes again where memory ran out.
#include <functional>
#include <new>
#include <thread>

#include "engine/engine_group.hpp"
#include "engine/settings.hpp"
#include "fake_port.hpp"
#include "unit/shortage.hpp"

namespace photon::test {
namespace {

using service::Chunk;
using service::Message;
using service::Verdict;

// By rank of this thread's job: who makes one says what it does later.
class Scripted final : public service::Service {
 public:
  explicit Scripted(service::Port& port) : port(port) { all[port.rank()] = this; }
  ~Scripted() override { all.erase(port.rank()); }
  static std::unique_ptr<service::Service> make(service::Port& port) {
    return std::make_unique<Scripted>(port);
  }

  bool on_message(const Message& message) override {
    events += 'm';
    return !message_hook || message_hook(message);
  }
  Verdict on_chunk(const Chunk& chunk) override {
    events += 'c';
    return chunk_hook ? chunk_hook(chunk) : Verdict::taken;
  }
  void on_local(Rank, std::uint64_t, ph_status) override { events += 'l'; }
  void on_lost(Rank, ph_status) noexcept override { events += 'x'; }
  bool turn() override {
    events += 't';
    return turn_hook && turn_hook();
  }
  void collect() override {
    events += 'k';
    if (collect_hook) collect_hook();
  }
  void run() noexcept override {
    events += 'r';
    if (run_hook) run_hook();
  }

  service::Port& port;
  std::string events;
  std::function<bool(const Message&)> message_hook;
  std::function<Verdict(const Chunk&)> chunk_hook;
  std::function<bool()> turn_hook;
  std::function<void()> collect_hook;
  std::function<void()> run_hook;

  static thread_local std::map<Rank, Scripted*> all;
};
thread_local std::map<Rank, Scripted*> Scripted::all;

constexpr service::Kind kScripted[] = {{wire::Owner::echo, "scripted", Scripted::make}};

FakeOptions scripted_options() {
  FakeOptions options;
  options.services = kScripted;
  return options;
}

// Two ranks that have met, with a service each.
class Seam : public testing::TestWithParam<Ground> {
 protected:
  Seam() : ranks(2, GetParam(), scripted_options()) {
    ranks.meet(0, 1);
    for (const Rank rank : {Rank{0}, Rank{1}})
      static_cast<void>(ranks[rank].service(wire::Owner::echo));
  }
  static Scripted& at(Rank rank) { return *Scripted::all.at(rank); }
  // What was said leaves, and is there for the other one, who does not look.
  void say_to_0(std::size_t bytes, int count) {
    const Bytes header(bytes, std::byte{1});
    service::Saying what;
    what.to = 0;
    what.header = header;
    for (int i = 0; i < count; ++i) ASSERT_EQ(at(1).port.say(what), PH_OK);
    for (int i = 0; i < 50; ++i) ranks[1].serve();
  }
  void serve_0(bool quickly = false) {
    for (int i = 0; i < 300; ++i)
      if (!quickly || !ranks[0].quick_turn()) ranks[0].serve();
  }

  EngineGroup ranks;
};

TEST_P(Seam, nothing_more_is_shown_of_a_peer_that_is_lost_while_its_message_is_shown) {
  at(0).message_hook = [](const Message& message) {
    at(0).port.cut_off(message.from, "by a test");
    return true;
  };
  say_to_0(200, 3);  // of several lines
  serve_0();
  EXPECT_EQ(at(0).events, "mx");
}

TEST_P(Seam, nothing_more_is_shown_either_where_messages_of_one_line_are_taken_in_a_row) {
  at(0).message_hook = [](const Message& message) {
    at(0).port.cut_off(message.from, "by a test");
    return true;
  };
  say_to_0(16, 3);
  serve_0(true);
  EXPECT_EQ(at(0).events, "mx");
}

// However little is left, and whatever was under way.
TEST_P(Seam, a_peer_that_is_cut_off_without_memory_is_lost_whole) {
  if (GetParam() == Ground::sim) GTEST_SKIP() << "a simulated network needs memory to carry things";
  for (int i = 0; i < 24; ++i) {
    const int allowed = i / 2;
    const bool has_body = i % 2 != 0;  // else the message is taken the fast way
    EngineGroup two(2, GetParam(), scripted_options());
    two.meet(0, 1);
    for (const Rank rank : {Rank{0}, Rank{1}})
      static_cast<void>(two[rank].service(wire::Owner::echo));
    at(0).message_hook = [](const Message&) { return false; };
    const Bytes header(16, std::byte{1}), body(500'000, std::byte{2});
    service::Saying what;
    what.to = 1;
    what.header = header;
    if (has_body) {
      ASSERT_EQ(at(0).port.say_body(what, body, 7), PH_OK);
    }
    what.to = 0;
    ASSERT_EQ(at(1).port.say(what), PH_OK);
    for (int k = 0; k < 50; ++k) two[1].serve();
    {
      const Shortage shortage(allowed);
      for (int k = 0; k < 300 && at(0).events.empty(); ++k) {
        try {
          if (!two[0].quick_turn()) two[0].serve();
        } catch (const std::bad_alloc&) {
        }
      }
    }
    for (int k = 0; k < 300; ++k) two[0].serve();
    EXPECT_EQ(at(0).events, has_body ? "mxl" : "mx") << allowed;
    EXPECT_NE(at(0).port.state(1), PH_OK);
    EXPECT_EQ(two[0].resource_use().queued, 0u);
  }
}

TEST_P(Seam, the_end_of_a_body_is_told_before_what_answers_it) {
  at(1).chunk_hook = [](const Chunk& chunk) {
    service::Saying answer;
    answer.to = chunk.message.from;
    answer.header = chunk.message.header;
    EXPECT_EQ(at(1).port.say(answer), PH_OK);
    return Verdict::taken;
  };
  const Bytes header(8, std::byte{1}), body(300, std::byte{2});
  for (const bool quickly : {false, true}) {
    at(0).events.clear();
    service::Saying what;
    what.to = 1;
    what.header = header;
    ASSERT_EQ(at(0).port.say_body(what, body, 7), PH_OK);
    ranks[0].push_out();
    for (int i = 0; i < 300; ++i) ranks[1].serve();  // the answer is there, and nobody has looked
    serve_0(quickly);
    EXPECT_EQ(at(0).events, "lm");
  }
}

// Over each ground, with the user's own puts through the same ring, and a peer that keeps chunks.
TEST_P(Seam, room_that_a_service_fills_comes_whole_between_the_puts_of_the_user) {
  constexpr unsigned kCount = 300;
  Guarded memory(4096);
  const ph_region region = ranks.add(1, memory.bytes());
  const Bytes source = filled(1500, 99);
  std::vector<std::pair<Rank, std::uint64_t>> loans;
  unsigned came = 0, said = 0, put = 0, landed = 0;
  at(1).chunk_hook = [&](const Chunk& chunk) {
    EXPECT_EQ(chunk.size_bytes, 1 + came * 37 % 2000);
    EXPECT_TRUE(chunk.is_last());
    EXPECT_EQ(first_difference(chunk.bytes, came), chunk.bytes.size());
    if (came++ % 3 != 0) return Verdict::taken;
    loans.emplace_back(chunk.message.from, chunk.loan);
    return Verdict::kept;
  };
  const Bytes header(24, std::byte{1});
  const std::uint64_t id = 5;
  EXPECT_TRUE(ranks.eventually([&] {
    const std::uint64_t bytes = 1 + said * 37 % 2000;
    std::span<std::byte> room;
    service::Port& port = at(0).port;
    if (said < kCount && port.reserve(1, bytes, room) == PH_OK) {
      port.fill(1, room.data(), filled(bytes, said));
      service::Saying what;
      what.to = 1;
      what.header = header;
      if (port.commit(what, bytes) == PH_OK)
        ++said;
      else
        port.cancel_room(1);
    }
    if (put < kCount && ranks[0].put(1, put_args(source, ph_at(&region, 0), id, id)) == PH_OK)
      ++put;
    for (const auto& [rank, loan] : loans) at(1).port.give_back(rank, loan);
    loans.clear();
    landed += static_cast<unsigned>(ranks.probe(1, PH_REMOTE).size());
    static_cast<void>(ranks.probe(0, PH_LOCAL));
    return came == kCount && landed == kCount;
  }));
  EXPECT_EQ(said, kCount);
  EXPECT_EQ(first_difference(memory.bytes().first(1500), 99), 1500u);
  EXPECT_EQ(ranks[0].resource_use().queued, 0u);
}

TEST_P(Seam, a_turn_that_finds_no_memory_comes_again) {
  at(0).turn_hook = [] {
    if (at(0).events == "t") throw std::bad_alloc();
    return false;
  };
  at(0).port.wants_turn();
  EXPECT_THROW(ranks[0].serve(), std::bad_alloc);
  serve_0();
  EXPECT_EQ(at(0).events, "tt");
}

TEST_P(Seam, user_code_that_finds_no_memory_is_run_later) {
  at(0).collect_hook = [] {
    if (at(0).events == "k") throw std::bad_alloc();
  };
  at(0).port.wants_run();
  engine::LaneGuard guard(ranks.lane(0));
  EXPECT_THROW(ranks[0].run_user_code(guard), std::bad_alloc);
  ASSERT_TRUE(ranks[0].owes_services());
  ranks[0].run_user_code(guard);
  EXPECT_EQ(at(0).events, "kkr");
  EXPECT_FALSE(ranks[0].owes_services());
}

TEST_P(Seam, what_fails_for_a_service_leaves_the_words_of_the_user_alone) {
  EXPECT_EQ(ranks[0].notify(9, 1), PH_ERR_RANK);
  const std::string before = ranks[0].last_error().what;
  const Bytes header(8, std::byte{1});
  service::Saying what;
  what.to = 7;
  what.header = header;
  EXPECT_EQ(at(0).port.say(what), PH_ERR_RANK);
  EXPECT_EQ(at(0).port.say_body(what, header, 1), PH_ERR_RANK);
  EXPECT_EQ(at(0).port.contact(7), PH_ERR_RANK);
  EXPECT_NE(at(0).port.last_error().what.find("no rank 7"), std::string::npos);
  EXPECT_EQ(ranks[0].last_error().what, before);
}

TEST_P(Seam,
       what_fails_inside_the_users_code_is_told_there_and_leaves_the_words_of_the_call_alone) {
  const auto words = [&] { return ranks[0].last_error().what; };
  at(0).run_hook = [&] {
    EXPECT_NE(words().find("no rank 8"), std::string::npos) << "nothing has failed here yet";
    for (const Rank rank : {Rank{9}, Rank{10}}) {
      EXPECT_EQ(ranks[0].notify(rank, 1), PH_ERR_RANK);
      EXPECT_NE(words().find("no rank " + std::to_string(rank)), std::string::npos);
    }
  };
  engine::LaneGuard guard(ranks.lane(0));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(ranks[0].notify(8, 1), PH_ERR_RANK);
    at(0).port.wants_run();
    ranks[0].run_user_code(guard);
    EXPECT_NE(words().find("no rank 8"), std::string::npos) << words();
  }
  // An error that another thread meets meanwhile is the latest, and stays.
  at(0).run_hook = [&] {
    EXPECT_EQ(ranks[0].notify(9, 1), PH_ERR_RANK);
    std::thread([&] {
      const engine::LaneGuard inside(ranks.lane(0));
      EXPECT_EQ(ranks[0].notify(11, 1), PH_ERR_RANK);
    }).join();
  };
  at(0).port.wants_run();
  ranks[0].run_user_code(guard);
  EXPECT_NE(words().find("no rank 11"), std::string::npos) << words();
}

INSTANTIATE_TEST_SUITE_P(Grounds, Seam, testing::Values(Ground::fake, Ground::shm, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
