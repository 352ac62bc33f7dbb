// Large messages on their way into buffers of this rank: each is read from its sender's memory by a
// get of the engine (docs/mailbox.md, How bytes travel).
//
//   admitted -- begin() --> read -- on_local() of the last get --> over
//            -- the quota of requests is used up --> waits -- start_next() --> read
//   read -- a get ends with an error --> the others are given up -- the last of them --> over
//   read, waits -- recall() --> over, to be admitted anew; if a get cannot be given up it stays as
//                  a stray until the last on_local(), and so does its buffer
//               -- call_off() --> over; where a get cannot be given up, at the last on_local()
//
// One that touches several segments is read by a get for each, up to kMostGets at a time: one after
// the other would cost a round trip of a network for each, and all at once would take the quota of
// requests from other messages.
//
// Invariant: a get writes only to a place of a pull that is here, and each pull is counted once in
// its window's buffer as under way.
// Owner: a Receiver, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "service/mailbox/letter.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

struct Pull {
  Rank from = 0;
  std::uint64_t number = 0;  // of its sender
  Letter letter;
  Window* window = nullptr;
  Outcome outcome;
  static constexpr std::size_t kMostGets = 16;
  std::array<std::uint64_t, kMostGets> handles{};
  std::uint32_t busy = 0;         // a bit for each handle whose get is not over
  std::uint64_t begun_bytes = 0;  // are over or read: the first ones
  ph_status status = PH_OK;       // the first error
  bool is_waiting = false;        // to begin more
  bool is_stray = false;
  bool is_owed = false;        // a stray: its sender is still to hear the verdict
  bool is_called_off = false;  // by its sender: it ends as one that could not be read
  End owed{PH_ERR_MEMORY};

  bool is_read() const noexcept { return busy != 0; }
  bool is_begun() const noexcept { return begun_bytes == letter.mail.size_bytes; }
};

class Pulls {
 public:
  // By a number that only grows.
  using List = std::map<std::uint64_t, Pull>;

  explicit Pulls(Port& port) noexcept : port_(port) {}

  // PH_OK: it is here. Else it is not, and its sender cannot be read. Throws bad_alloc.
  ph_status begin(const Pull& pull);
  // Begins more of the first that waits, if any may. PH_AGAIN: there is no more to do.
  // An error: `failed` is over with it.
  ph_status start_next(Pull& failed) noexcept;
  // The pull that is over with that get; none: nobody wants to know, or it is not over.
  std::optional<Pull> on_local(Rank from, std::uint64_t token, ph_status status) noexcept;
  // False: no stray of that message is read. Else its verdict is put off until its end.
  bool owe(Rank from, std::uint64_t number, const End& end) noexcept;
  // The pulls that land in that epoch of the window; of one that is a stray now a copy. The copy of
  // a stray that found no memory is missing, and the stray is owed a verdict.
  List recall(const Window& window, std::uint64_t epoch) noexcept;
  // The one that is to land, of that message; null: it is over.
  const Pull* find(Rank from, std::uint64_t number) noexcept;
  // Its sender wants it back. Empty: its bytes may still be written, and it is over with its get.
  std::optional<Pull> call_off(Rank from, std::uint64_t number) noexcept;
  // The pulls from that rank for which no get is under way.
  List lose(Rank from) noexcept;

  // All: those whose get may still write are strays.
  List give_up_all() noexcept;

  static bool is_ours(std::uint64_t token) noexcept { return (token & kOurs) != 0; }
  std::uint64_t size() const noexcept { return pulls_.size(); }

 private:
  // So many of one rank are read at a time: one that is stopped leaves the quota to others, which
  // is a quarter of `requests`.
  static constexpr std::uint64_t kMostReads = 64;
  std::uint64_t most_reads() const noexcept {
    return std::clamp<std::uint64_t>(port_.config().requests / 16, 4, kMostReads);
  }
  static constexpr std::uint64_t kOurs = std::uint64_t{1} << 63;  // no number of a mail has it
  // A token: kOurs, the number of the pull, and the index of the handle.
  static constexpr std::uint64_t kIndexBits = 4;
  static_assert(std::size_t{1} << kIndexBits == Pull::kMostGets);

  List::iterator at(Rank from, std::uint64_t number) noexcept;
  ph_status start(std::uint64_t number, Pull& pull) noexcept;
  ph_status start_one(std::uint64_t number, Pull& pull) noexcept;
  ph_status fail(Pull& pull, ph_status status) noexcept;
  void give_up_gets(Pull& pull) noexcept;
  void set_waiting(Pull& pull, bool is_waiting) noexcept;
  List::iterator give_up(List::iterator one, List& given_up) noexcept;

  Port& port_;
  List pulls_;
  std::map<Rank, std::size_t> reads_;  // gets that are not over
  std::uint64_t next_ = 0;
  std::uint64_t waiting_ = 0;  // of the pulls
};

}  // namespace photon::service::mailbox
