// The service behind photon/mailbox.h: a sending and a receiving half, and what comes for either.
// Owner: the engine of a lane, under the lane's lock.
#pragma once

#include <algorithm>
#include <memory>

#include "service/mailbox/receiver.hpp"
#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

class Mailboxes final : public Service {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Mailboxes>(port); }
  explicit Mailboxes(Port& port) : sender_(port), receiver_(port) {}

  Sender& sender() noexcept { return sender_; }
  Receiver& receiver() noexcept { return receiver_; }

  bool on_message(const Message& message) override;
  Verdict on_chunk(const Chunk& chunk) override { return receiver_.on_chunk(chunk); }
  void on_local(Rank to, std::uint64_t token, ph_status status) override {
    sender_.on_local(to, token, status);
  }
  void on_lost(Rank rank, ph_status why) noexcept override;
  bool turn() override;
  std::int64_t next_turn_ns() const noexcept override {
    return std::min(sender_.next_turn_ns(), receiver_.next_turn_ns());
  }
  void before_sleep() override { receiver_.tell_all(); }
  void close() override {
    sender_.close();
    receiver_.close_all();
  }
  bool is_idle() const noexcept override { return sender_.is_idle(); }
  std::uint64_t held() const noexcept override { return sender_.held() + receiver_.held(); }

 private:
  Sender sender_;
  Receiver receiver_;
};

}  // namespace photon::service::mailbox
