// What the event of a buffer has to say of its messages; and, where that alone can tell it, which
// of the large messages that are there have counted.
#include <algorithm>

#include "simtest/mail_boxes.hpp"

namespace photon::simtest {

namespace {

constexpr std::size_t kMostCandidates = 12;

// Messages that were found.
struct Sum {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t top = 0;

  void add(const Candidate& one) noexcept {
    ++operations;
    bytes += one.mail->size_bytes();
    top = std::max(top, one.position + one.mail->size_bytes());
  }
};

// Of the messages that were not found there are as many as can be.
bool has_counted(const Posted& posted, const Sum& sum, const ph_mailbox_event& event) {
  if (event.bytes < sum.bytes || event.operations < sum.operations) return false;
  const std::uint64_t more_bytes = event.bytes - sum.bytes;
  const std::uint64_t shared = more_bytes / kMailSharedSize;
  const std::uint64_t more = event.operations - sum.operations;
  if (posted.box->is_managed() && more != 0) return false;
  return more_bytes % kMailSharedSize == 0 && shared <= more &&
         (shared != 0) == posted.is_shared_changed;
}

bool has_top(const Sum& sum, const ph_mailbox_event& event) {
  const bool has_shared = event.bytes != sum.bytes;
  const std::uint64_t most = has_shared ? std::max(sum.top, kMailSharedBytes) : sum.top;
  const std::uint64_t least = has_shared ? std::max(sum.top, kMailSharedSize) : sum.top;
  return event.size_bytes >= least && event.size_bytes <= most;
}

}  // namespace

// Some of its bytes are there, one behind the other: more than can be by chance, or all there are.
bool MailBoxes::is_there(const Posted& posted, const Trace& trace, const Bytes& memory) {
  constexpr std::uint64_t kMostByChance = 5;
  std::uint64_t changed = 0, explained = 0, run = 0, longest = 0;
  for (std::uint64_t i = 0; i < trace.bytes.size(); ++i) {
    const std::uint64_t at = MailSlot::kGuardBytes + trace.position + i;
    if (memory[at] == posted.background[at]) continue;
    const bool is_its = trace.explains(trace.position + i, memory[at]);
    ++changed;
    explained += is_its ? 1 : 0;
    run = is_its ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest > kMostByChance || (changed != 0 && explained == changed);
}

// Where bytes of large messages are that did not count there. One that has landed earlier,
// or was over before the buffer was posted, has nothing to do with it any more.
std::vector<MailBoxes::Trace> MailBoxes::traces_in(Posted& posted, const Bytes& memory) {
  const MailBox& box = *posted.box;
  const auto& mails = place_of(box).mails;
  std::vector<std::uint64_t> ends = {0};  // of messages, which may begin there
  for (const Mailed* mail : mails)
    if (mail->place == &posted && !mail->is_void)
      ends.push_back(mail->position + mail->size_bytes());
  for (const Candidate& one : posted.candidates)
    ends.push_back(one.position + one.mail->size_bytes());
  std::vector<Trace> all;
  for (Mailed* mail : mails) {
    const bool may_be = mail->is_large && mail->appends == box.is_managed() &&
                        (posted.was_recalled || mail->from_gone || mail->is_cut || box.is_gone);
    const bool was_over = mail->over_at != 0 && mail->over_at < posted.posted_at;
    const bool has_landed = mail->place != nullptr && mail->place->ordinal <= posted.ordinal;
    const bool is_elsewhere = mail->epoch != PH_ANY_EPOCH && mail->epoch != posted.epoch;
    if (!may_be || was_over || has_landed || is_elsewhere) continue;
    if (!mail->appends) ends = {mail->offset};
    for (const std::uint64_t position : ends) {
      if (position + mail->size_bytes() > posted.size_bytes) continue;
      Trace trace{mail, position, Bytes(mail->size_bytes())};
      mail->fill(trace.bytes);
      if (!is_there(posted, trace, memory)) continue;
      mail->last_traced = std::max(mail->last_traced, posted.ordinal);
      ++recalls_;
      all.push_back(std::move(trace));
    }
  }
  return all;
}

// Those that are in every sum that explains the event have landed; those that are in some only may
// have.
void MailBoxes::choose_candidates(Posted& posted, const ph_mailbox_event& event) {
  std::vector<Candidate> left;
  for (const Candidate& one : posted.candidates) {
    const Mailed& mail = *one.mail;
    const bool was_refused =
        mail.refused != PH_OK && !mail.to_gone && !mail.is_cut && !mail.from_gone;
    if (mail.place == nullptr && !was_refused) left.push_back(one);
  }
  posted.candidates.clear();
  std::uint32_t in_all = ~std::uint32_t{0}, in_some = 0;
  for (std::uint32_t chosen = 0; chosen < 1u << std::min(left.size(), kMostCandidates); ++chosen) {
    Sum sum{posted.operations, posted.bytes, posted.top};
    for (std::size_t i = 0; i < std::min(left.size(), kMostCandidates); ++i)
      if ((chosen >> i & 1) != 0) sum.add(left[i]);
    if (!has_counted(posted, sum, event) || !has_top(sum, event)) continue;
    in_all &= chosen;
    in_some |= chosen;
  }
  if (left.size() > kMostCandidates) in_all = 0, in_some = ~std::uint32_t{0};
  for (std::size_t i = 0; i < left.size() && !oracle_.failed(); ++i) {
    const bool may_count = i >= kMostCandidates || (in_some >> i & 1) != 0;
    if (!may_count) continue;
    if (i < kMostCandidates && (in_all >> i & 1) != 0)
      land(posted, *left[i].mail, left[i].position);
    else
      left[i].mail->is_uncertain = posted.is_uncertain = place_of(*posted.box).may_lack = true;
  }
}

// Of one that is read: no more than there were gets which were not refused.
void MailBoxes::check_reads(Posted& posted, const ph_mailbox_event& event) {
  const MailPlace& here = place_of(*posted.box);
  const std::uint64_t most = here.reads_begun - here.reads_refused;
  if (event.operations > most || event.bytes > here.reads_begun * here.most_read_bytes)
    wrong("count", *posted.box,
          "has counted " + std::to_string(event.operations) + " gets of " +
              std::to_string(event.bytes) + " bytes; there were " + std::to_string(most));
}

void MailBoxes::check_counts(Posted& posted, const ph_mailbox_event& event) {
  if (oracle_.failed()) return;
  if (posted.has_pointer && posted.pointer.size_bytes != event.size_bytes)
    return wrong("count", *posted.box, "has another size in the pointer than in the event");
  if (posted.box->is_for_reading()) return check_reads(posted, event);
  if (posted.is_uncertain) return;
  const Sum sum{posted.operations, posted.bytes, posted.top};
  const std::string found = std::to_string(posted.operations) + " messages of " +
                            std::to_string(posted.bytes) + " bytes are there";
  if (!has_counted(posted, sum, event))
    return wrong("count", *posted.box,
                 "has counted " + std::to_string(event.operations) + " messages, " +
                     std::to_string(event.bytes) + " bytes; " + found);
  if (!has_top(sum, event))
    return wrong("count", *posted.box,
                 "says that bytes landed up to " + std::to_string(event.size_bytes) + "; " + found +
                     ", up to " + std::to_string(posted.top));
  MailPlace& here = place_of(*posted.box);
  const std::uint64_t shared = (event.bytes - posted.bytes) / kMailSharedSize;
  here.shared_count += shared;
  here.empty_count += event.operations - posted.operations - shared;
  std::uint64_t able_shared = 0, able_empty = 0;
  for (const Mailed* mail : here.mails)
    if (mail->is_counted_only() && (mail->refused == PH_OK || mail->to_gone || mail->is_cut))
      ++(mail->is_shared() ? able_shared : able_empty);
  if (here.shared_count > able_shared || here.empty_count > able_empty)
    wrong("twice", *posted.box, "has counted more messages than were sent and not refused");
}

void MailBoxes::check_why(Posted& posted, const ph_mailbox_event& event) {
  if (oracle_.failed() || posted.is_uncertain) return;
  const MailBox& box = *posted.box;
  const bool counts_bytes = box.args.unit == PH_MAILBOX_BYTES;
  const std::uint64_t count = counts_bytes ? event.bytes : event.operations;
  const bool is_full = count >= posted.threshold;
  std::uint64_t largest = counts_bytes ? kMailSharedSize : 1;
  if (counts_bytes && box.is_for_reading()) largest = place_of(box).most_read_bytes;
  bool is_too_large = false;  // one of them, to come behind what is there
  for (const Mailed* mail : place_of(box).mails) {
    if (counts_bytes && mail->place == &posted) largest = std::max(largest, mail->size_bytes());
    if (mail->size_bytes() > posted.size_bytes - event.bytes) is_too_large = true;
  }
  ph_mailbox_why right = box.is_managed() ? PH_MAILBOX_FULL : PH_MAILBOX_COMPLETE;
  if (posted.is_closed) right = PH_MAILBOX_CLOSED;
  if (posted.is_early) right = PH_MAILBOX_EARLY;
  // Where the buffer was full but for what was recalled from it.
  const bool was_full_and_taken_back = posted.was_recalled && event.why == right;
  if (is_full && !was_full_and_taken_back) right = PH_MAILBOX_COMPLETE;
  if (event.why != right || (posted.is_early && right == PH_MAILBOX_COMPLETE))
    return wrong("status", box,
                 "handed " + place_text(posted) + " over for reason " + std::to_string(event.why) +
                     ", expected was " + std::to_string(right));
  if (right == PH_MAILBOX_COMPLETE && (!is_full || count >= posted.threshold + largest))
    return wrong("count", box,
                 "has " + std::to_string(count) + " in " + place_text(posted) + ", threshold " +
                     std::to_string(posted.threshold));
  if (right == PH_MAILBOX_FULL && (event.operations == 0 || !is_too_large))
    wrong("count", box, "says that " + place_text(posted) + " was full, and all would have fitted");
}

}  // namespace photon::simtest
