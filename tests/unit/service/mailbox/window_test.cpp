// The table of docs/mailbox.md: each of its rows is driven here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {
namespace {

struct Row {
  std::string state, event, outcome, then;
};

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(trimmed(part));
  return parts;
}

std::vector<Row> rows() {
  std::ifstream page(std::string(PHOTON_SOURCE_DIR) + "/docs/mailbox.md");
  std::vector<Row> found;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| state | event |")) inside = true;
    if (inside && !line.starts_with("|")) inside = false;
    const auto cells = split(line, '|');
    if (!inside || cells.size() != 5 || cells[1] == "state" || cells[1].starts_with("-")) continue;
    found.push_back({cells[1], cells[2], cells[3], cells[4]});
  }
  return found;
}

// A mailbox whose first epoch is 5, so that there is one before it; the table counts from 0.
class Driver : public Window::Owner {
 public:
  static constexpr std::uint64_t kFirst = 5;
  static constexpr std::uint64_t kBytes = 64;

  explicit Driver(const std::string& state) {
    if (state != "empty") post();
    if (state == "two" || state == "full" || state == "leaving") post();
    if (state == "full" || state == "leaving") last_ = window_.admit({0, kBytes}, *this);
    if (state == "leaving") once("stuck inc_epoch");
    told_.clear();
  }

  std::string drive(const std::string& events) {
    for (const std::string& event : split(events, ',')) {
      told_.clear();
      const std::string verdict = once(event);
      if (!verdict.empty()) told_.insert(told_.begin(), verdict);
    }
    std::string all;
    for (const std::string& one : told_) all += (all.empty() ? "" : ", ") + one;
    return all;
  }
  std::string state() {
    if (window_.posted() == 0) return "empty";
    if (stray_ != 0) return "leaving";
    if (last_.fate == Fate::lands) return window_.posted() == 1 ? "last" : "full";
    return window_.posted() == 1 ? "one" : "two";
  }
  // As its owner does, but that a mailbox that is closed admits nothing anew.
  void recall(Window& window, std::uint64_t epoch) noexcept override {
    EXPECT_EQ(last_.epoch, epoch);
    last_ = {};
    if (is_stuck_)
      stray_ = epoch;
    else
      window.let_go(epoch, *this);
    if (!is_closed_) last_ = window.admit({0, kBytes}, *this);
  }
  void handed_over(Window& window, const HandedOver& over) noexcept override {
    static constexpr std::array kWhy = {"complete", "full",       "early", "closed",
                                        "rewound",  "incomplete", "linger"};
    EXPECT_EQ(&window, &window_);
    told_.push_back(std::string(kWhy.at(over.why)) + " " + std::to_string(over.epoch - kFirst));
  }

