// A transport that does what the test says, and counts what it is asked for: a child to put under
// another transport.
// Owner: the test, or the transport above it.
#pragma once

#include <sys/eventfd.h>

#include <functional>
#include <map>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/transport.hpp"

namespace photon::transport {

class StubTransport final : public Transport {
 public:
  std::function<void(Sink&)> at_poll = [](Sink&) {};
  std::function<base::Result<Link*>(Rank)> at_connect = [this](Rank) { return &link_; };
  unsigned polls = 0, quiesced = 0, hidden = 0, armed = 0, disarmed = 0, woken = 0;
  std::map<Rank, unsigned> kicks, connects, disconnects, posts, reads, writes;
  bool is_drained = true;
  LaneDoorbell word;
  base::UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  SleepOn on{.fds = {-1, event.get(), -1}, .limit_us = -1};
  std::vector<unsigned> slept_with;  // what slept() was told
  std::vector<RegionEntry> table{16};

  const char* name() const noexcept override { return "stub"; }
  unsigned poll_interval() const noexcept override { return 7; }
  const LaneDoorbell* lane_doorbell() const noexcept override { return &word; }
  base::Result<Link*> connect(Rank rank) override {
    ++connects[rank];
    return at_connect(rank);
  }
  void disconnect(Rank rank) noexcept override { ++disconnects[rank]; }
  void kick(Rank rank) noexcept override { ++kicks[rank]; }
  void poll(Sink& sink) noexcept override {
    ++polls;
    at_poll(sink);
  }
  bool drained() const noexcept override { return is_drained; }
  Reach reach(Rank, std::uint64_t, std::uint64_t) noexcept override { return reach_; }
  base::Result<> read(Rank rank, std::uint64_t, std::span<std::byte>) noexcept override {
    ++reads[rank];
    return {};
  }
  base::Result<> write(Rank rank, std::uint64_t, std::span<const std::byte>) noexcept override {
    ++writes[rank];
    return {};
  }
  bool post(const PostedFragment& fragment) noexcept override {
    return ++posts[fragment.rank] != 0;
  }
  bool has_imm(Rank) const noexcept override { return names; }
  void quiesce() noexcept override { ++quiesced; }
  void hide() noexcept override { ++hidden; }
  std::span<std::byte> arena() noexcept override { return {}; }
  std::span<RegionEntry> regions() noexcept override { return table; }
  void arm() noexcept override { ++armed; }
  void sleep(std::int64_t) noexcept override {}
  SleepOn sleep_on() noexcept override { return on; }
  void slept(unsigned ready) noexcept override { slept_with.push_back(ready); }
  void disarm() noexcept override { ++disarmed; }
  void wake() noexcept override { ++woken; }
  RejectedConnections rejected() const noexcept override { return seen; }
  void describe(Rank, ph_path& path) override { path.transport = says; }

  const char* says = "stub";
  RejectedConnections seen;
  bool names = false;
  Reach reach_;

 private:
  Link link_;
};

// What was reported.
class StubSink final : public Sink {
 public:
  void on_link(Rank rank) override { links.push_back(rank); }
  void on_activity(Rank rank) override { activity.push_back(rank); }
  void on_gone(Rank rank, const base::Error&) override { gone.push_back(rank); }
  void on_done(std::uint64_t token, ph_status) override { done.push_back(token); }
  void on_fragment(Rank rank, std::uint32_t) override { fragments.push_back(rank); }

  std::vector<Rank> links, activity, gone, fragments;
  std::vector<std::uint64_t> done;
};

}  // namespace photon::transport
