// What leaves a card: a queue of control packets, which goes first, and one of bulk messages.
//
// A bulk packet is read from host memory through the node's one FIFO, `read_ahead` packets before
// the port takes them at most; then it has its turn no more, but leaves after those read before it.
//
//   message: queued --its packets are asked for--> being read --the last one was--> gone
//   packet:  asked for --DMA, dma_read, packet_ns--> ready --the port takes it--> gone
//
// Invariant: a wake-up is asked for whenever the first of a queue is not ready yet, and on_room
// comes whenever the port refused one. Both queues are in the order of becoming ready.
// Owner: one card.
#pragma once

#include "netsim/nic/costs.hpp"
#include "netsim/nic/ring.hpp"

namespace photon::netsim::nic {

struct OutMessage {  // a message that waits for a credit or is being sent
  Packet packet;     // its first one
  std::uint32_t next = kNone;
  bool is_told = false;
};

class Outbox {
 public:
  Outbox(const Costs& costs, Port& port, bool is_by_packet, std::uint32_t wake)
      : costs_(costs), port_(port), wake_(wake), is_by_packet_(is_by_packet) {}

  // A control packet, or a message that is as small, whose cause came to the card at `from`.
  void control(const Packet& packet, Time from);
  // A message in `messages` that was complete at `from`, no later than now + what a packet costs.
  void bulk(std::uint32_t message, Time from);
  void pump();  // sends what can go
  Store<OutMessage>& messages() { return messages_; }

  // Messages whose last byte was asked for since, with the time at which it is there.
  struct Read {
    std::uint32_t message;
    Time time;
  };
  Ring<Read>& read() { return read_; }

 private:
  struct Ready {
    Packet packet;
    Time time = 0;
  };
  void ask();
  bool send_first(Ring<Ready>& queue);

  const Costs& costs_;
  Port& port_;
  std::uint32_t wake_;  // kind of the timer that leads to pump()
  bool is_by_packet_;
  Ring<Ready> control_;
  Ring<Ready> asked_;
  Store<OutMessage> messages_;
  List bulk_;
  Ring<Read> read_;
  Time bulk_from_ = 0;     // no packet is asked for before
  Time dma_free_ = 0;      // when the read FIFO is
  Time control_free_ = 0;  // when the engine has handled the last control packet
  Time bulk_free_ = 0;     // and the last bulk packet
  Time woken_ = 0;         // the wake-up that is asked for; past: none
};

}  // namespace photon::netsim::nic
