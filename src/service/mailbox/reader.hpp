// Gets of this rank from buffers of mailboxes elsewhere. Their owner copies and sends the bytes, so
// that a buffer that it takes back is never read late.
//
//   get: waits for its turn or a line --> asked
//        asked -- its answer, more is left --> asked for the next part, of the same epoch
//              -- its last answer, a refusal, its rank is lost --> over
//
// Invariants: of each get one part is asked for, or waits for room; its answer is as long as the
// part. Owner: Mailboxes, under the lane's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "service/mailbox/asking.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Reader {
 public:
  explicit Reader(Port& port) noexcept : port_(port), config_(port.config()) {}

  ph_status get(Rank rank, const ph_mailbox_get_args& args);

  bool on_answer(Rank from, const DecodedAnswer& answer) noexcept;  // false: malformed
  // A part of an answer's body; the first one's header is an answer's.
  Verdict on_chunk(const Chunk& chunk);
  bool has_body(Rank from) const noexcept { return bodies_.contains(from); }
  void on_room(Rank to) noexcept { ask_more(to); }
  void on_lost(Rank rank, ph_status why) noexcept;
  std::uint64_t held() const noexcept { return gets_.size(); }

 private:
  struct Get {
    Rank rank = 0;
    std::uint64_t address = 0;
    Read next;  // the part that is asked for
    std::byte* destination = nullptr;
    std::uint64_t done_bytes = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t promise = 0;
    bool is_asked = false;
  };
  using Gets = std::map<std::uint64_t, Get>;

  ph_status check(Rank rank, const ph_mailbox_get_args& args);
  void plan(Get& get) const noexcept;
  ph_status ask(std::uint64_t token, Get& get) noexcept;
  Gets::iterator find(Rank from, std::uint64_t token) noexcept;
  void ask_more(Rank to) noexcept;
  void answered(Gets::iterator one) noexcept;
  void take_part(Gets::iterator one, const Answer& answer) noexcept;
  void end(Gets::iterator one, ph_status status) noexcept;

  Port& port_;
  const base::Config& config_;
  Gets gets_;
  std::uint64_t next_ = 0;
  std::map<Rank, std::size_t> asked_;  // parts, at most kMostAsked of one rank
  std::map<Rank, Answer> bodies_;      // that come in: of one rank one at a time
};

}  // namespace photon::service::mailbox
