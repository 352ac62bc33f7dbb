// One side of a pair: its memory, the peer's, and the operations of the questions between them.
// Invariant: both sides construct it together, with the same size and kind.
// Owner: the question; lives within one row.
#pragma once

#include <string>

#include "inbox.hpp"
#include "limits.hpp"

namespace photon::perf {

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

class Link {
 public:
  // `size_bytes` a message, `slots` places for messages on each side.
  struct Shape {
    MemoryKind kind;
    std::size_t size_bytes;
    std::size_t slots = kWindow;
    // Messages of a stream carry their number, each from a slot of its own, so that a stale one
    // shows. Else they share one source, which is what the limit programs send.
    bool stamped = false;
    // Sources are rewritten before each message (contents.hpp), if the user asks for that.
    bool may_be_fresh = false;
  };

  Link(Bench& bench, Team& team, Shape shape);

  Job& job() const noexcept { return *job_; }
  Team& team() const noexcept { return *team_; }
  Inbox& inbox() noexcept { return inbox_; }
  const Buffers& buffers() const noexcept { return buffers_; }
  ph_rank peer() const noexcept { return team_->other(); }
  std::size_t size_bytes() const noexcept { return shape_.size_bytes; }
  std::size_t slots() const noexcept { return shape_.slots; }
  bool is_stamped() const noexcept { return shape_.stamped; }
  bool is_fresh() const noexcept { return buffers_.is_fresh; }
  // Where `shape` lets a question know it, and the user asks for it.
  std::string_view buffers_text() const noexcept;

  std::byte* source(std::size_t slot) const noexcept {
    return source_.data() + slot * shape_.size_bytes;
  }
  std::byte* landing(std::size_t slot) const noexcept {
    return landing_.data() + slot * shape_.size_bytes;
  }

  // Slot `slot` of the peer's landing, and of ours.
  ph_target place(std::size_t slot) const noexcept {
    return ph_at(&peer_landing_, slot * shape_.size_bytes);
  }
  ph_target own_place(std::size_t slot) const noexcept {
    return ph_at(&landing_.region(), slot * shape_.size_bytes);
  }

  // Post a put from own `source` into slot `slot` of the peer.
  ph_status put(const std::byte* source, std::size_t slot, ph_u64_ids ids) const noexcept {
    return ph_put_u64(job_->context(), peer(), {source, shape_.size_bytes}, place(slot), ids);
  }
  // Post a get of the peer's source into own slot `slot`.
  ph_status get(std::size_t slot, ph_u64_ids ids) const noexcept {
    return ph_get_u64(job_->context(), peer(), {landing(slot), shape_.size_bytes},
                      ph_at(&peer_source_, slot * buffers_.source_stride), ids);
  }
  // Both sides call it when each has been told all it waited for. A message that was accepted may
  // still be queued in its sender, and leaves only while that one probes: so it probes until then.
  void part() {
    team_->barrier_while([this] {
      inbox_.poll([](const ph_completion&) { throw Failure("a remote id arrived out of turn"); });
    });
  }
  ph_status notify(std::uint64_t id) const noexcept {
    return ph_notify(job_->context(), peer(), id);
  }

  // How the library carries a put of this row, by its settings and the path.
  std::string put_mode() const;
  std::string transport() const { return job_->path_to(peer()).transport; }

 private:
  void meet();

  Job* job_;
  Team* team_;
  Shape shape_;
  Memory source_;
  Memory landing_;
  ph_region peer_source_{};
  ph_region peer_landing_{};
  Buffers buffers_;
  Inbox inbox_;
};

// Row, transport and memory included, of a contest over `link`.
Row row_of(const Bench& bench, const Contest& contest, const Verdict& verdict, const Link& link);

// Messages of that size in the memory that the user asks for, in questions that know fresh sources.
Link::Shape fresh_shape(const Bench& bench, std::size_t size_bytes) noexcept;

// The sizes the user gave, or these.
std::vector<std::uint64_t> sizes_or(const Options& options, std::vector<std::uint64_t> defaults);

}  // namespace photon::perf
