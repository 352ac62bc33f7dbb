// Which completions a probe gives, in how large portions, with which facts; handlers; waiting.
#include <chrono>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class Probing : public OverSettings {};

TEST_P(Probing, ids_of_every_length_arrive_whole_at_both_ends) {
  ThreadJob job(2, options({{"max_cid_size", "1024"}}));
  job.run([&job](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(1 << 20);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region target = exchange(context, mine)[1];
    const auto source = filled(70000, 1);
    std::vector<std::byte> room(1024);
    const auto expect_id = [&](const ph_completion& one, std::size_t size, std::uint64_t seed) {
      ASSERT_EQ(one.id_size_bytes, size);
      const auto wanted = filled(size, seed);
      std::uint64_t first = 0;
      if (size != 0) std::memcpy(&first, wanted.data(), std::min<std::size_t>(8, size));
      EXPECT_EQ(one.id, first) << "size " << size;
      EXPECT_EQ(one.long_id == nullptr, size <= 8);
      if (size > 8) {
        EXPECT_EQ(std::memcmp(one.long_id, wanted.data(), size), 0) << size;
      }
    };
    const std::size_t bytes[] = {0, 8, 100, 192, 5000, 70000};
    std::size_t offset = 0;
    for (std::size_t size = 0, i = 0; size <= 1024; size += size < 40 ? 1 : 41, ++i) {
      const auto local = filled(size, 3), remote = filled(1024 - size, 4);
      if (rank == 0) {
        ph_put_args args = put_args({source.data(), bytes[i % 6]}, ph_at(&target, offset), 0, 0);
        offset += bytes[i % 6];
        args.local = {local.data(), static_cast<std::uint32_t>(local.size())};
        args.remote = {remote.data(), static_cast<std::uint32_t>(remote.size())};
        ASSERT_EQ(insist(context, [&] { return ph_put(context, 1, &args); }), PH_OK);
        expect_id(take(context, PH_LOCAL, 1, room.data()), size, 3);
      } else {
        expect_id(take(context, PH_REMOTE, 0, room.data()), 1024 - size, 4);
      }
    }
    job.meet(context);
  });
}

TEST_P(Probing, an_array_of_any_capacity_is_filled_in_order_and_never_beyond) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    std::uint64_t next = 0;
    for (std::size_t capacity = 1; capacity <= 64; ++capacity) {
      for (std::size_t i = 0; rank == 0 && i < capacity; ++i, ++next)
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, next); }), PH_OK);
      for (std::size_t got = 0; rank == 1 && got < capacity;) {
        std::vector<ph_completion> found(capacity + 1);
        found[capacity].id = 0x777;
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {0, PH_REMOTE, nullptr}, found.data(), capacity, &count),
                  PH_OK);
        ASSERT_LE(count, capacity);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(found[i].id, next++);
          EXPECT_EQ(found[i].kind, std::uint32_t{PH_REMOTE});
          EXPECT_EQ(found[i].peer, 0u);
        }
        EXPECT_EQ(found[capacity].id, 0x777u);
        got += count;
      }
      job.meet(context);
    }
  });
}

TEST_P(Probing, a_probe_for_one_peer_or_kind_leaves_the_rest_for_theirs) {
  ThreadJob job(3, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank != 0) {
      ASSERT_EQ(ph_notify(context, 0, 100 + rank), PH_OK);
      EXPECT_EQ(take_remote(context, 0).id, 1u);
    } else {
      for (const ph_rank peer : {1u, 2u})
        ASSERT_EQ(ph_put_u64(context, peer, {nullptr, 0}, {}, {peer, 1}), PH_OK);
      EXPECT_EQ(take(context, PH_REMOTE, 2).id, 102u);
      EXPECT_EQ(take(context, PH_LOCAL, 1).id, 1u);
      EXPECT_EQ(count_now(context, PH_LOCAL, 1), 0u);
      EXPECT_EQ(take(context, PH_EITHER, 1).id, 101u);
      EXPECT_EQ(take(context, PH_EITHER, PH_ANY_RANK).id, 2u);
      EXPECT_EQ(count_now(context, PH_EITHER), 0u);
    }
    job.meet(context);
  });
}

