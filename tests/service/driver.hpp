// How a test uses one service: what its user starts and takes, and what its peers say. One row of
// the table that the conformance suite runs over; a new service adds its own.
//
// Owner: the test. Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "fake_port.hpp"

namespace photon::test {

class Driver {
 public:
  explicit Driver(wire::Owner owner) : port_(owner) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  FakePort& port() noexcept { return port_; }
  virtual service::Service& service() noexcept = 0;

  // Kinds of operations that a user can start, and the start of one: its status.
  virtual std::size_t kinds() const noexcept = 0;
  virtual ph_status start(std::size_t kind, Rank to) = 0;
  // What a peer says to that, if anything.
  virtual std::optional<Coming> answer(const Said& said) = 0;
  // What a peer begins: message after message.
  virtual std::vector<Coming> arrivals(Rank from) = 0;
  // The user takes whatever there is for him. How many of his operations are over, ever.
  virtual void take() = 0;
  virtual std::uint64_t over() noexcept = 0;

  // All that was said is answered, and what that leads to is done.
  void answer_all() {
    for (Said said; port_.take(said);) {
      const auto coming = answer(said);
      if (coming.has_value()) {
        EXPECT_TRUE(port_.deliver(*coming) || is_lost(said.to));
      }
      port_.run_turns();
    }
  }
  bool is_lost(Rank rank) noexcept { return port_.state(rank) != PH_OK; }

 private:
  FakePort port_;
};

struct ServiceRow {
  const char* name;
  std::unique_ptr<Driver> (*make)();
};

inline void PrintTo(const ServiceRow& row, std::ostream* out) { *out << row.name; }

std::unique_ptr<Driver> drive_am();
std::unique_ptr<Driver> drive_echo();
std::unique_ptr<Driver> drive_mailbox();
std::unique_ptr<Driver> drive_rendezvous();

inline const std::vector<ServiceRow>& all_services() {
  static const std::vector<ServiceRow> rows = {
      {"am", drive_am},
      {"echo", drive_echo},
      {"mailbox", drive_mailbox},
      {"rendezvous", drive_rendezvous},
  };
  return rows;
}

}  // namespace photon::test
