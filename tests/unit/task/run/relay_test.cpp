#include "task/run/relay.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "forked_job.hpp"
#include "task/api/checks.hpp"
#include "task/run/sends.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskRelay, the_own_copy_is_met_before_what_is_sent_to_itself_later) {
  TaskJob job(1, 3);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> mine;
    std::uint64_t met = 0;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      if (ph_task_source(message) == place.pe) mine.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      if (++met == 4) ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_EQ(ph_task_broadcast(pe, make(pe, number, 1), PH_TASK_WITH_SELF), PH_OK);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 2)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(mine, (std::vector<std::uint64_t>{1, 2}));
  });
}

struct Case {
  std::uint32_t processes, pes, flags;
  std::uint64_t size_bytes;
};

// Every PE broadcasts once; then what has come is compared with what had to.
void broadcast_by_all(const Case& one) {
  SCOPED_TRACE(testing::Message() << one.processes << " x " << one.pes << ", flags " << one.flags
                                  << ", " << one.size_bytes << " bytes");
  const std::uint32_t pes = one.processes * one.pes;
  const bool to_processes = (one.flags & PH_TASK_TO_PROCESSES) != 0;
  const bool with_self = (one.flags & PH_TASK_WITH_SELF) != 0;
  std::vector<std::vector<std::uint64_t>> met(pes, std::vector<std::uint64_t>(pes));
  TaskJob job(one.processes, one.pes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t told = 0;
    // PE 0 counts what has come anywhere; when it is all, it stops all.
    const std::uint64_t targets = to_processes ? one.processes : pes;
    const std::uint64_t expected = pes * (targets - (with_self ? 0 : 1));
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      const std::uint64_t source = value_of(message);
      EXPECT_EQ(ph_task_source(message), source);
      EXPECT_EQ(ph_task_size(message), one.size_bytes);
      EXPECT_EQ(static_cast<char*>(ph_task_body(message))[one.size_bytes - 1], 'z');
      ++met[place.pe][source];
      ph_task_set_handler(message, 1);
      EXPECT_EQ(ph_task_send(me, 0, message), PH_OK);
    };
    Function count = [&](ph_task_pe* me, ph_task_message* message) {
      if (++told != expected) {
        ph_task_free(me, message);
        return;
      }
      ph_task_set_handler(message, 2);
      EXPECT_EQ(ph_task_broadcast(me, message, PH_TASK_WITH_SELF), PH_OK);
    };
    Function stop = [](ph_task_pe* me, ph_task_message* message) {
      ph_task_free(me, message);
      ph_task_stop(me);
    };
    enroll(pe, take);
    enroll(pe, count);
    enroll(pe, stop);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ph_task_message* message = make(pe, 0, place.pe, one.size_bytes);
    static_cast<char*>(ph_task_body(message))[one.size_bytes - 1] = 'z';
    ASSERT_EQ(ph_task_broadcast(pe, message, one.flags | PH_TASK_KEEP), PH_OK);
    EXPECT_EQ(value_of(message), place.pe);
    ASSERT_EQ(ph_task_free(pe, message), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  for (std::uint32_t source = 0; source < pes; ++source)
    for (std::uint32_t process = 0; process < one.processes; ++process) {
      std::uint64_t of_process = 0;
      for (std::uint32_t pe = process * one.pes; pe < (process + 1) * one.pes; ++pe) {
        of_process += met[pe][source];
        if (!to_processes) {
          EXPECT_EQ(met[pe][source], pe != source || with_self ? 1u : 0u);
        }
      }
      const bool is_own = source / one.pes == process;
      if (to_processes) {
        EXPECT_EQ(of_process, !is_own || with_self ? 1u : 0u);
      }
    }
}

TEST(TaskRelay, a_broadcast_reaches_each_pe_or_process_once) {
  const std::uint32_t self = PH_TASK_WITH_SELF, processes = PH_TASK_TO_PROCESSES;
  for (const std::uint32_t flags : {0u, self, processes, self | processes})
    for (const std::uint64_t size_bytes : {9u, 5'000u, 100'000u}) {
      if (flags != processes) broadcast_by_all({1, 3, flags, size_bytes});
      broadcast_by_all({2, 2, flags, size_bytes});
    }
  broadcast_by_all({6, 1, self, 64});  // a tree of two levels
}

// By a list and by a group, from every PE at the same time; sizes that are carried and that are
// lent.
struct Listed {
  std::uint32_t processes, pes;
  std::uint64_t size_bytes;
  bool by_group;
};

void send_by_lists(const Listed& one) {
  SCOPED_TRACE(testing::Message() << one.processes << " x " << one.pes << ", " << one.size_bytes
                                  << " bytes" << (one.by_group ? ", groups" : ""));
  constexpr std::uint64_t kEach = 3;
  const std::uint32_t pes = one.processes * one.pes;
  const auto is_listed = [](std::uint32_t source, std::uint32_t pe) {
    return (source * 7 + pe * 5) % 3 != 0;
  };
  TaskJob job(one.processes, one.pes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> met(pes);
    std::uint64_t left = 0;
    for (std::uint32_t source = 0; source < pes; ++source)
      left += is_listed(source, place.pe) ? kEach : 0;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      const std::uint32_t source = ph_task_source(message);
      ASSERT_LT(source, pes);
      EXPECT_TRUE(is_listed(source, place.pe));
      EXPECT_EQ(value_of(message) / kEach, source);
      EXPECT_EQ(ph_task_size(message), one.size_bytes);
      EXPECT_EQ(static_cast<char*>(ph_task_body(message))[one.size_bytes - 1], 'z');
      ++met[source];
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      if (--left == 0) ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    std::vector<std::uint32_t> listed;
    for (std::uint32_t to = pes; to-- != 0;)
      if (is_listed(place.pe, to)) listed.push_back(to);
    const ph_task_list list{sizeof list, listed.data(), listed.size()};
    std::uint32_t group = 0;
    ASSERT_EQ(ph_task_group(pe, &list, &group), PH_OK);
    ph_task_message* message = make(pe, number, 0, one.size_bytes);
    static_cast<char*>(ph_task_body(message))[one.size_bytes - 1] = 'z';
    for (std::uint64_t i = 0; i < kEach; ++i) {
      const std::uint64_t value = place.pe * kEach + i;
      std::memcpy(ph_task_body(message), &value, sizeof value);
      const std::uint32_t flags = i + 1 == kEach ? 0 : PH_TASK_KEEP;
      ASSERT_EQ(one.by_group ? ph_task_multicast(pe, group, message, flags)
                             : ph_task_send_list(pe, &list, message, flags),
                PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, left == 0 ? 0 : -1, nullptr), PH_OK);
    for (std::uint32_t source = 0; source < pes; ++source)
      EXPECT_EQ(met[source], is_listed(source, place.pe) ? kEach : 0) << source;
  });
}

