// Checks the sender's side of mailboxes against the promises of photon/mailbox.h: each message that
// was accepted lands in one epoch or is refused, for a reason that there was; never both, never
// twice. What its owner sees is MailBoxes'.
//
// Each attempt is a message of its own, so that what comes of one that was told PH_AGAIN is found
// out. A source is filled with junk as soon as it may be reused.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simtest/mail_boxes.hpp"

namespace photon::simtest {

class MailModel {
 public:
  MailModel(Oracle& oracle, const Program& program)
      : oracle_(oracle),
        ranks_(program.ranks),
        requests_(option_of(program, "requests")),
        carried_max_(option_of(program, "mailbox_carried_max")),
        early_bytes_(option_of(program, "mailbox_early_bytes")),
        early_total_bytes_(option_of(program, "mailbox_early_total_bytes")),
        boxes_(oracle, program, mails_) {}

  MailBoxes& boxes() noexcept { return boxes_; }

  // The message of that step, or the one so many after it, and what the call said. The reference
  // stays valid.
  Mailed& begin(const Endpoint& from, const Step& step, std::uint64_t index);
  void posted(Mailed& mail, ph_status status);
  static std::vector<std::byte> id_of(const Mailed& mail);

  // Whether a completion is of these; then it was checked.
  bool completed(const Endpoint& at, const ph_completion& one);
  // Whether an error without an id may be of one of these; and of how many.
  bool takes_nameless(const Endpoint& at, const ph_completion& one);
  std::uint32_t count_nameless(const Endpoint& at, const ph_completion& one);
  void ended(Mailed& mail, const ph_result& result);  // its request
  std::vector<Mailed*> asked_by(const Endpoint& at);  // with a request that was not taken

  // It leaves, be it one lane, or it dies; the link between two is lost.
  void gone(const Endpoint& end);
  void link_lost(ph_rank a, ph_rank b);
  // Whether what ends there may say this because of one of these.
  bool explains(const Endpoint& end, ph_status status);
  // It has finalized with PH_OK: nothing that a lost link took is unknown to it.
  void finalized(ph_rank rank);

  bool is_settled();
  void report_pending();

 private:
  void wrong(const char* kind, const Mailed& mail, const std::string& what);
  bool may_hold_request(const Endpoint& from) const;
  void choose_life(Mailed& mail, const Step& step);
  void withdraw(Mailed& mail);
  void refused(Mailed& mail, ph_status status);
  bool may_end_with(const Mailed& mail, ph_status status);
  bool may_be_told_of_loss(const Mailed& mail, ph_status status);
  bool may_refuse(const MailBox& box, const Mailed& mail, ph_status status);
  bool was_away(const Mailed& mail);
  bool may_lack_room(const Mailed& mail);
  void give_source_back(Mailed& mail);
  void landed_or_copied(Mailed& mail);
  bool lacks_word(const Mailed& mail) const;  // its sender is still to hear of it
  bool lacks_fate(const Mailed& mail) const;  // it has neither landed nor been refused
  bool is_settled(const MailPlace& place);
  using NamelessKey = std::tuple<ph_rank, std::uint32_t, ph_rank>;

  Oracle& oracle_;
  const std::uint32_t ranks_;
  const std::uint64_t requests_;
  const std::uint64_t carried_max_;
  const std::uint64_t early_bytes_;
  const std::uint64_t early_total_bytes_;
  std::deque<Mailed> mails_;                       // by number - 1
  std::map<NamelessKey, std::uint32_t> nameless_;  // errors that may be of nameless messages
  MailBoxes boxes_;
};

}  // namespace photon::simtest
