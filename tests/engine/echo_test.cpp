// The echo service over every transport and its settings: what is asked is answered, whatever the
// applications do with their ids; bodies come whole; handlers run outside the lane, one at a time.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class EchoOver : public OverSettings {};

// Until it has an answer for us.
ph_echo_result answer(ph_context* context) {
  ph_echo_result result{};
  const ph_status status = ph_echo_wait(context, &result, kTakeTimeoutUs);
  if (status != PH_OK)
    throw std::runtime_error(std::string("no answer: ") + ph_status_text(status));
  return result;
}

ph_const_block block(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

TEST_P(EchoOver, what_is_asked_is_answered_in_order) {
  constexpr std::uint64_t kCount = 2000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t asked = 0, answered = 0;
    while (answered < kCount) {
      while (asked < kCount && ph_echo(context, 1 - rank, asked) == PH_OK) ++asked;
      ph_echo_result result{};
      if (ph_echo_answer(context, &result) != PH_OK) continue;
      ASSERT_EQ(result.status, PH_OK);
      ASSERT_EQ(result.rank, 1 - rank);
      ASSERT_EQ(result.value, answered);
      ++answered;
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(EchoOver, bodies_come_whole_and_in_order_with_what_is_asked_behind_them) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{300'001}}) {
      std::vector<std::byte> body(size);
      for (std::size_t i = 0; i < size; ++i) body[i] = std::byte(i * 7 + rank + (i >> 8));
      ASSERT_EQ(insist(context, [&] { return ph_echo_body(context, 1 - rank, block(body), size); }),
                PH_OK);
      const ph_echo_result result = answer(context);
      ASSERT_EQ(result.status, PH_OK) << size;
      ASSERT_EQ(result.value, size);
      ASSERT_EQ(result.sum, ph_echo_sum(block(body))) << size;
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(EchoOver, an_application_that_probes_nothing_of_its_ids_keeps_no_answer_back) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      // As many ids as the ledger holds, and then what the overflow takes.
      for (int i = 0; i < 20'000 && ph_notify(context, 1, 7) == PH_OK; ++i) {
      }
      for (std::uint64_t i = 0; i < 300; ++i)
        ASSERT_EQ(insist(context, [&] { return ph_echo(context, 1, i); }), PH_OK);
      for (std::uint64_t i = 0; i < 300; ++i) ASSERT_EQ(answer(context).value, i);
      ASSERT_EQ(insist(context, [&] { return ph_echo_tell(context, 1, 99); }), PH_OK);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      return;
    }
    bool over = false;
    ASSERT_EQ(
        ph_echo_listen(
            context, [](void* user, ph_rank, std::uint64_t) { *static_cast<bool*>(user) = true; },
            &over),
        PH_OK);
    while (!over) {
      ph_echo_result none{};
      ASSERT_EQ(ph_echo_answer(context, &none), PH_AGAIN);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

struct Heard {
  ph_context* context = nullptr;
  std::vector<std::uint64_t> values;
  int depth = 0;
  int deepest = 0;
};

// Posts, probes, and asks in its turn.
void hear(void* user, ph_rank from, std::uint64_t value) {
  Heard& heard = *static_cast<Heard*>(user);
  heard.deepest = std::max(heard.deepest, ++heard.depth);
  heard.values.push_back(value);
  static_cast<void>(ph_notify(heard.context, from, value));
  ph_completion one{};
  std::size_t count = 0;
  static_cast<void>(ph_probe(heard.context, kAnyLocal, &one, 1, &count));
  EXPECT_EQ(ph_finalize(heard.context), PH_ERR_STATE);
  --heard.depth;
}

TEST_P(EchoOver, a_handler_runs_outside_the_lane_one_at_a_time_and_in_order) {
  constexpr std::uint64_t kCount = 500;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Heard heard{context, {}, 0, 0};
    ASSERT_EQ(ph_echo_listen(context, hear, &heard), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::uint64_t told = 0, ids = 0;
    while (heard.values.size() < kCount || ids < kCount || told < kCount) {
      if (told < kCount && ph_echo_tell(context, 1 - rank, told) == PH_OK) ++told;
      std::array<ph_completion, 8> found{};
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, kAnyRemote, found.data(), found.size(), &count), PH_OK);
      ids += count;
    }
    for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(heard.values[i], i);
    EXPECT_EQ(heard.deepest, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(EchoOver, bad_arguments_are_refused_with_words) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    EXPECT_EQ(ph_echo(context, 5, 1), PH_ERR_RANK);
    ph_error error{};
    ph_last_error(context, &error);
    EXPECT_NE(std::string(error.text).find("no rank 5"), std::string::npos) << error.text;
    EXPECT_EQ(ph_echo_tell(context, 5, 1), PH_ERR_RANK);
    const std::byte byte{};
    EXPECT_EQ(ph_echo_body(context, 5, {&byte, 1}, 1), PH_ERR_RANK);
    EXPECT_EQ(ph_echo_body(context, 0, {nullptr, 1}, 1), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_echo_body(context, 0, {&byte, 0}, 1), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_echo_answer(context, nullptr), PH_ERR_ARGUMENT);
    ph_echo_result result{};
    EXPECT_EQ(ph_echo_answer(context, &result), PH_AGAIN);
    EXPECT_EQ(ph_echo_wait(context, &result, 1000), PH_TIMEOUT);
    EXPECT_EQ(ph_echo(context, 0, 3), PH_OK) << "to ourselves";
    EXPECT_EQ(answer(context).value, 3u);
    EXPECT_EQ(ph_echo(nullptr, 0, 3), PH_ERR_STATE);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, EchoOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
