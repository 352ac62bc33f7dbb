// A part of the network: some of its routers with their hosts, and the events that concern them.
// With one part the run is serial. What leaves for another part is put into an outbox and handed
// over between windows of time. Invariant: a part touches its own routers and cards alone; at the
// same times the same happens for any number of parts. Owner: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netsim/net/audit.hpp"
#include "netsim/net/state.hpp"
#include "netsim/queue/event_queue.hpp"

namespace photon::netsim {

// What stands above the network on each host: the cards' models.
class CardSide {
 public:
  virtual ~CardSide() = default;
  virtual void on_packet(std::uint32_t host, const Packet& packet) = 0;
  virtual void on_room(std::uint32_t host) = 0;  // after a packet was not taken
};

// What leaves for another part within a window.
struct Outbox {
  struct Sent {
    Packet packet;
    std::uint32_t queue;
  };
  struct Given {
    Credit credit;
    std::uint32_t port;
  };
  std::vector<Sent> packets;
  std::vector<Given> credits;
};

struct Counters {
  std::uint64_t injected = 0;  // packets
  std::uint64_t delivered = 0;
  std::uint64_t hops = 0;              // packets that left a router's output port
  std::uint64_t flits_from_cards = 0;  // on the links of hosts
  std::uint64_t flits_to_cards = 0;
  std::uint64_t events = 0;
  Time sent_until = 0;  // when the last packet had left its output port or card
};

class Part {
 public:
  Part(const Fabric& fabric, State& state, CardSide& cards, std::uint32_t number,
       std::uint32_t parts);

  Time now() const { return now_; }
  EventQueue& queue() { return queue_; }
  const Counters& counters() const { return counters_; }
  // What went against the rules of the model, or nothing.
  const std::string& fault() const { return fault_; }

  // Begins an event; false if it is not the network's.
  bool handle(const Event& event);
  // A card's FIFO takes the packet, or has no room and nothing is taken; then on_room comes.
  bool send(const Packet& packet);

  // Between windows. Outboxes come in two sets: in a window one is filled while the other, which
  // was filled in the window before, is emptied by those that it is for.
  void begin_window(unsigned set);
  void take_in(Outbox& from);
  Outbox& outbox(unsigned set, std::uint32_t part) { return outboxes_[set][part]; }
  // The first time at which something happens: here, or elsewhere by what was sent in this window.
  Time next_time();

  bool is_empty() const { return packets_.taken() == 0; }
  // When nothing moves any more: are all credits back and all queues empty?
  std::string what_is_left();
  // Before a run: measures all FIFOs by two instruments. After it: where these disagree.
  void audit() { audit_ = std::make_unique<Audit>(s_); }
  std::string what_disagrees() const {
    return audit_ == nullptr ? std::string() : audit_->what_disagrees(fabric_);
  }
  // Ends the run as a failure; the first one counts.
  void fail(const std::string& what);
  bool owns_host(std::uint32_t host) const {
    return s_.ports[fabric_.wiring.host_port[host]].part == number_;
  }

 private:
  // crossbar.cpp
  void arrive(std::uint32_t queue);
  void head_up(std::uint32_t router, std::uint32_t queue);
  void propose(std::uint32_t router, const InputQueue& input);
  void want_edge(std::uint32_t router, Time time);
  void edge(std::uint32_t router);
  Time grant(const Router& router);
  void stand_last(Router& router);
  void renumber(Router& router);
  void carry_out(std::uint32_t router, std::uint32_t queue);
  void give_credit(std::uint32_t port, std::uint32_t vc, std::uint16_t flits);
  void add_credit(std::uint32_t port, const Credit& credit);
  Time next_edge_time() const { return (now_ / p_.crossbar_ps + 1) * p_.crossbar_ps; }
  // output.cpp
  void join(std::uint32_t queue, std::uint32_t packet);
  void look(std::uint32_t port);
  std::uint32_t choose(const Port& port, std::uint32_t first_queue) const;
  void transmit(std::uint32_t port, std::uint32_t vc, std::uint32_t packet);
  void put_in(std::uint32_t queue, std::uint32_t packet);
  void after_look(SendPort& send, Sender& sender, std::uint16_t flits, const Event& look_again);
  // card.cpp
  void card_look(std::uint32_t host);
  void card_arrive(std::uint32_t host, std::uint64_t payload);
  void settle_card(Card& card, Time end);
  void card_credit(std::uint32_t host, const Credit& credit);

  const Fabric& fabric_;
  const Parameters p_;
  State& s_;
  CardSide& card_side_;
  std::uint16_t number_;
  unsigned set_ = 0;
  Time first_sent_ = kNever;  // the least time in the outboxes of this window
  std::array<std::vector<Outbox>, 2> outboxes_;
  EventQueue queue_;
  Pool<Packet> packets_;
  CreditPool credits_;
  Counters counters_;
  Time now_ = 0;
  EventKind kind_ = EventKind::crossbar_edge;  // of the event that is handled
  std::vector<std::uint32_t> granted_;         // queues, in the order of their grants
  std::string fault_;
  std::unique_ptr<Audit> audit_;  // mostly none
};

// A channel is a FIFO: those of inputs are numbered first, then those of outputs.
std::string channel_name(const Fabric& fabric, std::uint32_t channel);
// If packets wait for one another in a ring, the ring's channels; else where one of them waits.
std::string waiting_cycle(const Fabric& fabric, const State& state);

}  // namespace photon::netsim