 private:
  std::string post() {
    EXPECT_EQ(window_.post({.data = memory_.data() + kBytes * posted_++, .size_bytes = kBytes}),
              PH_OK);
    return "ok";
  }
  std::string withdraw(std::uint64_t bytes, std::uint64_t epoch = PH_ANY_EPOCH) {
    return mail({.size_bytes = bytes, .epoch = epoch, .withdraws = true});
  }
  std::string mail(const Mail& mail) {
    const Outcome outcome =
        mail.withdraws ? window_.withdraw(mail, *this) : window_.admit(mail, *this);
    if (outcome.fate == Fate::waits) return "waits";
    if (outcome.fate == Fate::refused)
      return outcome.status == PH_ERR_EPOCH   ? "refused epoch"
             : outcome.status == PH_ERR_RANGE ? "refused range"
                                              : "refused otherwise";
    if (mail.withdraws) return "counts " + std::to_string(outcome.epoch - kFirst);
    window_.landed(mail, outcome, *this);
    return "lands " + std::to_string(outcome.epoch - kFirst);
  }
  std::string once(const std::string& event) {
    const std::uint64_t now = window_.epoch();
    if (event == "post") return post();
    if (event == "half") return mail({0, kBytes / 2});
    if (event == "whole") return mail({0, kBytes});
    if (event == "far") return mail({1, kBytes});
    if (event == "next") return mail({0, kBytes / 2, now + 1});
    if (event == "next whole") return mail({0, kBytes, now + 1});
    if (event == "past") return mail({0, kBytes / 2, now - 1});
    if (event == "other") return mail({0, kBytes / 2, PH_ANY_EPOCH, 77});
    if (event == "withdraw half") return withdraw(kBytes / 2);
    if (event == "withdraw whole") return withdraw(kBytes);
    if (event == "withdraw more") return withdraw(kBytes + 1);
    if (event == "withdraw past") return withdraw(1, now - 1);
    if (event == "withdraw next") return withdraw(kBytes, now + 1);
    if (event == "inc_epoch") return window_.inc_epoch(*this) == PH_OK ? "ok" : "again";
    if (event == "linger")
      return window_.inc_epoch(*this, PH_MAILBOX_LINGER) == PH_OK ? "ok" : "again";
    if (event == "stuck inc_epoch") {
      is_stuck_ = true;
      const std::string said = once("inc_epoch");
      is_stuck_ = false;
      return said;
    }
    if (event == "let go") {
      window_.let_go(std::exchange(stray_, 0), *this);
      return "";
    }
    if (event == "failed") {
      window_.failed({0, kBytes}, std::exchange(last_, Outcome{}), *this);
      return "";
    }
    if (event == "landed") {
      window_.landed({0, kBytes}, std::exchange(last_, Outcome{}), *this);
      return "";
    }
    if (event == "close") {
      is_closed_ = true;
      window_.close(*this);
      return "ok";
    }
    ADD_FAILURE() << "no such event: " << event;
    return "";
  }

  std::array<std::byte, 8 * kBytes> memory_{};
  Window window_{1, Policy{}, {0, 1, kFirst}};
  std::uint64_t posted_ = 0;
  Outcome last_;             // admitted, not landed
  std::uint64_t stray_ = 0;  // the epoch of the buffer that is still written to; 0: none is
  bool is_stuck_ = false;    // what is recalled cannot be given up
  bool is_closed_ = false;
  std::vector<std::string> told_;
};

TEST(WindowTable, each_row_of_the_page_is_what_happens) {
  const std::vector<Row> all = rows();
  ASSERT_GE(all.size(), 25u);
  for (const Row& row : all) {
    Driver driver(row.state);
    ASSERT_EQ(driver.state(), row.state);
    EXPECT_EQ(driver.drive(row.event), row.outcome) << row.state << " | " << row.event;
    EXPECT_EQ(driver.state(), row.then) << row.state << " | " << row.event;
  }
}

// Nothing may be said of a state and an event that the table leaves out.
TEST(WindowTable, each_state_meets_each_single_event_that_may_come) {
  for (const char* state : {"empty", "one", "two", "full", "leaving"}) {
    std::vector<std::string> said;
    for (const Row& row : rows())
      if (row.state == state) said.push_back(row.event);
    for (const char* event : {"half", "inc_epoch", "withdraw half"})
      EXPECT_NE(std::find(said.begin(), said.end(), event), said.end()) << state << " " << event;
  }
}

// A managed mailbox: where each message went, and which buffers are over.
class Managed : public Window::Owner {
 public:
  explicit Managed(const Policy& policy = {PH_MAILBOX_BYTES, PH_MAILBOX_MANAGED, 0, 0, true})
      : window(1, policy, {}) {}

  void post(std::uint64_t size_bytes, std::uint64_t threshold = 0) {
    EXPECT_EQ(
        window.post(
            {.data = memory_.data() + used_, .size_bytes = size_bytes, .threshold = threshold}),
        PH_OK);
    used_ += size_bytes;
  }
  Outcome admit(std::uint64_t size_bytes, std::uint64_t epoch = PH_ANY_EPOCH) {
    return window.admit({0, size_bytes, epoch, 0, true}, *this);
  }
  // "epoch at offset", or why not.
  std::string append(std::uint64_t size_bytes, std::uint64_t epoch = PH_ANY_EPOCH) {
    const Outcome outcome = admit(size_bytes, epoch);
    if (outcome.fate == Fate::waits) return "waits";
    if (outcome.fate == Fate::refused) return "refused " + std::to_string(outcome.status);
    window.landed({0, size_bytes, epoch, 0, true}, outcome, *this);
    return place(outcome);
  }
  std::string place(const Outcome& outcome) const {
    return std::to_string(outcome.epoch) + " at " + std::to_string(outcome.place - memory_.data());
  }
  void handed_over(Window&, const HandedOver& over) noexcept override { overs.push_back(over); }
  // The last buffer that is over: why, and how much of it.
  void expect_over(std::size_t count, ph_mailbox_why why, std::uint64_t bytes) {
    ASSERT_EQ(overs.size(), count);
    EXPECT_EQ(overs.back().why, why);
    EXPECT_EQ(overs.back().buffer.bytes, bytes);
    EXPECT_EQ(overs.back().buffer.top, bytes);
  }

