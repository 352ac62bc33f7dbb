#include "service/mailbox/mailboxes.hpp"

namespace photon::service::mailbox {

bool Mailboxes::on_message(const Message& message) {
  const auto op = op_of(message.header);
  if (!op) return false;
  if (*op == Op::mail) {
    const auto mail = decode_mail(message.header, message.payload, 0);
    return mail && receiver_.on_mail(message.from, *mail);
  }
  if (!message.payload.empty()) return false;
  const auto reply = decode_reply(*op, message.header);
  return reply && sender_.on_reply(message.from, *reply);
}

void Mailboxes::on_lost(Rank rank, ph_status why) noexcept {
  sender_.on_lost(rank, why);
  receiver_.on_lost(rank);
}

bool Mailboxes::turn() {
  receiver_.tell_all();
  sender_.tell_refusals();
  return false;
}

}  // namespace photon::service::mailbox