TEST(TaskRelay, a_list_or_a_group_reaches_each_of_its_pes_once) {
  for (const bool by_group : {false, true}) {
    for (const std::uint64_t size_bytes : {9u, 5'003u, 100'001u}) {
      send_by_lists({1, 3, size_bytes, by_group});
      send_by_lists({3, 2, size_bytes, by_group});
    }
    send_by_lists({8, 1, 64, by_group});  // a tree of two levels
  }
}

// So many PEs are no list that one carried message holds.
TEST(TaskRelay, a_group_whose_list_takes_several_messages_is_known_before_its_first_use) {
  constexpr std::uint32_t kProcesses = 6, kPes = 60;
  TaskJob job(kProcesses, kPes,
              {{"am_carried_max", "1024"}, {"am_aggregate_bytes", "1024"}, {"max_lanes", "64"}});
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t met = 0;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      ++met;
      ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 5) {
      std::vector<std::uint32_t> listed;
      for (std::uint32_t to = 0; to < place.pes; ++to) listed.push_back(to);
      const ph_task_list list{sizeof list, listed.data(), listed.size()};
      std::uint32_t group = 0;
      ASSERT_EQ(ph_task_group(pe, &list, &group), PH_OK);
      ASSERT_EQ(ph_task_multicast(pe, group, make(pe, number, 0), 0), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(met, 1u);
  });
}

RelayFront sound_front() {
  return {.body_bytes = 8,
          .root = 1,
          .flags = 0,
          .source = 1,
          .handler = 0,
          .group = 0,
          .pes = 0,
          .processes = 0,
          .zero = {}};
}

