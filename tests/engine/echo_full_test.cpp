// The echo service where the application leaves its ids alone, or sends long ones: the ledgers and
// overflows of both ranks are full, and messages pass all the same.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class EchoFull : public OverSettings {};

ph_const_block whole(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

// As many as go while nobody takes any, both making progress; each is its number.
std::uint64_t notify_until_full(ph_context* context, ph_rank to) {
  constexpr int kRefusedInARow = 500;
  std::uint64_t count = 0;
  for (int refused = 0; refused < kRefusedInARow;) {
    ph_echo_result none{};
    if (ph_notify(context, to, count) == PH_OK) {
      ++count;
      refused = 0;
    } else {
      EXPECT_EQ(ph_echo_answer(context, &none), PH_AGAIN);
      ++refused;
    }
  }
  return count;
}

// Answers are taken only where a call is refused, so that they fill the ring that they come by, and
// then go as those that must.
void ask_and_take(ph_context* context, ph_rank to, std::uint64_t count) {
  const std::vector<std::byte> body(7000, std::byte{3});
  std::uint64_t words = 0, bodies = 0;
  const auto take = [&] {
    ph_echo_result result{};
    if (ph_echo_answer(context, &result) != PH_OK) return;
    ASSERT_EQ(result.status, PH_OK);
    if (result.sum != 0) {
      ASSERT_EQ(result.sum, ph_echo_sum(whole(body)));
      ASSERT_EQ(result.value, bodies++);
    } else {
      ASSERT_EQ(result.value, words++);
    }
  };
  const std::uint64_t bodies_count = count / 50;
  for (std::uint64_t i = 0; i < count; ++i) {
    while (ph_echo(context, to, i) != PH_OK) take();
    if (i % 50 == 0)
      while (ph_echo_body(context, to, whole(body), i / 50) != PH_OK) take();
  }
  while (words < count || bodies < bodies_count) take();
}

TEST_P(EchoFull, messages_pass_ids_that_fill_ledger_and_overflow_and_no_id_is_lost) {
  const std::uint64_t asked = is_small() ? 500 : 5000;
  std::atomic<int> full = 0, answered = 0;
  std::array<std::uint64_t, 2> sent{};
  ThreadJob job(2, options({{"overflow_bytes", "4096"}, {"ledger_slots", "16"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    const auto serve_until_both = [&](std::atomic<int>& count) {
      ph_echo_result none{};
      for (++count; count < 2;) static_cast<void>(ph_echo_answer(context, &none));
    };
    sent[rank] = notify_until_full(context, 1 - rank);
    serve_until_both(full);
    ask_and_take(context, 1 - rank, asked);
    EXPECT_EQ(ph_notify(context, 1 - rank, 0), PH_AGAIN) << "it has stayed full";
    serve_until_both(answered);
    for (std::uint64_t i = 0; i < sent[1 - rank]; ++i) ASSERT_EQ(take_remote(context).id, i);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(count_now(context, PH_REMOTE), 0u);
  });
}

// Ids as long as they may be stand between the messages.
TEST_P(EchoFull, ids_of_the_greatest_length_and_messages_leave_each_other_alone) {
  static constexpr std::uint64_t kCount = 60;
  for (const std::size_t most : {std::size_t{8}, std::size_t{100}, std::size_t{1024}}) {
    ThreadJob job(2, options({{"max_cid_size", std::to_string(most)}}));
    job.run([&](ph_context* context, ph_rank rank) {
      std::vector<std::byte> id(most), found(most);
      std::uint64_t sent = 0, came = 0, asked = 0, answered = 0;
      while (came < kCount || answered < kCount || sent < kCount) {
        if (asked < kCount && ph_echo(context, 1 - rank, asked) == PH_OK) ++asked;
        fill(id, sent);
        ph_put_args args{};
        args.size = sizeof args;
        args.remote = {id.data(), static_cast<std::uint32_t>(most)};
        args.flags = PH_NO_LCE;
        if (sent < kCount && ph_put(context, 1 - rank, &args) == PH_OK) ++sent;
        ph_completion one{};
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_REMOTE, found.data()}, &one, 1, &count),
                  PH_OK);
        if (count != 0 && most == 8) std::memcpy(found.data(), &one.id, sizeof one.id);
        if (count != 0) {
          ASSERT_EQ(first_difference(found, came++), most);
        }
        ph_echo_result result{};
        if (ph_echo_answer(context, &result) != PH_OK) continue;
        ASSERT_EQ(result.status, PH_OK);
        ASSERT_EQ(result.value, answered++);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    });
  }
}

class EchoToldToNobody : public OverSettings {};

// Its progress thread takes what is told, and runs no handler.
TEST_P(EchoToldToNobody, fills_no_memory_of_a_rank_that_computes_and_is_heard_when_it_is_back) {
  constexpr std::uint64_t kMore = 1000;
  std::atomic<bool> is_over = false;
  ThreadJob job(2, options({{"progress_thread", "on"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t heard = 0, told = 0;
    const auto hear = [](void* user, ph_rank, std::uint64_t value) {
      EXPECT_EQ(value, (*static_cast<std::uint64_t*>(user))++);
    };
    ASSERT_EQ(ph_echo_listen(context, hear, &heard), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      while (!is_over) std::this_thread::yield();
      while (heard < PH_ECHO_MOST_TOLD + kMore) static_cast<void>(count_now(context, PH_EITHER));
    } else {
      const auto tell = [&] {
        const ph_status status = ph_echo_tell(context, 1, told);
        if (status == PH_OK) ++told;
        static_cast<void>(count_now(context, PH_EITHER));
        return status;
      };
      while (told < PH_ECHO_MOST_TOLD) static_cast<void>(tell());
      for (int i = 0; i < 1000; ++i) ASSERT_EQ(tell(), PH_AGAIN);
      is_over = true;
      while (told < PH_ECHO_MOST_TOLD + kMore) static_cast<void>(tell());
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, EchoToldToNobody,
                         testing::Values(Setting{"shm", {{"transport", "shm"}}},
                                         Setting{"tcp", {{"transport", "tcp"}}}),
                         setting_name);

INSTANTIATE_TEST_SUITE_P(Transports, EchoFull, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