// Every probe could be filled by local completions alone, or by remote ones alone.
TEST_P(Probing, neither_kind_keeps_the_other_away) {
  // Sim takes its time to carry the first.
  const int turns = static_cast<int>(is_sim() ? rounds(5000, 2500) : 200);
  ThreadJob job(1, options());
  job.run([turns](ph_context* context, ph_rank) {
    for (const std::size_t capacity : {1ul, 4ul, 64ul}) {
      std::size_t posted = 0, taken[] = {0, 0};
      for (int turn = 0; turn < turns || taken[0] < posted || taken[1] < posted; ++turn) {
        if (turn == turns) {
          EXPECT_GE(taken[0], 4u) << "local, by " << capacity;
          EXPECT_GE(taken[1], 4u) << "remote, by " << capacity;
        }
        for (std::size_t i = 0; turn < turns && i < capacity; ++i) {
          const auto status = ph_put_u64(context, 0, {nullptr, 0}, {}, {i, i});
          ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << ph_status_text(status);
          posted += status == PH_OK ? 1 : 0;
        }
        std::vector<ph_completion> found(capacity);
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {0, PH_EITHER, nullptr}, found.data(), capacity, &count),
                  PH_OK);
        for (std::size_t i = 0; i < count; ++i) ++taken[found[i].kind == PH_REMOTE ? 1 : 0];
      }
    }
  });
}

// Takes one completion if there is any: its kind, or 0.
std::uint32_t kind_of_next(ph_context* context, ph_rank peer, std::size_t capacity = 1) {
  ph_completion one{};
  std::size_t count = 0;
  EXPECT_EQ(ph_probe(context, {peer, PH_EITHER, nullptr}, &one, capacity, &count), PH_OK);
  return count == 0 ? 0 : one.kind;
}

TEST_P(Probing, peers_asked_by_turns_take_no_turn_from_each_other) {
  constexpr std::uint32_t kNotices = 30;
  ThreadJob job(3, options({{"ledger_slots", "512"}}));
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank != 0) {
      const auto serve = [&] { return ph_notify(context, 0, 1); };
      for (std::uint32_t i = 0; i < kNotices * rank; ++i) ASSERT_EQ(insist(context, serve), PH_OK);
      ASSERT_EQ(ph_flush(context, 0, kTakeTimeoutUs), PH_OK);
    } else {
      for (const ph_rank peer : {1u, 2u})  // all is here, none is taken
        for (ph_completion none{}; ph_wait(context, {peer, PH_REMOTE, nullptr}, 0) != PH_OK;) {
          std::size_t count = 0;
          ASSERT_EQ(ph_probe(context, {peer, PH_LOCAL, nullptr}, &none, 1, &count), PH_OK);
        }
    }
    job.meet(context);
    std::uint32_t taken = 0;
    for (std::uint32_t i = 0; rank == 0 && i < 3 * kNotices; ++i) {
      ASSERT_EQ(insist(context, [&] { return ph_put_u64(context, 1, {}, {}, {1, 1}); }), PH_OK);
      taken += kind_of_next(context, 1) == PH_REMOTE ? 1 : 0;
      kind_of_next(context, 2);
    }
    if (rank == 0) {
      EXPECT_GE(taken, kNotices / 2);
      while (kind_of_next(context, PH_ANY_RANK) != 0) {
      }
    }
    job.meet(context);
    while (rank != 0 && kind_of_next(context, PH_ANY_RANK) != 0) {
    }
  });
}

