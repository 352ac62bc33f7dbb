// The service behind photon/mailbox.h: a sending and a receiving half, gets and their
// answers, and what comes for any of them.
// Owner: the engine of a lane, under the lane's lock.
#pragma once

#include <algorithm>
#include <memory>

#include "service/mailbox/answers.hpp"
#include "service/mailbox/reader.hpp"
#include "service/mailbox/receiver.hpp"
#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

class Mailboxes : public Service {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Mailboxes>(port); }
  explicit Mailboxes(Port& port) : sender_(port), receiver_(port), reader_(port), answers_(port) {}

  Sender& sender() noexcept { return sender_; }
  Receiver& receiver() noexcept { return receiver_; }
  Reader& reader() noexcept { return reader_; }

  bool on_message(const Message& message) override;
  Verdict on_chunk(const Chunk& chunk) override;
  void on_local(Rank to, std::uint64_t token, ph_status status) override;
  void on_room(Rank to) override;
  void on_lost(Rank rank, ph_status why) noexcept override;
  ph_outcome on_cancel(Rank rank, std::uint64_t token) override {
    return sender_.on_cancel(rank, token);
  }
  bool turn() override;
  std::int64_t next_turn_ns() const noexcept override {
    return std::min(sender_.next_turn_ns(), receiver_.next_turn_ns());
  }
  void before_sleep() override { receiver_.tell_all(); }
  void close() override {
    sender_.close();
    receiver_.close_all();
  }
  bool is_idle() const noexcept override {
    return sender_.is_idle() && receiver_.is_idle() && answers_.held() == 0;
  }
  std::uint64_t held() const noexcept override {
    return sender_.held() + receiver_.held() + reader_.held() + answers_.held();
  }

 private:
  bool on_ask(const Message& message);

  Sender sender_;
  Receiver receiver_;
  Reader reader_;
  Answers answers_;
};

}  // namespace photon::service::mailbox
