// ph_probe_u64() in streams, alone and mixed with other probes: each id once, in order, with its
// bytes.
#include <algorithm>
#include <atomic>
#include <span>
#include <stdexcept>
#include <thread>

#include "settings.hpp"

namespace photon::test {
namespace {

class ProbingOne : public OverSettings {
 protected:
  // Numbers of a stream. Each ring is gone through many times, a small ledger some thousand.
  static std::uint64_t stream() {
    if (is_sim()) return 2000;
    return is_small() ? 4000 : rounds(20'000, 4000);
  }
};

// Collective: peers may put to these words. Where those of each rank are.
std::vector<ph_region> share_words(ph_context* context, std::span<std::uint64_t> words) {
  ph_region mine{};
  EXPECT_EQ(ph_register(context, words.data(), words.size_bytes(), PH_ACCESS_ALL, &mine), PH_OK);
  return exchange(context, mine);
}

// The next REMOTE one of `peer`, by ph_probe_u64(); sleeps while there is none.
std::uint64_t next_of(ph_context* context, ph_rank peer, ph_rank& from) {
  for (;;) {
    const ph_u64_completion one = ph_probe_u64(context, peer, PH_REMOTE);
    if (one.status != PH_OK) throw std::runtime_error("a probe for one has failed");
    if (one.kind == PH_REMOTE) {
      from = one.peer;
      return one.id;
    }
    const ph_query query{peer, PH_REMOTE, nullptr};
    if (ph_wait(context, query, kTakeTimeoutUs) != PH_OK) throw std::runtime_error("none comes");
  }
}

// Each put carries its number into a word of its own. All local ids are taken, the last ones here
// at the end.
void send_numbers(ph_context* context, ph_rank to, const ph_target& words, std::uint64_t count) {
  constexpr std::uint64_t kUnderWay = 32;  // not more than fit in any setting
  for (std::uint64_t i = 0; i < count; ++i) {
    const ph_target place{words.address + i * sizeof i, words.key};
    if (i >= kUnderWay) take_local(context);
    ASSERT_EQ(insist(context,
                     [&] {
                       return ph_put_u64(context, to, {&i, sizeof i}, place, {i, i});
                     }),
              PH_OK);
  }
  for (std::uint64_t i = 0; i < std::min(count, kUnderWay); ++i) take_local(context);
}

TEST_P(ProbingOne, streams_of_two_peers_arrive_in_order_with_their_bytes_whoever_probes_how) {
  const std::uint64_t numbers = stream();
  ThreadJob job(3, options());
  job.run([&job, numbers](ph_context* context, ph_rank rank) {
    std::vector<std::uint64_t> words(2 * numbers, ~std::uint64_t{0});
    const ph_region target = share_words(context, words)[0];
    if (rank != 0) {
      send_numbers(context, 0, ph_at(&target, (rank - 1) * numbers * 8), numbers);
      job.meet(context);
      return;
    }
    std::uint64_t next[3] = {};
    const auto expect = [&](ph_rank from, std::uint64_t id) {
      ASSERT_EQ(id, next[from]++) << "from rank " << from;
      ASSERT_EQ(words[(from - 1) * numbers + id], id);
    };
    for (std::uint64_t taken = 0; taken < 2 * numbers; ++taken) {
      if (taken % 37 < 30) {  // any, then one of them, then an array's probe
        ph_rank from = 0;
        const bool one_only = taken % 37 > 20 && next[1] < numbers;
        const std::uint64_t id = next_of(context, one_only ? 1 : PH_ANY_RANK, from);
        expect(from, id);
      } else {
        const ph_completion one = take_remote(context);
        expect(one.peer, one.id);
      }
    }
    EXPECT_EQ(ph_probe_u64(context, PH_ANY_RANK, PH_EITHER).kind, 0u);
    job.meet(context);
  });
}

TEST_P(ProbingOne, two_threads_that_take_one_by_one_lose_nothing_and_double_nothing) {
  const std::uint64_t numbers = stream();
  ThreadJob job(2, options());
  job.run([&job, numbers](ph_context* context, ph_rank rank) {
    std::vector<std::uint64_t> words(numbers, ~std::uint64_t{0});
    const ph_region target = share_words(context, words)[0];
    if (rank == 1) {
      send_numbers(context, 0, ph_at(&target, 0), numbers);
      job.meet(context);
      return;
    }
    std::vector<std::uint64_t> seen[2];
    std::atomic<std::uint64_t> taken = 0;
    constexpr std::int64_t kSliceUs = 500;
    const auto prober = [&](int which) {
      while (taken < numbers) {
        const std::uint32_t kinds = which == 0 ? PH_REMOTE : PH_EITHER;
        const auto one = ph_probe_u64(context, PH_ANY_RANK, kinds);
        if (one.status != PH_OK) break;
        if (one.kind == 0) {  // probes in a loop would take a loaded machine from the sender
          static_cast<void>(ph_wait(context, {PH_ANY_RANK, kinds, nullptr}, kSliceUs));
          continue;
        }
        seen[which].push_back(one.id);
        ++taken;
      }
    };
    std::thread other(prober, 1);
    prober(0);
    other.join();
    for (const auto& ids : seen) EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    std::vector<std::uint64_t> all = seen[0];
    all.insert(all.end(), seen[1].begin(), seen[1].end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), numbers);
    for (std::uint64_t i = 0; i < numbers; ++i) {
      ASSERT_EQ(all[i], i);
      ASSERT_EQ(words[i], i);
    }
    job.meet(context);
  });
}

// The lane's own thread posts and probes; a guest beside it takes what it finds in visits.
TEST_P(ProbingOne, a_guest_and_the_lanes_own_thread_lose_nothing_and_double_nothing) {
  constexpr std::uint64_t kCount = rounds(1000);
  ThreadJob job(2, options());
  std::atomic<bool> is_wrong = false;  // at one of them: then all stop
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::atomic<int>> seen(kCount);
    std::atomic<std::uint64_t> taken = 0;
    const auto probe = [&](std::uint32_t visit) {
      const ph_u64_completion one = ph_probe_u64(context, PH_ANY_RANK, PH_REMOTE | visit);
      if (one.kind == 0) {
        if (one.status == PH_OK || (visit != 0 && one.status == PH_AGAIN)) return;
        ADD_FAILURE() << "a probe: " << one.status;
        is_wrong = true;
      } else if (one.id >= kCount) {
        ADD_FAILURE() << "id " << one.id;
        is_wrong = true;
      } else {
        ++seen[one.id];
        ++taken;
      }
    };
    const auto is_over = [&] { return taken >= kCount || is_wrong; };
    std::thread guest([&] {
      while (!is_over()) probe(PH_VISIT);
    });
    for (std::uint64_t i = 0; i < kCount && !is_wrong; ++i) {
      ph_status status = PH_AGAIN;
      while ((status = ph_notify(context, 1 - rank, i)) == PH_AGAIN && !is_wrong) probe(0);
      if (status != PH_OK) is_wrong = true;
      EXPECT_EQ(status, PH_OK);
    }
    while (!is_over()) probe(0);
    guest.join();
    for (const auto& times : seen) EXPECT_EQ(times, 1);
    job.meet(context);
  });
}