TEST_P(Probing, a_probe_that_takes_nothing_is_nobodys_turn) {
  ThreadJob job(1, options({{"ledger_slots", "512"}}));
  job.run([](ph_context* context, ph_rank) {
    constexpr std::uint32_t kPuts = 20;
    for (std::uint32_t i = 0; i < kPuts; ++i)
      ASSERT_EQ(ph_put_u64(context, 0, {}, {}, {i, i}), PH_OK);
    std::uint32_t taken[] = {0, 0};
    for (std::uint32_t i = 0; i < 100'000 && taken[0] + taken[1] < 2 * kPuts; ++i) {
      ASSERT_EQ(kind_of_next(context, PH_ANY_RANK, 0), 0u);
      const auto kind = kind_of_next(context, PH_ANY_RANK);
      if (kind == 0) continue;
      ++taken[kind == PH_REMOTE ? 1 : 0];
      if (taken[1] < kPuts) {
        EXPECT_LE(taken[1], taken[0] + 1);
      }
    }
    EXPECT_EQ(taken[0], kPuts);
    EXPECT_EQ(taken[1], kPuts);
  });
}

TEST_P(Probing, outstanding_counts_what_has_still_to_complete) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < 5; ++i) {
        ph_put_args args = put_args({}, {}, i, i);
        args.flags = PH_DELIVERED | PH_NO_RCE;
        ASSERT_EQ(ph_put(context, 1, &args), PH_OK);
      }
      std::uint32_t last = 5;
      for (std::uint64_t i = 0; i < 5; ++i) {
        const ph_completion done = take_local(context, 1);
        EXPECT_EQ(done.id, i);
        EXPECT_LE(done.outstanding, last);
        last = done.outstanding;
      }
      EXPECT_EQ(last, 0u);
    }
    job.meet(context);
  });
}

TEST_P(Probing, flags_suppress_just_the_completion_they_name) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    constexpr std::size_t kLargest = 70000;
    std::vector<std::byte> memory(6 * kLargest), landing(6 * kLargest);  // each operation its own
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region target = exchange(context, mine)[1];
    for (const std::size_t size : {0ul, 8ul, 150ul, 5000ul, 70000ul})
      for (const std::uint32_t order : {0u, std::uint32_t{PH_ORDER_NONE}}) {
        if (rank == 0) {
          const std::uint64_t ids[] = {size, size + 1};
          std::size_t offset = 0;
          // No local, neither, no remote: the last get tells us that the memory is free.
          for (const std::uint32_t flags : {1u, 3u, 2u}) {
            ph_put_args put =
                put_args({landing.data() + offset, size}, ph_at(&target, offset), ids[0], ids[1]);
            offset += kLargest;
            ph_get_args get =
                get_args({landing.data() + offset, size}, ph_at(&target, offset), ids[0], ids[1]);
            offset += kLargest;
            put.flags = get.flags = flags | order;
            ASSERT_EQ(insist(context, [&] { return ph_put(context, 1, &put); }), PH_OK);
            ASSERT_EQ(insist(context, [&] { return ph_get(context, 1, &get); }), PH_OK);
          }
          EXPECT_EQ(take_local(context, 1).id, size);
          EXPECT_EQ(take_local(context, 1).id, size);
          EXPECT_EQ(insist(context, [&] { return ph_flush(context, 1, kTakeTimeoutUs); }), PH_OK);
        } else {
          EXPECT_EQ(take_remote(context, 0).id, size + 1);
          EXPECT_EQ(take_remote(context, 0).id, size + 1);
        }
        job.meet(context);
        EXPECT_EQ(count_now(context, PH_EITHER), 0u) << size;
        job.meet(context);
      }
  });
}

TEST_P(Probing, a_notice_accepted_get_completes_after_the_owner_has_its_notice) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    auto memory = filled(70000, 6);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region source = exchange(context, mine)[1];
    for (const std::size_t size : {0ul, 8ul, 5000ul, 70000ul}) {
      if (rank == 0) {
        std::vector<std::byte> landing(size);
        const std::uint64_t ids[] = {1, 2};
        ph_get_args get = get_args(landing, ph_at(&source, 0), ids[0], ids[1]);
        get.flags = PH_NOTICE_ACCEPTED;
        ASSERT_EQ(ph_get(context, 1, &get), PH_OK);
        EXPECT_EQ(take_local(context, 1).id, 1u);
        EXPECT_EQ(first_difference(landing, 6), size);
      } else {
        EXPECT_EQ(take_remote(context, 0).id, 2u);
      }
    }
    job.meet(context);
  });
}

