// Two cards on a wire without a network: 12.5 GB/s, 100 ns of flight, a FIFO of one packet behind
// the one on the link. With `jitter` a packet takes up to so much longer, so that packets overtake.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "netsim/clock/random.hpp"
#include "netsim/nic/settings.hpp"

namespace photon::netsim::nic {

class Wire {
 public:
  struct Told {
    Time time;  // when the rank has taken the notice
    std::uint32_t node;
    Notice notice;
    std::uint32_t packets;  // of data that had come to the node with this tag
  };

  explicit Wire(const Settings& settings, Time jitter = 0, std::uint64_t seed = 0)
      : settings_(settings), jitter_(jitter), random_(seed, 0) {
    for (std::uint32_t node = 0; node < 2; ++node) {
      ends_[node] = std::make_unique<End>(*this, node);
      ends_[node]->card = make_card(settings, *ends_[node], node, 1);
    }
  }

  // Rank 0 of node 0 sends to rank 0 of node 1, from `time` on.
  void send(Time time, std::uint32_t bytes, std::uint16_t tag) {
    const Operation operation{{1, 0}, bytes, 0, tag, true};
    at(time, [this, operation] {
      at(now_ + ends_[0]->card->host_time(0, operation),
         [this, operation] { ends_[0]->card->on_post(0, operation); });
    });
  }
  void use(Time time) {
    at(time, [this] { ends_[1]->card->on_buffer(0, {0, 0}); });
  }
  void deliver(const Packet& packet) {
    at(now_, [this, packet] { ends_[packet.destination.node]->card->on_packet(packet); });
  }
  void run() {
    while (!events_.empty()) {
      now_ = events_.begin()->first;
      const std::function<void()> what = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      what();
    }
  }
  std::vector<Told> told_to(std::uint32_t node, NoticeKind kind) const {
    std::vector<Told> some;
    for (const Told& one : told) {
      if (one.node == node && one.notice.kind == kind) some.push_back(one);
    }
    return some;
  }
  Card& card(std::uint32_t node) { return *ends_[node]->card; }

  std::vector<Told> told;
  std::vector<Packet> sent;  // in the order of leaving
  std::string failure;       // the first
  bool frees_at_once = false;

 private:
  struct End final : Port {
    End(Wire& its_wire, std::uint32_t its_node) : wire(its_wire), node(its_node) {}
    Time now() const override { return wire.now_; }
    void at(Time time, Timer timer) override {
      wire.at(time, [this, timer] { card->on_timer(timer); });
    }
    bool send(const Packet& packet) override {
      const std::uint32_t bytes = wire.bytes_of(packet);
      if (queued + bytes > wire.settings_.mtu) return !(is_refused = true);
      queued += bytes;
      wire.sent.push_back(packet);
      const Time start = std::max(wire.now_, free);
      free = start + bytes * 80;
      wire.at(start, [this, packet, bytes] { leave(packet, bytes); });
      return true;
    }
    void leave(const Packet& packet, std::uint32_t bytes) {
      queued -= bytes;
      const Time more = wire.jitter_ == 0 ? 0 : wire.random_.below(std::uint32_t(wire.jitter_));
      wire.at(wire.now_ + 100000 + more, [this, packet] {
        if (packet.kind == PacketKind::data) ++wire.come_[packet.tag];
        wire.ends_[packet.destination.node]->card->on_packet(packet);
      });
      if (!std::exchange(is_refused, false)) return;
      card->on_room();
    }
    void write_host(std::uint32_t, const Notice& notice) override {
      wire.told.push_back({wire.now_ + notice.host_ps, node, notice, wire.come_[notice.tag]});
      if (!wire.frees_at_once || notice.kind != NoticeKind::message) return;
      wire.at(wire.now_ + notice.host_ps, [this, peer = notice.peer] { card->on_buffer(0, peer); });
    }
    bool is_ordered() const override { return wire.jitter_ == 0; }
    void fail(const std::string& what) override {
      if (wire.failure.empty()) wire.failure = what;
    }

    Wire& wire;
    std::uint32_t node;
    std::unique_ptr<Card> card;
    Time free = 0;
    std::uint32_t queued = 0;
    bool is_refused = false;
  };

  void at(Time time, std::function<void()> what) { events_.emplace(time, std::move(what)); }
  std::uint32_t bytes_of(const Packet& packet) const {
    if (packet.kind != PacketKind::data) return kControlBytes;
    return std::min(settings_.mtu, packet.message_bytes - packet.index * settings_.mtu);
  }

  Settings settings_;
  Time jitter_;
  Random random_;
  Time now_ = 0;
  std::multimap<Time, std::function<void()>> events_;
  std::map<std::uint16_t, std::uint32_t> come_;
  std::unique_ptr<End> ends_[2];
};

}  // namespace photon::netsim::nic
