#include "service/mailbox/mailboxes.hpp"

#include <optional>

#include "service/mailbox/words.hpp"

namespace photon::service::mailbox {

namespace {

// A message of one word, and nothing else.
std::optional<WordMail> word_mail(const Message& message) noexcept {
  constexpr std::size_t kCount = 4;
  if (message.header.size() != kCount * kWordBytes || !message.payload.empty() ||
      word(message.header, 0) != kWordMail)
    return std::nullopt;
  return WordMail{.named = word(message.header, 1),
                  .offset = word(message.header, 2),
                  .word = word(message.header, 3),
                  .from = message.from};
}

}  // namespace

bool Mailboxes::on_message(const Message& message) {
  if (const auto mail = word_mail(message); mail && receiver_.land_word(*mail)) return true;
  const auto op = op_of(message.header);
  if (!op) return false;
  if (*op == Op::mail) {
    auto mail = decode_mail(message.header, message.payload, 0);
    if (!mail) return false;
    mail->letter.mail.from = message.from;
    return receiver_.on_mail(message.from, *mail);
  }
  if (*op == Op::answer) {
    const auto answer = decode_answer(message.header, message.payload, 0);
    return answer && reader_.on_answer(message.from, *answer);
  }
  if (!message.payload.empty()) return false;
  if (*op == Op::grant) {
    const auto granted = decode_grant(message.header);
    if (granted) sender_.on_grant(message.from, *granted);
    return granted.has_value();
  }
  if (*op == Op::ask) return on_ask(message);
  const auto reply = decode_reply(*op, message.header);
  if (!reply) return false;
  return *op == Op::recall ? receiver_.on_recall(message.from, reply->number)
                           : sender_.on_reply(message.from, *reply);
}

// The bytes are copied before the get counts: with that its buffer may go.
bool Mailboxes::on_ask(const Message& message) {
  const auto ask = decode_ask(message.header);
  if (!ask) return false;
  Answer answer;
  const auto bytes = receiver_.on_ask(message.from, *ask, answer);
  const bool is_sent = answers_.send(message.from, answer, bytes);
  receiver_.let_go_of_answer();
  if (!is_sent) return false;
  receiver_.counted(*ask, answer);
  return true;
}

Verdict Mailboxes::on_chunk(const Chunk& chunk) {
  const bool is_answer = chunk.offset == 0 ? op_of(chunk.message.header) == Op::answer
                                           : reader_.has_body(chunk.message.from);
  return is_answer ? reader_.on_chunk(chunk) : receiver_.on_chunk(chunk);
}

void Mailboxes::on_local(Rank to, std::uint64_t token, ph_status status) {
  if (Pulls::is_ours(token))
    receiver_.on_local(to, token, status);
  else if (Answers::is_ours(token))
    answers_.on_local(token);
  else
    sender_.on_local(to, token, status);
  receiver_.start_pulls();  // they share the quota of requests
}

void Mailboxes::on_room(Rank to) {
  receiver_.on_room(to);
  reader_.on_room(to);
  answers_.on_room();
}

void Mailboxes::on_lost(Rank rank, ph_status why) noexcept {
  sender_.on_lost(rank, why);
  receiver_.on_lost(rank);
  reader_.on_lost(rank, why);
  answers_.on_lost(rank);
}

bool Mailboxes::turn() {
  receiver_.end_lingers();
  receiver_.tell_all();
  receiver_.free_held();
  sender_.tell_refusals();
  receiver_.give_late_grants();
  return false;
}

}  // namespace photon::service::mailbox
