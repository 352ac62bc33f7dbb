// One rank of a conformance test: its transport, what poll() reported, a Channel per link.
// Owner: TransportHarness. Threads: one at a time, but wake().
#pragma once

#include <bit>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "boot/boot.hpp"
#include "channel.hpp"

namespace photon::test {

class Peer final : public transport::Sink {
 public:
  struct Seen {
    unsigned links_count = 0;
    unsigned activities_count = 0;
    unsigned gone_count = 0;
    base::Error why;
  };
  // A fragment of ours is over.
  struct Done {
    std::uint64_t token;
    ph_status status;
  };

  Peer(std::unique_ptr<boot::Boot> boot, std::unique_ptr<transport::Transport> transport,
       const base::Config& config)
      : boot_(std::move(boot)),
        transport_(std::move(transport)),
        sizes_{static_cast<unsigned>(std::countr_zero(config.ring_lines)), config.bulk_bytes},
        channels_(boot_->size()),
        seen_(boot_->size()) {}

  transport::Rank rank() const { return boot_->rank(); }
  std::uint32_t size() const { return boot_->size(); }
  transport::Transport& transport() { return *transport_; }
  boot::Boot& boot() { return *boot_; }
  Seen& seen(transport::Rank rank) { return seen_[rank]; }
  std::vector<Done>& done() { return done_; }             // in the order they were told
  std::vector<std::uint32_t>& names() { return names_; }  // of fragments that landed here

  // For the test: called while they are told.
  std::function<void(const Done&)> at_done = [](const Done&) {};
  std::function<void(std::uint32_t)> at_fragment = [](std::uint32_t) {};
  std::function<void(transport::Rank)> at_gone = [](transport::Rank) {};

  // The Channel to a rank, made by connect() on first use.
  Channel& to(transport::Rank rank) {
    if (!channels_[rank]) {
      auto link = transport_->connect(rank);
      if (!link) throw std::runtime_error("connect: " + link.error().what);
      channels_[rank] = std::make_unique<Channel>(*transport_, rank, **link, sizes_);
    }
    return *channels_[rank];
  }
  bool knows(transport::Rank rank) const { return channels_[rank] != nullptr; }
  // Forget the Channel, then release the Link under it.
  void disconnect(transport::Rank rank) {
    channels_[rank].reset();
    transport_->disconnect(rank);
  }

  void poll() {
    transport_->poll(*this);
    for (const transport::Rank rank : new_links_) to(rank);
    new_links_.clear();
  }

  // arm, look, sleep, disarm as the engine does it. `look` says whether there is something
  // to do; it is asked once more after the announcement.
  void sleep_unless(const std::function<bool()>& look, std::int64_t timeout_us) {
    set_cold(true);
    transport_->arm();
    if (!look()) transport_->sleep(timeout_us);
    transport_->disarm();
    set_cold(false);
  }
  // Poll and sleep until `done`.
  void wait_until(const std::function<bool()>& done) {
    constexpr std::int64_t kLongerThanTheWatchdogUs = 600'000'000;
    for (poll(); !done(); poll()) sleep_unless(done, kLongerThanTheWatchdogUs);
  }
  void set_cold(bool cold) {
    for (auto& channel : channels_)
      if (channel) channel->set_cold(cold);
  }

 private:
  void on_link(transport::Rank rank) override {
    ++seen_[rank].links_count;
    new_links_.push_back(rank);
  }
  void on_activity(transport::Rank rank) override { ++seen_[rank].activities_count; }
  void on_gone(transport::Rank rank, const base::Error& why) override {
    ++seen_[rank].gone_count;
    seen_[rank].why = why;
    at_gone(rank);
  }
  void on_done(std::uint64_t token, ph_status status) override {
    done_.push_back({token, status});
    at_done(done_.back());
  }
  void on_fragment(transport::Rank, std::uint32_t name) override {
    names_.push_back(name);
    at_fragment(name);
  }

  std::unique_ptr<boot::Boot> boot_;  // first: the transport uses it to its end
  std::unique_ptr<transport::Transport> transport_;
  const RingSizes sizes_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Seen> seen_;
  std::vector<transport::Rank> new_links_;
  std::vector<Done> done_;
  std::vector<std::uint32_t> names_;
};

}  // namespace photon::test