// A peer sends whatever it likes: PE 1, one message of the kind with each body, and a good one.
void expect_refused(Kind kind, const std::vector<std::vector<std::byte>>& bodies) {
  TaskJob job(3, 1);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> met;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      met.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 1) {
      Pe& me = of(pe);
      for (const std::vector<std::byte>& body : bodies) {
        Message* message = me.pool().alloc(body.size());
        if (!body.empty()) std::memcpy(body_of(*message), body.data(), body.size());
        message->wire.kind = kind;
        ASSERT_EQ(me.machine().send(*message, 0), PH_OK);
      }
      for (const std::uint32_t to : {0u, 2u})
        ASSERT_EQ(ph_task_send(pe, to, make(pe, number, 99)), PH_OK);
      return;
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(met, (std::vector<std::uint64_t>{99}));
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(met.size(), 1u);
  });
}

std::vector<std::byte> bytes_of(const void* front, std::size_t front_bytes,
                                const std::vector<std::uint32_t>& numbers,
                                std::size_t body_bytes = 0) {
  std::vector<std::byte> bytes(front_bytes + body_bytes + 4 * numbers.size());
  std::memcpy(bytes.data(), front, front_bytes);
  if (!numbers.empty())
    std::memcpy(bytes.data() + front_bytes + body_bytes, numbers.data(), 4 * numbers.size());
  return bytes;
}

TEST(TaskRelay, a_forged_front_is_refused) {
  std::vector<std::vector<std::byte>> bodies = {{}, std::vector<std::byte>(63)};
  const auto add = [&](const std::vector<std::uint32_t>& numbers, const auto& change) {
    RelayFront front = sound_front();
    change(front);
    bodies.push_back(bytes_of(&front, sizeof front, numbers, 8));
  };
  const std::uint32_t listed = RelayFront::kListed;
  add({}, [](RelayFront& front) { front.root = 3; });
  add({}, [](RelayFront& front) { front.root = front.source = 0; });  // from its own target
  add({}, [](RelayFront& front) { front.root = front.source = 2; });  // 1 is below 0 then
  add({}, [](RelayFront& front) { front.source = 3; });
  add({}, [](RelayFront& front) { front.flags = PH_TASK_KEEP; });
  add({}, [](RelayFront& front) { front.flags = 0x400; });
  add({}, [](RelayFront& front) { front.flags = listed | PH_TASK_WITH_SELF; });
  add({}, [](RelayFront& front) { front.flags = RelayFront::kGrouped; });  // of no group
  add({}, [](RelayFront& front) { front.body_bytes = 9; });
  add({}, [](RelayFront& front) { front.body_bytes = ~std::uint64_t{0}; });
  add({}, [](RelayFront& front) { front.body_bytes = 7; });
  for (const std::size_t at : {0u, 27u})  // no kind of the library's own, and nothing else
    for (const std::uint8_t byte : {1, 5, 11, 255})
      add({}, [&](RelayFront& front) { front.zero[at] = byte; });
  const auto add_list = [&](std::uint32_t pes, std::uint32_t processes,
                            const std::vector<std::uint32_t>& numbers) {
    add(numbers, [&](RelayFront& front) {
      front.flags = listed;
      front.pes = pes;
      front.processes = processes;
    });
  };
  add_list(1, 1, {0});         // a number is missing
  add_list(~0U, ~0U, {0, 0});  // so many are
  add_list(2, 1, {0, 0, 0});   // twice
  add_list(1, 1, {3, 0});      // no such PE
  add_list(1, 1, {0, 3});      // no such process
  add_list(1, 2, {0, 0, 1});   // the root among the others
  add_list(1, 1, {0, 2});      // not this process
  expect_refused(Kind::relay, bodies);
}

TEST(TaskRelay, a_forged_piece_of_a_group_is_refused) {
  std::vector<std::vector<std::byte>> bodies = {{}, std::vector<std::byte>(31)};
  const auto add = [&](const std::vector<std::uint32_t>& numbers, const auto& change) {
    GroupPiece piece{1, 0, 1, 1, 0, 2, 0};
    change(piece);
    bodies.push_back(bytes_of(&piece, sizeof piece, numbers));
  };
  add({0, 0}, [](GroupPiece& piece) { piece.maker = 0; });  // of its own target
  add({0, 0}, [](GroupPiece& piece) { piece.maker = 3; });
  add({0, 0}, [](GroupPiece& piece) { piece.zero = 1; });
  add({0, 0}, [](GroupPiece& piece) { piece.count = 3; });
  add({0, 0}, [](GroupPiece& piece) { piece.count = ~0U; });
  add({0, 0}, [](GroupPiece& piece) { piece.pes = ~0U; });
  expect_refused(Kind::group, bodies);
}