  Window window;
  std::vector<HandedOver> overs;

 private:
  std::array<std::byte, 512> memory_{};
  std::uint64_t used_ = 0;
};

const std::string kTooLarge = "refused " + std::to_string(PH_ERR_RANGE);

TEST(ManagedWindow, one_message_lands_behind_the_other_until_the_buffer_is_complete) {
  Managed one;
  one.post(64);
  EXPECT_EQ(one.append(24), "0 at 0");
  EXPECT_EQ(one.append(39), "0 at 24");
  EXPECT_TRUE(one.overs.empty());
  EXPECT_EQ(one.append(1), "0 at 63");
  one.expect_over(1, PH_MAILBOX_COMPLETE, 64);
  EXPECT_EQ(one.append(1), "waits");
}

TEST(ManagedWindow, a_message_that_does_not_fit_hands_the_buffer_over_and_is_first_of_the_next) {
  Managed one;
  one.post(64);
  one.post(64);
  EXPECT_EQ(one.append(40), "0 at 0");
  EXPECT_EQ(one.append(25), "1 at 64");
  one.expect_over(1, PH_MAILBOX_FULL, 40);
  EXPECT_EQ(one.append(24), "1 at 89") << "also what would have fitted before";
  EXPECT_EQ(one.append(60), "waits");
  one.expect_over(2, PH_MAILBOX_FULL, 49);
  one.post(64);
  EXPECT_EQ(one.append(60), "2 at 128");
}

// Where the next one goes is known only then.
TEST(ManagedWindow, one_message_lands_at_a_time) {
  Managed one;
  one.post(64);
  one.post(64);
  const Outcome first = one.admit(40);
  EXPECT_EQ(one.append(64), "waits");
  EXPECT_EQ(one.append(8, 1), "waits");
  one.window.landed({0, 40, PH_ANY_EPOCH, 0, true}, first, one);
  EXPECT_EQ(one.append(64), "1 at 64");
  ASSERT_EQ(one.overs.size(), 2u);
  EXPECT_EQ(one.overs[0].why, PH_MAILBOX_FULL);
  EXPECT_EQ(one.overs[0].buffer.bytes, 40u);
  EXPECT_EQ(one.overs[1].why, PH_MAILBOX_COMPLETE);
}

TEST(ManagedWindow, the_place_of_one_that_failed_is_used_again) {
  Managed one;
  one.post(64);
  EXPECT_EQ(one.append(8), "0 at 0");
  const Outcome failed = one.admit(56);
  one.window.failed({0, 56, PH_ANY_EPOCH, 0, true}, failed, one);
  EXPECT_TRUE(one.overs.empty());
  EXPECT_EQ(one.append(56), "0 at 8");
  one.expect_over(1, PH_MAILBOX_COMPLETE, 64);
}

TEST(ManagedWindow, a_message_larger_than_its_buffer_is_refused) {
  Managed one;
  one.post(64);
  EXPECT_EQ(one.append(65), kTooLarge);
  EXPECT_EQ(one.append(UINT64_MAX), kTooLarge);
  EXPECT_TRUE(one.overs.empty()) << "an empty buffer stays";
  one.post(32);
  EXPECT_EQ(one.append(60), "0 at 0");
  EXPECT_EQ(one.append(33), kTooLarge) << "for the next one, too";
  EXPECT_TRUE(one.overs.empty()) << "a message that is refused hands nothing over";
  EXPECT_EQ(one.append(32), "1 at 64");
  one.expect_over(2, PH_MAILBOX_COMPLETE, 32);
}

