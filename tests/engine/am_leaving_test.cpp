// A rank leaves with everything of active messages under way: messages that queue for want of
// slots, collected ones, payloads half read, a chunk that a handler holds, replies that are wanted,
// a quiesce, an open span. Nothing hangs, who stays hears of each end, and nothing is held behind
// it.
#include <gtest/gtest.h>
#include <photon/lane.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/am_pull_calls.hpp"

namespace photon::test {
namespace {

constexpr ph_rank kStays = 0;
constexpr ph_rank kLeaves = 1;
enum Id : std::uint32_t { kSink = 1, kLands = 2, kHolds = 3 };

constexpr std::size_t kRead = 1 << 20;     // of the payload that is half read
constexpr std::uint64_t kPart = 16 << 10;  // of which a poll tells sixteen at most
constexpr std::size_t kLent = 1500;        // one chunk, under each setting
constexpr std::size_t kPulled = 100'000;

// The end of a lane by its own steps, with a look at what it holds before it is gone.
ph_status end_audited(ph_context* lane) {
  using engine::LaneGuard;
  {
    const LaneGuard inside(*lane->lane, LaneGuard::Kind::visit);
    lane->lane->close();
    lane->engine->tell_closed();
  }
  LaneGuard guard(*lane->lane, LaneGuard::Kind::closed_too);
  const ph_status status = lane->engine->finalize(guard, {});
  const engine::ResourceUse held = lane->engine->resource_use();
  EXPECT_EQ(held.queued, 0u);
  EXPECT_EQ(held.requests, 0u);
  EXPECT_EQ(held.pins, 0u);
  lane->last_error = lane->engine->last_error();
  lane->am = nullptr;
  lane->engine.reset();
  return status;
}

// What a request is of, and when it is over for who has sent it.
enum class End : std::uint8_t { copied, handled };
struct What {
  const char* text;
  End end;
};

// One rank's part, on a lane or on the context itself.
class Side {
 public:
  Side(ph_context* lane, std::atomic<int>& half_read)
      : lane_(lane),
        me_(ph_rank_of(lane)),
        source_(filled(kRead, me_)),
        pulled_(filled(kPulled, 7)),
        landing_(kRead),
        done_([this, &half_read](const ph_am_message&, const ph_am_part& part) {
          if (part.offset != 0) return PH_OK;
          // Serves the other's gets, and is told no other part, until both are here.
          for (++half_read; half_read < 2;) probe();
          return PH_OK;
        }),
        lands_([this](const ph_am_message& message, ph_am_landing& landing) {
          if (message.payload_bytes == kRead) {
            landing.buffer = landing_.data();
            landing.buffer_bytes = landing_.size();
            landing.chunk_bytes = kPart;
            done_.name(landing);
          } else {
            landing.flags = PH_AM_DROP;
            ++dropped_;
          }
          return PH_OK;
        }),
        sink_([this](const ph_am_message&, ph_am_landing&) {
          ++handled_;
          return PH_OK;
        }),
        holds_([this](const ph_am_message& message, ph_am_landing&) {
          const auto bytes = std::span(static_cast<const std::byte*>(message.payload), kLent);
          EXPECT_EQ(first_difference(bytes, 3), kLent);
          is_held_ = true;
          while (am_is_open()) std::this_thread::yield();
          EXPECT_EQ(first_difference(bytes, 3), kLent) << "it was given back";
          return PH_OK;
        }) {
    requests_.reserve(32);
    lands_.enroll(lane_, kLands);
    sink_.enroll(lane_, kSink);
    holds_.enroll(lane_, kHolds);
  }

  // Until a payload of each is half read.
  void read_half() {
    ph_am_args args = am_args(kLands, source_);
    send(args, PH_DELIVERED, {"half read", End::handled});
    poll_until(lane_, [this] { return !done_.parts.empty(); });
    EXPECT_EQ(done_.ends(), 0u);
    is_half_read_ = true;
  }

