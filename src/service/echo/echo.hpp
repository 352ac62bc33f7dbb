// The service behind photon/echo.h: the smallest that uses all of the seam that is built.
//
//   asked -- the answer comes, in order --> answered -- taken by the user --> over
//         -- its rank is lost --> answered with an error
//   a body that comes in: chunk -- kept until the next turn --> added up, given back
//
//   told: under way -- handed to the handler, or dropped --> heard -- said, many at once --> over
//
// Invariants: under way + answers not taken <= PH_ECHO_MOST_ASKED; of each peer, told and not known
// to be heard <= PH_ECHO_MOST_TOLD. Owner: the engine of a lane,
// under the lane's lock; `running_` belongs to the thread inside run().
#pragma once

#include <photon/echo.h>

#include <memory>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/service.hpp"

namespace photon::service::echo {

// A sum that depends on the order of bytes. It is added up chunk by chunk.
class Sum {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) sum_ = (sum_ ^ static_cast<std::uint64_t>(byte)) * kPrime;
  }
  std::uint64_t value() const noexcept { return sum_; }

 private:
  static constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a, 64 bits
  std::uint64_t sum_ = 0xcbf29ce484222325;
};

class Echo final : public Service {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Echo>(port); }
  explicit Echo(Port& port) : port_(port), peers_(port.size()), told_to_(port.size()) {}

  // ---- for the user
  ph_status ask(Rank rank, std::uint64_t value);
  ph_status ask_body(Rank rank, std::span<const std::byte> body, std::uint64_t value);
  ph_status tell(Rank rank, std::uint64_t value) noexcept {
    if (rank >= told_to_.size()) return port_.say_words(rank, kTold, value);  // it has the words
    std::uint64_t& told = told_to_[rank];
    if (told >= PH_ECHO_MOST_TOLD) [[unlikely]]
      return PH_AGAIN;
    const ph_status status = port_.say_words(rank, kTold, value);
    told += status == PH_OK;
    return status;
  }
  void listen(ph_echo_handler handler, void* user) noexcept;
  bool has_answer() const noexcept { return !answers_.empty(); }
  bool take(ph_echo_result& result) noexcept;

  // ---- Service
  bool on_message(const Message& message) override;
  Verdict on_chunk(const Chunk& chunk) override;
  void on_local(Rank to, std::uint64_t token, ph_status status) override;
  void on_lost(Rank rank, ph_status why) noexcept override;
  bool turn() override;
  void collect() override;
  void run() noexcept override;
  void close() override;
  bool is_idle() const noexcept override { return kept_.empty(); }
  std::uint64_t held() const noexcept override;

 private:
  // The first word of a message.
  static constexpr std::uint64_t kAsked = 1;     // value
  static constexpr std::uint64_t kAnswer = 2;    // value
  static constexpr std::uint64_t kTold = 3;      // value
  static constexpr std::uint64_t kBody = 4;      // and a body
  static constexpr std::uint64_t kBodySum = 5;   // sum
  static constexpr std::uint64_t kBodyEnds = 6;  // its rest did not come
  static constexpr std::uint64_t kHeard = 7;     // so many of what was told
  // So few messages say so that they cost those who tell nothing.
  static constexpr std::uint64_t kHeardAtOnce = PH_ECHO_MOST_TOLD / 4;

  struct Asked {
    std::uint64_t value = 0;
    ph_status failed = PH_OK;  // of a body: why its end is no answer
    bool has_left = false;     // of a body: all of it, or all that there will be
  };
  struct PeerState {
    base::RingQueue<Asked> asked;
    base::RingQueue<Asked> bodies;
    Sum sum;                   // of the body that comes in
    std::uint64_t coming = 0;  // bodies that have begun to come and are not answered
    std::uint64_t heard = 0;   // told by it, of which it does not know that they were heard
  };
  struct Kept {
    Rank from = 0;
    std::uint64_t loan = 0;
    const std::byte* bytes = nullptr;
    std::uint64_t size_bytes = 0;
    bool is_last = false;
  };
  struct Told {
    Rank from = 0;
    std::uint64_t value = 0;
  };

  PeerState& peer(Rank rank) {
    if (peers_[rank] == nullptr) [[unlikely]]
      peers_[rank] = std::make_unique<PeerState>();
    return *peers_[rank];
  }
  bool answered(Rank from, base::RingQueue<Asked>& asked, std::uint64_t value);
  bool body_answered(Rank from, std::uint64_t op, std::uint64_t sum);
  void say_surely(Rank to, std::uint64_t op, std::uint64_t value);
  bool take_told(Rank from, std::uint64_t value);
  bool may_tell(Rank from) noexcept;
  void note_heard(Rank from, std::uint64_t count);
  void end_all(Rank rank, base::RingQueue<Asked>& asked, ph_status why) noexcept;

  Port& port_;
  std::vector<std::unique_ptr<PeerState>> peers_;
  base::RingQueue<ph_echo_result> answers_;
  std::uint64_t under_way_ = 0;
  base::RingQueue<Kept> kept_;
  ph_echo_handler handler_ = nullptr;
  void* user_ = nullptr;
  std::vector<std::uint64_t> told_to_;  // by rank: told, and not known to be heard
  std::vector<Told> told_;
  std::size_t told_check_ = PH_ECHO_MOST_TOLD;  // when there are so many, it is looked whose
  std::size_t heard_count_ = 0;  // of those, by collect(), which found no memory for the rest
  // Of the thread that runs the handler.
  std::vector<Told> running_;
  ph_echo_handler running_handler_ = nullptr;
  void* running_user_ = nullptr;
};

}  // namespace photon::service::echo
