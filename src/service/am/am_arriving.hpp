// What a rank sends us for our handlers: ops 1 to 5, from a record or a chunk to an entry of the
// inbox, and whom to cut off (docs/active-messages.md, "The wire").
//
//   line, record:      arrived, copied ------------------------------> due
//   body of one chunk: arrived -- this call will run it --> lent ----> due
//                              -- else --> copied -------------------> due
//   of several chunks: first --> gathering -- the next one --> ... --> due
//                                gathering -- its rank is lost --> over
//   any, while the lane closes: arrived --> over, as if handled
//
// Invariants: of each rank at most so many messages are here as it has slots; a peer's words are
// checked before anything is allocated for them. Owner: Am, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "service/am/am_answers.hpp"
#include "service/am/am_inbox.hpp"
#include "service/am/am_loans.hpp"
#include "service/am/am_pulls.hpp"
#include "service/am/am_sender.hpp"
#include "service/am/gate.hpp"
#include "service/am/pull_table.hpp"
#include "service/am/word.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Arriving {
 public:
  struct Parts {
    Port& port;
    Gates& gates;
    Inbox& inbox;
    Loans& loans;
    Answers& answers;
    Sender& sender;
    Pulls& pulls;
  };
  explicit Arriving(const Parts& parts) : its_(parts), from_(parts.port.size()) {}

  // ---- what comes; `rest` is what stands behind word 0. False: malformed. They throw bad_alloc.
  bool line(Rank from, const Word& word, std::span<const std::byte> rest);
  // The same of one without flags or header, which is what most are.
  bool plain_line(Rank from, std::uint64_t bits, std::span<const std::byte> rest);
  bool record(Rank from, const Word& word, std::span<const std::byte> rest,
              std::span<const std::byte> bytes);
  Verdict chunk(const Chunk& chunk);

  // Replies of that rank that have come, and whose header handler has not returned.
  std::uint32_t replies_here(Rank rank) const noexcept { return from_[rank].replies_here; }
  // The header handler of a reply of its has returned.
  void note_reply_over(Rank rank) noexcept { --from_[rank].replies_here; }

  // Its chunks that were lent, and that were copied, ever.
  std::uint64_t lent(Rank rank) const noexcept { return from_[rank].lent; }
  std::uint64_t copied(Rank rank) const noexcept { return from_[rank].copied; }

  void note_lent(Rank rank) noexcept { ++from_[rank].lent; }

  void on_lost(Rank rank) noexcept { from_[rank].body.reset(); }
  // From now on nothing that comes is due.
  void close() noexcept { is_closed_ = true; }

 private:
  // What stands behind word 0 of a record or body. A message that is pulled carries its table of
  // blocks as others do a payload.
  struct Words {
    Sizes sizes;
    PullWords pull;
  };
  // A body of several chunks, as far as it has come.
  struct Body {
    Word word;
    Words words;
    std::uint64_t size_bytes = 0;
    std::unique_ptr<std::byte[]> bytes;
  };
  struct From {
    std::unique_ptr<Body> body;  // null: none is gathered
    std::uint64_t lent = 0;
    std::uint64_t copied = 0;
    std::uint32_t replies_here = 0;
  };

  static constexpr std::uint32_t kMostOwed = 65536;  // replies that a rank may wait for

  bool cut(Rank from, const char* why);
  bool admits(Rank from, const Word& word);
  bool is_carried(Rank from, const Word& word, const Sizes& sizes);
  std::optional<Words> words_of(Rank from, const Word& word, std::span<const std::byte> rest);
  bool offers(Arrived& entry, const PullWords& words);
  static bool has_items(Arrived& entry) noexcept;
  bool fill(Arrived& entry, const PullWords& words, std::span<const std::byte> bytes);
  Arrived& add(Rank from, const Word& word, const am::Parts& parts);
  void arrived(Arrived& entry);
  Verdict whole(const Chunk& chunk, const Word& word, const Words& words);
  Verdict begin(const Chunk& chunk, const Word& word, const Words& words);
  Verdict go_on(const Chunk& chunk);
  bool over(Rank from, const Word& word, const PullWords& words);

  Parts its_;
  std::vector<From> from_;  // by rank
  bool is_closed_ = false;
};

}  // namespace photon::service::am