TEST(TaskRelay, forged_parts_of_a_multiple_send_are_refused) {
  std::vector<std::vector<std::byte>> bodies = {{}, std::vector<std::byte>(63)};
  const auto add = [&](std::uint64_t size_bytes, std::size_t body_bytes, std::uint8_t zero) {
    PartFront front{size_bytes, 0, {}};
    front.zero[0] = zero;
    bodies.push_back(bytes_of(&front, sizeof front, {}, body_bytes));
  };
  add(65, 64, 0);
  add(64, 60, 0);
  add(8, 64, 1);
  add(~std::uint64_t{0}, 64, 0);
  add(~std::uint64_t{0} - 63, 64, 0);
  add(8, 65, 0);  // half a part behind it
  expect_refused(Kind::many, bodies);
}

// One of six real processes. 1, which passes on to 5, is killed when it has told 5 of a group; then
// 5 gets what goes to this group, to another one, to a list and to all. The number of what went
// wrong; 0: nothing.
int outlive_a_parent(const ph_bootstrap& bootstrap) {
  ph_config photon{};
  photon.size = sizeof photon;
  photon.bootstrap = &bootstrap;
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  std::uint64_t left = 5;
  Function die = [](ph_task_pe*, ph_task_message*) { ::raise(SIGKILL); };
  Function count = [&](ph_task_pe* one, ph_task_message* message) {
    ph_task_free(one, message);
    if (--left == 0) ph_task_stop(one);
  };
  std::uint64_t come = 0;
  Function meet = [&](ph_task_pe* one, ph_task_message* message) {
    ph_task_free(one, message);
    ++come;
  };
  const std::uint32_t dying = enroll(pe, die), counting = enroll(pe, count);
  const std::uint32_t meeting = enroll(pe, meet);
  if (ph_task_agree(pe) != PH_OK || !gather_all(pe, meeting, come)) return 2;
  if (place_of(pe).pe == 0) {
    const std::uint32_t pes[] = {0, 1, 2, 3, 4, 5};
    const ph_task_list list{sizeof list, pes, std::size(pes)};
    std::uint32_t told = 0, untold = 0;
    if (ph_task_group(pe, &list, &told) != PH_OK) return 3;
    if (ph_task_group(pe, &list, &untold) != PH_OK) return 4;
    if (ph_task_multicast(pe, told, make(pe, counting, 0), 0) != PH_OK) return 5;
    if (ph_task_send(pe, 1, make(pe, dying, 0)) != PH_OK) return 6;
    while (ph_task_send(pe, 1, make(pe, counting, 0)) == PH_OK) ph_task_run(pe, 0, nullptr);
    if (ph_task_multicast(pe, told, make(pe, counting, 0), 0) != PH_OK) return 7;
    if (ph_task_multicast(pe, untold, make(pe, counting, 0), 0) != PH_OK) return 8;
    if (ph_task_send_list(pe, &list, make(pe, counting, 0), 0) != PH_OK) return 9;
    if (ph_task_broadcast(pe, make(pe, counting, 0), PH_TASK_WITH_SELF) != PH_OK) return 10;
  }
  if (left != 0 && ph_task_run(pe, -1, nullptr) != PH_OK) return 11;
  static_cast<void>(ph_task_end(pe));  // it says what was lost
  return 0;
}

TEST(TaskRelay, a_process_below_one_that_died_gets_what_goes_to_many) {
  const std::vector<int> ends = photon::test::fork_ranks(6, outlive_a_parent);
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (rank == 1) {
      EXPECT_TRUE(WIFSIGNALED(ends[rank]) && WTERMSIG(ends[rank]) == SIGKILL) << ends[rank];
      continue;
    }
    EXPECT_TRUE(WIFEXITED(ends[rank])) << ends[rank];
    EXPECT_EQ(WEXITSTATUS(ends[rank]), 0) << "rank " << rank;
  }
}

}  // namespace
}  // namespace photon::task::test