// Who takes one by one catches up, and finds the last of a stream.
TEST_P(ProbingOne, streams_of_any_length_end_with_their_last_id) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    std::vector<std::uint64_t> words(200, 0);
    const ph_region target = share_words(context, words)[1 - rank];
    for (std::uint64_t length = 1; length <= 150; ++length) {
      if (rank == 0) {
        send_numbers(context, 1, ph_at(&target, 0), length);
        EXPECT_EQ(take_remote(context).id, length);
      } else {
        ph_rank from = 1;
        for (std::uint64_t i = 0; i < length; ++i) ASSERT_EQ(next_of(context, 0, from), i);
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, length); }), PH_OK);
      }
    }
    job.meet(context);
  });
}

// Both send and take one by one whatever comes, while array probes for one kind come between: those
// make the other kind wait, and end what the next ones would have been handed without a look.
TEST_P(ProbingOne, streams_both_ways_keep_their_orders_where_other_probes_come_between) {
  const std::uint64_t numbers = stream();
  ThreadJob job(2, options());
  job.run([&job, numbers](ph_context* context, ph_rank rank) {
    std::vector<std::uint64_t> words(numbers, ~std::uint64_t{0});
    const ph_region target = share_words(context, words)[1 - rank];
    std::uint64_t posted = 0;
    std::uint64_t locals = 0;
    std::uint64_t remotes = 0;
    const auto took = [&](std::uint32_t kind, std::uint64_t id) {
      ASSERT_EQ(id, kind == PH_LOCAL ? locals : remotes);
      if (kind == PH_REMOTE) {
        ASSERT_EQ(words[id], id);
      }
      ++(kind == PH_LOCAL ? locals : remotes);
    };
    for (std::uint64_t turn = 0; locals < numbers || remotes < numbers; ++turn) {
      for (; posted < std::min(numbers, locals + 32); ++posted) {
        const ph_target place = ph_at(&target, posted * 8);
        if (ph_put_u64(context, 1 - rank, {&posted, 8}, place, {posted, posted}) != PH_OK) break;
      }
      if (turn % 50 == 49) {
        const std::uint32_t kind = turn % 100 == 49 ? PH_LOCAL : PH_REMOTE;
        ph_completion some[3];
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, kind, nullptr}, some, turn % 4, &count), PH_OK);
        for (std::size_t i = 0; i < count; ++i) took(kind, some[i].id);
        continue;
      }
      const auto one = ph_probe_u64(context, PH_ANY_RANK, PH_EITHER);
      ASSERT_EQ(one.status, PH_OK);
      if (one.kind != 0) {
        took(one.kind, one.id);
      } else if (locals < numbers || remotes < numbers) {
        constexpr std::int64_t kSliceUs = 500;  // the other may need this processor
        static_cast<void>(ph_wait(context, {PH_ANY_RANK, PH_EITHER, nullptr}, kSliceUs));
      }
    }
    job.meet(context);
  });
}

