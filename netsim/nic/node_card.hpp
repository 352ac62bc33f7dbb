// What the cards of all protocols have in common: commands come down, messages wait for credits,
// data is written up, notices follow it, and the right to send again travels back.
//
//   message: posted --pcie--> commanded --credit (and address)--> launched --> gone
//   buffer:  free --first packet--> used --its rank has used it--> untold --credit packet--> free
//
// Each kind of thing that takes a constant time is a ring in the order of its ends, with a timer
// for each. Invariant: a ring is as long as timers of its kind are queued. Owner: one node.
#pragma once

#include "netsim/nic/arrivals.hpp"
#include "netsim/nic/held.hpp"
#include "netsim/nic/outbox.hpp"

namespace photon::netsim::nic {

class NodeCard : public Card {
 public:
  NodeCard(const Settings& settings, Port& port, std::uint32_t node);
  void on_post(std::uint32_t slot, const Operation& operation) override;
  void on_packet(const Packet& packet) override;
  void on_room() override { pump(); }
  void on_timer(Timer timer) override;
  void on_buffer(std::uint32_t slot, Rank peer) override;
  Figures figures() const override;

 protected:
  // What a protocol is. `from` is when the card has handled the cause, now or a little later.
  // The message has a credit.
  virtual void launch(Pair& pair, std::uint32_t message, Time from) = 0;
  // A data packet is being written up.
  virtual void on_data(Pair& pair, const Packet& packet, bool is_complete, Time from) = 0;
  virtual void on_control(Pair& pair, const Packet& packet, Time from) = 0;
  virtual void on_relayed(Pair& pair, const Packet& packet) = 0;
  virtual bool has_buffer(const Packet&) const { return false; }  // since its request came
  virtual bool may_launch(Pair&, Time) { return true; }           // else it asks for what lacks

  const Costs& costs() const { return costs_; }
  Outbox& outbox() { return outbox_; }
  Port& port() { return port_; }
  Pair& pair_of(const Packet& packet);  // of one that came
  PairMore& more_of(Pair& pair) { return pairs_.more_of(pair); }
  Time registration(std::uint32_t slot, const Operation& operation);
  void send_data(Pair& pair, std::uint32_t message, Time from);  // numbers it, too
  void start(Pair& pair, Time from);                             // whatever has a credit
  void use_buffer(Pair& pair);
  void notify(std::uint32_t slot, const Notice& notice, Time from);
  // The host takes it from a completion queue and answers with a command: on_relayed comes.
  void relay(const Packet& packet, Time from);
  void answer(const Packet& packet, PacketKind kind, Time from);
  Held& held() { return held_; }

 private:
  struct Command {
    OutMessage message;  // or a credit, by its first packet's kind
  };
  struct Up {
    std::uint32_t slot = 0;
    Notice notice;
  };
  void command(const Command& command);
  void commanded(const Command& command);
  void take(Pair& pair, const Packet& packet, Time from);
  void was_read(std::uint32_t message, Time from);
  void pump();
  Time write_up(std::uint32_t bytes, Time from);

  Costs costs_;
  Port& port_;
  std::uint32_t node_;
  bool is_in_order_;         // order = hold
  bool is_registered_each_;  // use
  Time lookup_;
  Outbox outbox_;
  Pairs pairs_;
  Arrivals arrivals_;
  Held held_;
  Ring<Command> commands_;
  Ring<Packet> relays_;
  Ring<Up> ups_;
  Ring<std::uint32_t> reads_;  // messages whose source's last byte is being read
  Time taken_ = 0;             // when the last packet that came was handled
  Time written_ = 0;           // when the write FIFO is free
};

}  // namespace photon::netsim::nic
