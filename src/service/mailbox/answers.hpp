// Bytes of buffers on their way to ranks that have asked for them: copies, so that a buffer may go
// at once. Small ones leave with their answer, or wait for a line; a larger one is a body, which
// stays until it has left.
//
//   small: waits for a line --> sent, over
//   body:  waits for room --> sent -- on_local(), its rank is lost --> over
//
// Owner: Mailboxes, under the lane's lock.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "service/mailbox/asking.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Answers {
 public:
  explicit Answers(Port& port) noexcept : port_(port) {}

  // False: that rank has asked for more than it may. Without memory for the copy the answer says
  // so. Throws bad_alloc.
  bool send(Rank to, Answer& answer, std::span<const std::byte> bytes);
  void on_local(std::uint64_t token) noexcept;
  void on_room() noexcept;
  void on_lost(Rank rank) noexcept;

  static bool is_ours(std::uint64_t token) noexcept { return (token & kOurs) != 0; }
  std::uint64_t held() const noexcept { return bodies_.size(); }

 private:
  static constexpr std::uint64_t kOurs = std::uint64_t{1} << 62;

  struct Body {
    Rank to = 0;
    Answer answer;
    std::vector<std::byte> bytes;
    bool is_sent = false;

    bool is_small() const noexcept { return bytes.size() <= wire::kMaxPackedBytes; }
  };

  ph_status say(Rank to, const Answer& answer, std::span<const std::byte> bytes);
  ph_status say_small(const Body& body) noexcept;
  bool start(std::uint64_t number, Body& body) noexcept;

  Port& port_;
  std::map<std::uint64_t, Body> bodies_;
  std::uint64_t next_ = 0;
};

}  // namespace photon::service::mailbox
