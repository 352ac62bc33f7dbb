// Bytes and operations that will not come: they count for a threshold, and nothing lands.
#include <string>

#include "service/mailbox/sender.hpp"
#include "service/mailbox/window.hpp"

namespace photon::service::mailbox {

// Its threshold is reached.
ph_mailbox_why Window::why_complete(const Buffer& buffer) const noexcept {
  const bool counts_bytes = policy_.unit == PH_MAILBOX_BYTES;
  const std::uint64_t withdrawn =
      counts_bytes ? buffer.withdrawn_bytes : buffer.withdrawn_operations;
  return buffer.admitted - withdrawn >= buffer.threshold ? PH_MAILBOX_COMPLETE
                                                         : PH_MAILBOX_INCOMPLETE;
}

// In the order of the messages: behind those that wait because one is landing.
Outcome Window::withdraw(const Mail& mail, Owner& owner) noexcept {
  const auto refused = [this](ph_status status) {
    return Outcome{Fate::refused, status, epoch_, nullptr};
  };
  if (policy_.is_for_reading) return refused(PH_ERR_ACCESS);
  if (policy_.catches_all) return refused(PH_ERR_ARGUMENT);
  if (const ph_status status = check_life(mail); status != PH_OK) return refused(status);
  if (policy_.placing == PH_MAILBOX_MANAGED && landing_ != 0)
    return {Fate::waits, PH_OK, epoch_, nullptr};
  const std::uint64_t ahead = mail.epoch == PH_ANY_EPOCH ? full_ : mail.epoch - epoch_;
  const std::uint64_t epoch = epoch_ + ahead;
  if (ahead >= buffers_.size()) return without_buffer(epoch);
  Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
  if (buffer.is_full) return refused(PH_ERR_EPOCH);
  const std::uint64_t bytes = mail.size_bytes;
  const std::uint64_t operations = mail.offset;
  const std::uint64_t amount = policy_.unit == PH_MAILBOX_BYTES ? bytes : operations;
  if (amount > buffer.threshold || amount > ~buffer.admitted || bytes > ~buffer.withdrawn_bytes ||
      operations > ~buffer.withdrawn_operations)
    return refused(PH_ERR_RANGE);
  buffer.admitted += amount;
  buffer.withdrawn_bytes += bytes;
  buffer.withdrawn_operations += operations;
  if (is_at_end(buffer)) {
    buffer.is_full = true;
    count_full();
    hand_over_full(owner);
  }
  return {Fate::lands, PH_OK, epoch, nullptr};
}

ph_status Sender::withdraw(Rank rank, const ph_mailbox_withdraw_args& args) {
  const auto wrong = [&](const std::string& why) {
    return port_.fail(PH_ERR_ARGUMENT, rank, "mailbox_withdraw: " + why);
  };
  if ((args.flags & ~std::uint32_t{PH_NO_LCE}) != 0)
    return wrong("unknown flags " + std::to_string(args.flags));
  if (args.bytes == 0 && args.operations == 0) return wrong("neither bytes nor operations");
  if (args.request != nullptr && (args.flags & PH_NO_LCE) != 0)
    return wrong("a request is a local completion, and PH_NO_LCE wants none");
  if (const ph_status status = check_id(rank, args.local); status != PH_OK) return status;
  ph_mailbox_put_args mail{};
  mail.flags = args.flags;
  mail.local = args.local;
  mail.request = args.request;
  Letter letter{.address = args.address,
                .mail = {.offset = args.operations,
                         .size_bytes = args.bytes,
                         .epoch = args.epoch,
                         .incarnation = args.incarnation,
                         .withdraws = true},
                .asks = args.request != nullptr};
  return post(rank, mail, letter);
}

}  // namespace photon::service::mailbox