struct Echo {
  ph_context* context;
  ph_rank other;
  std::uint64_t handled = 0;
};

// Answers inside the handler, and probes there too.
void answer(void* user, const ph_completion* one) {
  auto& echo = *static_cast<Echo*>(user);
  const bool first_player = echo.other == 1;
  EXPECT_EQ(one->id, echo.handled);
  ++echo.handled;
  const std::uint64_t next = first_player ? one->id + 1 : one->id;
  const auto post = [&] { return ph_notify(echo.context, echo.other, next); };
  EXPECT_EQ(insist(echo.context, post), PH_OK);
  EXPECT_EQ(count_now(echo.context, PH_LOCAL), 0u);
}

TEST_P(Probing, a_handler_may_post_and_probe) {
  constexpr std::uint64_t kRounds = 500;
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    Echo echo{context, 1 - rank};
    if (rank == 0) {
      ASSERT_EQ(ph_notify(context, 1, 0), PH_OK);
    }
    while (echo.handled < kRounds) {
      std::size_t count = 0;
      ASSERT_EQ(ph_probe_each(context, {PH_ANY_RANK, PH_REMOTE, nullptr}, &answer, &echo, &count),
                PH_OK);
      ASSERT_LE(count, 64u);
      if (count == 0) std::this_thread::yield();  // the other player may need this core
    }
    job.meet(context);
  });
}

TEST_P(Probing, a_wait_returns_at_its_time_limit_and_takes_nothing) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    using Clock = std::chrono::steady_clock;
    const ph_query query = {1 - rank, PH_REMOTE, nullptr};
    const auto begin = Clock::now();
    EXPECT_EQ(ph_wait(context, query, 0), PH_TIMEOUT);
    EXPECT_EQ(ph_wait(context, query, -5), PH_TIMEOUT);
    EXPECT_EQ(ph_wait(context, query, 20'000), PH_TIMEOUT);
    EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
    job.meet(context);
    ASSERT_EQ(ph_notify(context, 1 - rank, 7), PH_OK);
    EXPECT_EQ(ph_wait(context, query, PH_FOREVER), PH_OK);
    EXPECT_EQ(ph_wait(context, query, 0), PH_OK);
    EXPECT_EQ(take(context, PH_REMOTE, 1 - rank).id, 7u);
    EXPECT_EQ(ph_wait(context, query, 0), PH_TIMEOUT);
    job.meet(context);
  });
}

TEST_P(Probing, a_rank_puts_to_and_gets_from_itself) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    for (const bool allocated : {false, true}) {
      std::vector<std::byte> ordinary(1 << 20);
      ph_region mine{};
      if (allocated)
        ASSERT_EQ(ph_alloc(context, 1 << 20, &mine), PH_OK);
      else
        ASSERT_EQ(ph_register(context, ordinary.data(), 1 << 20, PH_ACCESS_ALL, &mine), PH_OK);
      std::uint64_t round = 0;
      for (const std::size_t size : {0ul, 8ul, 150ul, 5000ul, 70000ul, 500000ul}) {
        const auto source = filled(size, ++round);
        std::vector<std::byte> landing(size);
        ASSERT_EQ(ph_put_u64(context, 0, {source.data(), size}, ph_at(&mine, 3), {round, 50}),
                  PH_OK);
        EXPECT_EQ(take_remote(context, 0).id, 50u);
        EXPECT_EQ(take_local(context, 0).id, round);
        ASSERT_EQ(ph_get_u64(context, 0, {landing.data(), size}, ph_at(&mine, 3), {round, 51}),
                  PH_OK);
        EXPECT_EQ(take_local(context, 0).id, round);
        EXPECT_EQ(take_remote(context, 0).id, 51u);
        EXPECT_EQ(first_difference(landing, round), size);
        EXPECT_EQ(ph_flush(context, PH_ANY_RANK, kTakeTimeoutUs), PH_OK);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Probing, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