TEST_P(ProbingOne, local_ids_one_by_one_do_not_keep_a_remote_one_waiting) {
  static constexpr std::uint64_t kMany = 300;
  static constexpr std::uint64_t kInARow = 64;
  std::uint64_t words[2] = {};  // of each rank, written until its context is gone
  ThreadJob job(2, options());
  job.run([&job, &words](ph_context* context, ph_rank rank) {
    const ph_region target = share_words(context, {&words[rank], 1})[1 - rank];
    if (rank == 1) {
      EXPECT_EQ(take_remote(context).id, 0u);  // all that rank 0 posts follows by itself
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, kMany); }), PH_OK);
      job.meet(context);
      return;
    }
    std::uint64_t posted = 0;  // as many as fit
    while (posted < kMany && ph_put_u64(context, 1, {&posted, sizeof posted}, ph_at(&target, 0),
                                        {posted, posted}) == PH_OK)
      ++posted;
    ASSERT_GT(posted, 0u);
    EXPECT_EQ(take_local(context, 1).id, 0u);
    const bool has_second = ph_probe_u64(context, 1, PH_EITHER).kind == PH_LOCAL;
    ASSERT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_OK);
    std::uint64_t row = 0;
    for (; row <= kInARow; ++row)
      if (ph_probe_u64(context, PH_ANY_RANK, PH_EITHER).kind == PH_REMOTE) break;
    EXPECT_LE(row, kInARow) << posted << " posted, " << has_second;
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, ProbingOne, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