  // Until a chunk is handled where it lies, by another thread, which goes on with it.
  void hold(std::atomic<bool>& is_held) {
    if (me_ == kStays) {
      const auto bytes = filled(kLent, 3);
      ph_am_args args = am_args(kHolds, bytes);
      ASSERT_EQ(send_surely(lane_, [&] { return ph_am_send(lane_, kLeaves, &args); }), PH_OK);
      poll_until(lane_, [&] { return is_held.load(); });
      return;
    }
    const std::uint64_t lent_before = am_counter(lane_, "am_lent");
    holder_ = std::thread([this] {
      while (!is_held_) static_cast<void>(ph_am_poll(lane_, 0));
    });
    while (!is_held_) std::this_thread::yield();
    EXPECT_EQ(am_counter(lane_, "am_lent") - lent_before, 1u) << "it was copied first";
    is_held = true;
  }

  // All that may be under way to the other rank, who makes no progress meanwhile.
  void post_all() {
    const auto word = filled(8, 1);
    for (int i = 0; i < 12; ++i)
      count(send(am_args(kSink, word), PH_DELIVERED, {"a line", End::handled}));
    for (int i = 0; i < 8; ++i) count(ph_am_send_small(lane_, other(), kSink, block_of(word)));
    EXPECT_GT(am_counter(lane_, "am_queued"), 0u);
    const auto chunk = filled(3000, 2);
    for (int i = 0; i < 2; ++i) count(send(am_args(kSink, chunk), 0, {"a chunk", End::copied}));
    for (int i = 0; i < 2; ++i)
      send(am_args(kLands, pulled_), PH_DELIVERED, {"a pulled one", End::handled});
    send(am_args(kLands, pulled_), 0, {"a pulled one that is only read", End::handled});
    for (int i = 0; i < 2; ++i)
      count(send(am_args(kSink, word), PH_AM_REPLY | PH_DELIVERED, {"a request", End::handled}));
    ASSERT_EQ(ph_am_prepare(lane_, other(), 500, 500, &slot_), PH_OK);
    fill({static_cast<std::byte*>(slot_.data), 500}, 4);
    for (int i = 0; i < 3; ++i) {
      ph_am_args args = am_args(kSink, word);
      args.flags |= PH_AM_MAY_WAIT;
      count(ph_am_send(lane_, other(), &args));
    }
    whats_.push_back({"the quiesce", End::handled});
    requests_.push_back(PH_REQUEST_NONE);
    ASSERT_EQ(ph_am_quiesce_begin(lane_, &requests_.back()), PH_OK) << last_error(lane_).text;
  }

  void leave(bool is_lane) {
    EXPECT_EQ(is_lane ? end_audited(lane_) : ph_finalize(lane_), PH_ERR_STATE);
    EXPECT_NE(words().find("am_prepare"), std::string::npos) << words();
    if (holder_.joinable()) holder_.join();
    left_ = landing_;
  }
  void expect_landing_untouched() const { EXPECT_EQ(landing_, left_) << "it was the rank's again"; }

  // The other one has left, or is about to.
  void stay(std::uint64_t accepted_there) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const ph_status end = ph_wait_request(lane_, &requests_[i], nullptr, PH_FOREVER);
      const bool is_over = end == PH_OK && whats_[i].end == End::copied;
      EXPECT_TRUE(end == PH_ERR_DEPARTED || is_over)
          << whats_[i].text << ": " << ph_status_text(end);
    }
    poll_until(lane_, [this] { return !is_half_read_ || done_.ends() == 1; });
    if (is_half_read_) {
      EXPECT_EQ(done_.parts.back().status, PH_OK) << "it waits until its payload was read";
      EXPECT_EQ(first_difference(landing_, other()), kRead);
    }
    while (ph_am_poll(lane_, 0) == PH_OK) {  // what came before its last word
    }
    EXPECT_EQ(handled_, accepted_there) << "what had been accepted was lost";
    EXPECT_EQ(dropped_, 3u);
    EXPECT_EQ(first_difference({static_cast<std::byte*>(slot_.data), 500}, 4), 500u);
    fill({static_cast<std::byte*>(slot_.data), 500}, 5);  // ours, whoever has left
    EXPECT_EQ(ph_am_commit(&slot_, kSink, {}, 500), PH_ERR_DEPARTED);
    EXPECT_EQ(ph_am_cancel(&slot_), PH_ERR_STATE);
    while (count_now(lane_, PH_EITHER) != 0) {
    }
    const engine::LaneGuard guard(*lane_->lane);
    const engine::ResourceUse held = lane_->engine->resource_use();
    EXPECT_EQ(held.queued, 0u);
    EXPECT_EQ(held.requests, 0u);
    EXPECT_EQ(held.events, 0);
    EXPECT_EQ(held.blocks, 0u);
    EXPECT_EQ(held.pins, 0u);
  }
  std::uint64_t accepted() const { return accepted_; }

