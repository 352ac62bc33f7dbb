// Buffers of mailboxes that were granted to their one source ahead of its messages
// (docs/mailbox.md, Granted ahead).
//
//   buffer: posted -- it is current and untouched, or all in front of it are granted --> granted
//   granted -- what was stored in it reaches its threshold --> complete, its key stale
//           -- anything else would land in the mailbox, or its owner takes it back --> taken back
//   taken back -- its source copies under none of its keys --> as if it had never been granted
//              -- it does --> held: nothing lands in it and it is not handed over -- that copy has
//                 ended, or the source is dead --> as if it had never been granted
//
// Invariant: in a granted buffer nothing counts but what its source has stored there, told in that
// order; so an honest source knows that a buffer is complete, and stores nothing more in it. In all
// other cases the keys are stale, and no copy is under way, before anything else is written.
// Owner: Receiver.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "service/mailbox/letter.hpp"
#include "service/mailbox/window.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Grants {
 public:
  explicit Grants(Port& port) noexcept : port_(port) {}

  // The first `most` buffers of that window that may be granted to that rank are, and it is told.
  // False: that rank is still being met.
  bool give(Window& window, Rank source, std::uint64_t most) noexcept;
  // None is granted any more. False: the source is in the middle of a copy into one, which is held.
  bool take_back(Window& window, Rank source) noexcept;
  // The source stored its last message in it.
  void complete(std::uint64_t number) noexcept;

  // A window of which a held buffer is free again, or null. To be called while there are held ones.
  Window* free_next(Window::Owner& owner) noexcept;
  bool empty() const noexcept { return given_.empty(); }
  bool has_held() const noexcept { return !held_.empty(); }

 private:
  struct Held {
    Window* window = nullptr;
    std::uint64_t epoch = 0;
    Rank source = 0;
    Exposed exposed;
  };

  bool grant(const Window& window, Rank source, Buffer& buffer, bool is_first) noexcept;
  bool is_held(const Window& window) const noexcept;

  Port& port_;
  std::map<std::uint64_t, Exposed> given_;  // by number
  std::vector<Held> held_;
  std::uint64_t next_ = 1;
};

}  // namespace photon::service::mailbox
