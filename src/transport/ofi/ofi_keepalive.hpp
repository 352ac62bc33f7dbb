// Whether a peer gets what we send it. Providers do not say: one of them may have taken a message,
// and go on trying for ever. So the peer is asked, by the bootstrap.
//
//   quiet -- something of ours may be under way --> owed -- it was heard, or has all --> quiet
//   owed -- nothing heard for a third of the time --> asked -- it has less --> owed, missed once
//   owed -- nothing heard for all of the time, and missed twice --> lost
//
// Who does not answer may compute, or be stopped, and is not lost: then the bootstrap says when its
// process ends. Owner: OfiPeer. Threads: one.
#pragma once

#include <cstdint>

namespace photon::transport::ofi {

class OfiKeepalive {
 public:
  enum class Due : std::uint8_t { nothing, question, loss };

  // Something came of it, or a fragment of ours is over.
  void heard() noexcept {
    since_ns_ = 0;
    missed_ = 0;
  }
  // It has looked, and has not all of what we asked for.
  void missed() noexcept { ++missed_; }
  // While something is owed. `limit_ns`: all of the time.
  Due look(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
    if (since_ns_ == 0) {
      since_ns_ = asked_ns_ = now_ns;
      return Due::nothing;
    }
    if (missed_ >= kMissedTwice && now_ns - since_ns_ >= limit_ns) return Due::loss;
    if (now_ns - asked_ns_ < limit_ns / 3) return Due::nothing;
    asked_ns_ = now_ns;
    return Due::question;
  }

 private:
  static constexpr unsigned kMissedTwice = 2;

  std::int64_t since_ns_ = 0;  // nothing was heard; 0: something was, since the last look
  std::int64_t asked_ns_ = 0;
  unsigned missed_ = 0;
};

}  // namespace photon::transport::ofi