 private:
  ph_rank other() const { return 1 - me_; }
  std::string words() const { return last_error(lane_).text; }
  ph_status probe() {
    std::size_t found = 0;
    return ph_probe(lane_, kAnyRemote, nullptr, 0, &found);
  }
  bool am_is_open() { return probe() != PH_ERR_STATE; }
  void count(ph_status status) {
    EXPECT_EQ(status, PH_OK) << words();
    accepted_ += status == PH_OK ? 1 : 0;
  }
  // With a request.
  ph_status send(ph_am_args args, std::uint32_t flags, const What& what) {
    whats_.push_back(what);
    requests_.push_back(PH_REQUEST_NONE);
    args.flags = flags;
    args.request = &requests_.back();
    const ph_status status = ph_am_send(lane_, other(), &args);
    EXPECT_EQ(status, PH_OK) << words();
    return status;
  }

  ph_context* lane_;
  const ph_rank me_;
  std::vector<ph_request> requests_;
  std::vector<What> whats_;
  std::vector<std::byte> source_, pulled_, landing_, left_;
  ph_am_slot slot_{};
  std::uint64_t accepted_ = 0, handled_ = 0;
  std::size_t dropped_ = 0;
  bool is_half_read_ = false;
  std::atomic<bool> is_held_ = false;
  AmDone done_;
  AmHandler lands_, sink_, holds_;
  std::thread holder_;
};

class AmLeaving : public OverSettings {
 protected:
  enum class While : std::uint8_t { half_read, held };
  static void run(bool is_lane, While what) {
    ThreadJob job(2, options({{"am_slots", "4"}}));
    std::atomic<int> half_read = 0;
    std::atomic<bool> is_held = false;
    std::array<std::atomic<std::uint64_t>, 2> accepted{};
    job.run([&](ph_context* context, ph_rank rank) {
      ph_context* const lane = is_lane ? open_lane(context, 1) : context;
      Side side(lane, half_read);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      job.meet();  // at whose end no handler runs
      if (what == While::half_read)
        side.read_half();
      else
        side.hold(is_held);
      job.meet();
      side.post_all();
      accepted[rank] = side.accepted();
      job.meet();
      if (rank == kLeaves)
        side.leave(is_lane);
      else
        side.stay(accepted[kLeaves]);
      job.meet();
      if (rank == kLeaves) side.expect_landing_untouched();
      if (!is_lane) return;
      EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(lane).text;
    });
  }
};

TEST_P(AmLeaving, a_lane_that_closes_while_payloads_are_read_ends_all_that_is_under_way) {
  run(true, While::half_read);
}

TEST_P(AmLeaving, a_context_that_finalizes_while_payloads_are_read_ends_all_that_is_under_way) {
  run(false, While::half_read);
}

TEST_P(AmLeaving, a_lane_that_closes_while_a_chunk_is_held_ends_all_that_is_under_way) {
  run(true, While::held);
}

TEST_P(AmLeaving, a_context_that_finalizes_while_a_chunk_is_held_ends_all_that_is_under_way) {
  run(false, While::held);
}

INSTANTIATE_TEST_SUITE_P(Transports, AmLeaving, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
