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
    if (state == "two" || state == "full") post();
    if (state == "full") last_ = window_.admit({0, kBytes}, *this);
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
    if (last_.fate == Fate::lands) return "full";
    return window_.posted() == 1 ? "one" : "two";
  }
  void handed_over(Window& window, const HandedOver& over) noexcept override {
    static constexpr std::array kWhy = {"complete", "full", "early", "closed", "rewound"};
    EXPECT_EQ(&window, &window_);
    told_.push_back(std::string(kWhy.at(over.why)) + " " + std::to_string(over.epoch - kFirst));
  }

 private:
  std::string post() {
    EXPECT_EQ(window_.post({.data = memory_.data() + kBytes * posted_++, .size_bytes = kBytes}),
              PH_OK);
    return "ok";
  }
  std::string mail(const Mail& mail) {
    const Outcome outcome = window_.admit(mail, *this);
    if (outcome.fate == Fate::waits) return "waits";
    if (outcome.fate == Fate::refused)
      return outcome.status == PH_ERR_EPOCH   ? "refused epoch"
             : outcome.status == PH_ERR_RANGE ? "refused range"
                                              : "refused otherwise";
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
    if (event == "inc_epoch") return window_.inc_epoch(*this) == PH_OK ? "ok" : "again";
    if (event == "landed") {
      window_.landed({0, kBytes}, std::exchange(last_, Outcome{}), *this);
      return "";
    }
    if (event == "close") {
      window_.close(*this);
      return "ok";
    }
    ADD_FAILURE() << "no such event: " << event;
    return "";
  }

  std::array<std::byte, 8 * kBytes> memory_{};
  Window window_{1, Policy{}, {0, 1, kFirst}};
  std::uint64_t posted_ = 0;
  Outcome last_;
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
  for (const char* state : {"empty", "one", "two", "full"}) {
    std::vector<std::string> said;
    for (const Row& row : rows())
      if (row.state == state) said.push_back(row.event);
    for (const char* event : {"half", "inc_epoch"})
      EXPECT_NE(std::find(said.begin(), said.end(), event), said.end()) << state << " " << event;
  }
}

}  // namespace
}  // namespace photon::service::mailbox
