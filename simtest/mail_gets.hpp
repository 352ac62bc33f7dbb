// Checks ph_mailbox_get(): each get ends once, with bytes that one buffer held while it was under
// way, or with a refusal for a reason that there was; nothing touches its destination afterwards.
// Of a mailbox for reading an event counts the gets that it was read by.
//
//   get: begun -- PH_OK --> accepted -- its completion, its request --> over
//
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simtest/mail_model.hpp"

namespace photon::simtest {

struct Getting {
  static constexpr std::size_t kGuardBytes = 16;

  std::uint32_t number = 0;  // from 1
  ph_rank from = 0;          // who gets
  ph_rank to = 0;            // whose mailbox it is
  std::uint32_t lane = 0;    // of both
  std::uint32_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t epoch = PH_ANY_EPOCH;
  std::uint32_t incarnation = 0;
  std::uint32_t id_bytes = 8;
  bool is_silent = false;  // PH_NO_LCE
  bool is_asking = false;
  ph_request request = PH_REQUEST_NONE;
  std::vector<std::byte> memory;  // guard, destination, guard
  std::vector<std::byte> image;   // the same when it was over
  std::uint64_t begun_at = 0;     // on the model's clock
  bool accepted = false;
  bool is_over = false;
  bool is_gone = false;  // its rank left, closed the lane, or died

  std::byte* destination() noexcept { return memory.data() + kGuardBytes; }
  std::string text() const;
};

class MailGets {
 public:
  MailGets(Oracle& oracle, const Program& program, MailModel& mail)
      : oracle_(oracle),
        ranks_(program.ranks),
        carried_max_(option_of(program, "mailbox_carried_max")),
        boxes_(mail.boxes()) {}

  // The reference stays valid.
  Getting& begin(const Endpoint& from, const Step& step);
  void posted(Getting& get, ph_status status);
  static std::vector<std::byte> id_of(const Getting& get);
  // Whether a completion is of these; then it was checked.
  bool completed(const Endpoint& at, const ph_completion& one);
  void ended(Getting& get, const ph_result& result);
  std::vector<Getting*> asked_by(const Endpoint& at);

  void gone(const Endpoint& end);  // it leaves, be it one lane, or it dies
  bool explains(const Endpoint& end, ph_status status);
  bool is_settled() const;
  void report_pending();
  void check_memory();  // at the end: no destination was touched again, and counts are right

 private:
  void wrong(const char* kind, const Getting& get, const std::string& what);
  void over(Getting& get, ph_status status);
  bool may_end_with(Getting& get, ph_status status);
  static bool may_refuse(const MailBox& box, const Getting& get, ph_status status);
  bool may_hold_request(const Endpoint& from) const;
  void check_bytes(Getting& get);
  bool may_be_of(Getting& get, Posted& posted);
  bool lacks_word(const Getting& get) const;
  MailPlace& place_of(const Getting& get) noexcept {
    return boxes_.place({get.to, get.lane}, get.address);
  }

  Oracle& oracle_;
  const std::uint32_t ranks_;
  const std::uint64_t carried_max_;
  MailBoxes& boxes_;
  std::deque<Getting> gets_;  // by number - 1
};

}  // namespace photon::simtest
