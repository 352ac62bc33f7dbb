// The short way of a word into a window against the long one: two windows that meet the same events
// must tell the same.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {
namespace {

constexpr std::uint64_t kBytes = 64;
constexpr std::size_t kBuffers = 4096;

class One : public Window::Owner {
 public:
  One(const Policy& policy, bool is_short)
      : window_(1, policy, {}), is_short_(is_short), memory_(kBuffers * kBytes) {}

  void post(std::uint64_t threshold) {
    std::byte* const data = memory_.data() + posted_ * kBytes;
    if (window_.post({.data = data, .size_bytes = kBytes, .threshold = threshold}) == PH_OK)
      ++posted_;
  }
  Fate word(std::uint64_t offset, std::uint64_t value) {
    if (is_short_ &&
        window_.land_word({.named = 1, .offset = offset, .word = value, .from = 3}, *this)) {
      ++short_;
      return Fate::lands;
    }
    const Mail mail{.offset = offset, .size_bytes = sizeof value, .from = 3, .named = 1};
    const Outcome outcome = window_.admit(mail, *this);
    if (outcome.fate != Fate::lands) return outcome.fate;
    std::memcpy(outcome.place, &value, sizeof value);
    window_.landed(mail, outcome, *this);
    return outcome.fate;
  }
  // One that begins to land now, and ends by end_slow().
  void begin_slow() {
    if (slow_.fate == Fate::lands) return;
    slow_ = window_.admit(kSlow, *this);
    has_begun_ = slow_.fate == Fate::lands;
  }
  void end_slow(bool fails) {
    if (!has_begun_) return;
    if (fails)
      window_.failed(kSlow, slow_, *this);
    else
      window_.landed(kSlow, slow_, *this);
    has_begun_ = false;
    slow_ = {};
  }
  void inc_epoch() {
    if (!has_begun_) static_cast<void>(window_.inc_epoch(*this));
  }
  void handed_over(Window&, const HandedOver& over) noexcept override {
    const Buffer& buffer = over.buffer;
    const auto at = static_cast<std::uint64_t>(buffer.data - memory_.data());
    const std::uint64_t words[] = {over.epoch,
                                   static_cast<std::uint64_t>(over.why),
                                   at,
                                   buffer.bytes,
                                   buffer.operations,
                                   buffer.top,
                                   buffer.admitted,
                                   buffer.named,
                                   buffer.from};
    told_.insert(told_.end(), std::begin(words), std::end(words));
    std::uint64_t first = 0;
    std::memcpy(&first, buffer.data, sizeof first);
    told_.push_back(first);
  }
  const std::vector<std::uint64_t>& told() const { return told_; }
  const std::vector<std::byte>& memory() const { return memory_; }
  std::uint64_t by_the_short_way() const { return short_; }

 private:
  static constexpr Mail kSlow{.offset = 0, .size_bytes = 16};

  Window window_;
  const bool is_short_;
  std::vector<std::byte> memory_;
  std::vector<std::uint64_t> told_;
  std::uint64_t posted_ = 0, short_ = 0;
  Outcome slow_{};
  bool has_begun_ = false;
};

void go_side_by_side(const Policy& policy, unsigned seed) {
  One with(policy, true), without(policy, false);
  std::mt19937 draw(seed);
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const unsigned what = draw() % 16;
    const unsigned more = draw();
    const auto both = [&](auto call) {
      call(with);
      call(without);
    };
    if (what == 0) both([&](One& one) { one.inc_epoch(); });
    if (what == 1) both([&](One& one) { one.begin_slow(); });
    if (what == 2) both([&](One& one) { one.end_slow(more % 4 == 0); });
    if (what == 3 || what == 4)
      both([&](One& one) { one.post(more % 5 == 0 ? 0 : 1 + more % 90); });
    if (what > 4) {
      const std::uint64_t offset = more % 8 == 0 ? more % 80 : UINT64_MAX - more % 16;
      const std::uint64_t at = more % 32 == 0 ? offset : more % (kBytes - 7);
      ASSERT_EQ(with.word(at, step), without.word(at, step)) << "step " << step;
    }
    ASSERT_EQ(with.told().size(), without.told().size()) << "step " << step;
  }
  EXPECT_EQ(with.told(), without.told());
  EXPECT_EQ(with.memory(), without.memory());
  const bool is_steered = policy.placing == PH_MAILBOX_STEERED && !policy.is_for_reading;
  EXPECT_EQ(with.by_the_short_way() > 1000, is_steered) << with.by_the_short_way();
}

TEST(LandWord, is_admit_and_landed_in_one_step) {
  Policy steered;
  Policy operations;
  operations.unit = PH_MAILBOX_OPERATIONS;
  operations.threshold = 3;
  operations.keeps_early = false;
  operations.retained = 2;
  Policy managed;
  managed.placing = PH_MAILBOX_MANAGED;
  Policy reading;
  reading.is_for_reading = true;
  for (const Policy& policy : {steered, operations, managed, reading})
    for (unsigned seed = 1; seed <= 5; ++seed) go_side_by_side(policy, seed);
}

}  // namespace
}  // namespace photon::service::mailbox
