// Buffers that are granted to their one source ahead of its messages (PH_MAILBOX_GRANT_AHEAD), over
// every transport: stored at once where that can be, and never counted wrongly anywhere. Rank 1 is
// the source.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class AheadOver : public OverSettings {
 protected:
  // Two ranks of one host that share memory.
  static bool stores() { return std::string(GetParam().name) == "shm"; }
};

ph_mailbox granting(ph_context* context) {
  return opened(context, {.threshold = 1,
                          .unit = PH_MAILBOX_OPERATIONS,
                          .flags = PH_MAILBOX_GRANT_AHEAD,
                          .source = 1});
}

ph_status put_named(ph_context* context, std::span<const std::byte> source, std::uint64_t offset,
                    const std::uint64_t& id) {
  ph_mailbox_put_args args = mail(source, offset);
  args.flags = 0;
  args.local = {&id, sizeof id};
  return insist(context, [&] { return ph_mailbox_put(context, 0, &args); });
}

// So many local completions; each id once.
void take_locals(ph_context* context, std::size_t count, std::vector<int>& seen) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = take_local(context).id;
    ASSERT_LT(id, seen.size());
    ++seen[id];
  }
}

TEST_P(AheadOver, messages_are_stored_while_their_receiver_makes_no_call) {
  constexpr std::uint64_t kCount = 24;
  constexpr std::size_t kBytes = 65'536;
  std::atomic<bool> has_put = false;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::vector<std::byte>> memory(kCount, std::vector<std::byte>(kBytes));
    ph_mailbox box{};
    if (rank == 0) box = granting(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 1); }), PH_OK);
      EXPECT_EQ(take_remote(context).id, 2u) << "both have met";
      for (auto& one : memory) ASSERT_EQ(post(context, box, one), PH_OK);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 3); }), PH_OK);
      ASSERT_EQ(ph_flush(context, 1, kTakeTimeoutUs), PH_OK);
    } else {
      EXPECT_EQ(take_remote(context).id, 1u);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, 2); }), PH_OK);
      EXPECT_EQ(take_remote(context).id, 3u) << "and the grants have come";
    }
    std::vector<std::vector<std::byte>> sources;
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      sources.push_back(filled(kBytes, i));
      ids.push_back(i);
    }
    if (rank == 1) {
      for (std::uint64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(put_named(context, sources[i], 0, ids[i]), PH_OK);
      has_put = true;
      std::vector<int> seen(kCount, 0);
      take_locals(context, kCount, seen);
      EXPECT_EQ(seen, std::vector<int>(kCount, 1));
    } else {
      while (stores() && !has_put) sched_yield();
      for (std::uint64_t i = 0; stores() && i < kCount; ++i)
        ASSERT_EQ(memory[i], sources[i]) << "not stored before its receiver made a call";
      for (std::uint64_t i = 0; i < kCount; ++i) {
        const ph_mailbox_event event = taken(context, box);
        EXPECT_EQ(event.epoch, i);
        EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
        EXPECT_EQ(event.bytes, kBytes);
        EXPECT_EQ(event.from, 1u);
        EXPECT_EQ(memory[i], sources[i]);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Messages with sizes of all ways; each has its number in front.
constexpr std::uint64_t kMixed = 150;
constexpr std::size_t kMost = 200'000;

std::vector<std::byte> numbered(std::size_t size_bytes, std::uint64_t number) {
  auto bytes = filled(size_bytes, number);
  std::copy_n(reinterpret_cast<const std::byte*>(&number), sizeof number, bytes.data());
  return bytes;
}

void send_mixed(ph_context* context) {
  constexpr std::size_t kSizes[] = {8, 1'000, 5'000, 30'000, 66'000, kMost};
  std::mt19937 draw(7);
  std::vector<std::vector<std::byte>> sources(kMixed);
  std::vector<std::uint64_t> ids(kMixed);
  std::vector<int> seen(kMixed, 0);
  std::size_t told = 0;
  for (std::uint64_t i = 0; i < kMixed; ++i) {
    const unsigned size = draw() % 12;
    sources[i] = numbered(kSizes[size < 6 ? size : 3], i);
    ids[i] = i;
    ASSERT_EQ(put_named(context, sources[i], 0, ids[i]), PH_OK);
    if (i - told <= 8) continue;
    take_locals(context, 4, seen);
    told += 4;
  }
  take_locals(context, kMixed - told, seen);
  EXPECT_EQ(seen, std::vector<int>(kMixed, 1));
}

// The owner, which takes buffers back at any moment and posts others.
class Owner {
 public:
  explicit Owner(ph_context* context) : context_(context), box_(granting(context)) {
    buffers_.reserve(kMixed * 4);
    for (int i = 0; i < 4; ++i) post_one();
  }
  void count_all() {
    for (std::uint64_t counted = 0; counted < kMixed;) {
      if (draw_() % 4 == 0 && buffers_.size() < 3 * kMixed) {
        const ph_status status = ph_mailbox_inc_epoch(context_, box_);
        ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << status;
      }
      const ph_mailbox_event event = taken(context_, box_);
      Back& one = buffers_[back_++];
      ASSERT_EQ(event.data, one.memory.data());
      one.then = one.memory;
      post_one();
      // Over a network one may be complete behind a buffer that is still read into.
      EXPECT_TRUE(event.why == PH_MAILBOX_EARLY ||
                  (event.why == PH_MAILBOX_COMPLETE && event.operations == 1));
      if (event.operations == 0) continue;
      ASSERT_EQ(event.operations, 1u);
      ++counted;
      check({one.memory.data(), event.size_bytes});
    }
    EXPECT_EQ(seen_, std::vector<int>(kMixed, 1));
  }
  void expect_unchanged() const {
    for (const Back& one : buffers_)
      EXPECT_TRUE(one.then.empty() || one.memory == one.then) << "changed after it had come back";
  }

 private:
  struct Back {
    std::vector<std::byte> memory, then;
  };

  void post_one() {
    if (buffers_.size() == buffers_.capacity()) return;
    buffers_.push_back({std::vector<std::byte>(kMost), {}});
    ASSERT_EQ(post(context_, box_, buffers_.back().memory), PH_OK);
  }
  void check(std::span<const std::byte> message) {
    std::uint64_t number = 0;
    std::copy_n(message.data(), sizeof number, reinterpret_cast<std::byte*>(&number));
    ASSERT_LT(number, kMixed);
    ++seen_[number];
    ASSERT_TRUE(std::ranges::equal(message, numbered(message.size(), number))) << number;
  }

  ph_context* const context_;
  const ph_mailbox box_;
  std::mt19937 draw_{11};
  std::vector<Back> buffers_;
  std::vector<int> seen_ = std::vector<int>(kMixed, 0);
  std::size_t back_ = 0;
};

// Each message counts once and whole, and what came back stays as it is.
TEST_P(AheadOver, guesses_that_turn_out_wrong_change_nothing) {
  ThreadJob job(2, options({{"mailbox_early_bytes", "4194304"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 1) {
      ASSERT_EQ(ph_barrier(context), PH_OK);
      send_mixed(context);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      return;
    }
    Owner owner(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    owner.count_all();
    ASSERT_EQ(ph_barrier(context), PH_OK);
    owner.expect_unchanged();
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AheadOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