// Who names an epoch means that one: it is not divided by what does not fit.
TEST(ManagedWindow, a_message_that_names_its_epoch_goes_to_no_other) {
  Managed one;
  one.post(64);
  one.post(64);
  EXPECT_EQ(one.append(40, 0), "0 at 0");
  EXPECT_EQ(one.append(40, 0), kTooLarge);
  EXPECT_TRUE(one.overs.empty());
  EXPECT_EQ(one.append(40, 1), "1 at 64");
  EXPECT_EQ(one.append(24, 0), "0 at 40");
  one.expect_over(1, PH_MAILBOX_COMPLETE, 64);
  EXPECT_EQ(one.append(1, 0), "refused " + std::to_string(PH_ERR_EPOCH));
  EXPECT_EQ(one.append(24), "1 at 104");
  one.expect_over(2, PH_MAILBOX_COMPLETE, 64);
}

TEST(ManagedWindow, a_threshold_of_operations_counts_them_and_a_full_buffer_ends_before_it) {
  Managed one({PH_MAILBOX_OPERATIONS, PH_MAILBOX_MANAGED, 3, 0, true});
  one.post(64);
  for (int i = 0; i < 3; ++i) EXPECT_NE(one.append(2), "waits");
  one.expect_over(1, PH_MAILBOX_COMPLETE, 6);
  EXPECT_EQ(one.overs[0].buffer.operations, 3u);
  one.post(64);
  EXPECT_EQ(one.append(64), "1 at 64");
  EXPECT_EQ(one.append(1), "waits");
  one.expect_over(2, PH_MAILBOX_FULL, 64);
}

TEST(ManagedWindow, what_is_not_of_its_kind_is_refused) {
  Managed one;
  one.post(64);
  const auto status = [&](const Mail& mail) { return one.window.admit(mail, one).status; };
  EXPECT_EQ(status({.size_bytes = 8}), PH_ERR_ARGUMENT) << "not an append";
  EXPECT_EQ(status({.offset = 8, .size_bytes = 8, .appends = true}), PH_ERR_ARGUMENT);
  EXPECT_EQ(status({.size_bytes = 0, .appends = true}), PH_ERR_ARGUMENT);
  Managed steered({PH_MAILBOX_BYTES, PH_MAILBOX_STEERED, 0, 0, true});
  steered.post(64);
  EXPECT_EQ(steered.append(8), "refused " + std::to_string(PH_ERR_ARGUMENT));
  EXPECT_EQ(one.append(64), "0 at 0") << "what was refused has left no trace";
}

// Its buffers may be of any size: a threshold that one of them cannot count is refused.
TEST(ManagedWindow, a_threshold_that_no_message_reaches_is_refused) {
  Managed one;
  std::array<std::byte, 8> memory{};
  EXPECT_EQ(one.window.post({.data = memory.data(), .size_bytes = 8, .threshold = 9}),
            PH_ERR_ARGUMENT);
  EXPECT_EQ(one.window.post({.data = memory.data(), .size_bytes = 8, .threshold = 8}), PH_OK);
}

// A retained buffer keeps what had landed, and an early one of a managed mailbox begins anew.
TEST(ManagedWindow, a_rewind_lets_messages_land_from_the_front_again) {
  Managed one({PH_MAILBOX_BYTES, PH_MAILBOX_MANAGED, 0, 2, true});
  one.post(64);
  one.post(64);
  EXPECT_EQ(one.append(64), "0 at 0");
  EXPECT_EQ(one.append(40), "1 at 64");
  ASSERT_EQ(one.window.rewind(0, 7, one), PH_OK);
  EXPECT_EQ(one.append(64), "1 at 64");
  one.expect_over(2, PH_MAILBOX_COMPLETE, 64);
  EXPECT_EQ(one.overs[1].incarnation, 7u);
  EXPECT_EQ(one.window.retained(), 2u);
  EXPECT_EQ(one.window.retained(0).epoch, 1u) << "the newest first";
  EXPECT_EQ(one.window.retained(1).epoch, 0u);
}

}  // namespace
}  // namespace photon::service::mailbox
