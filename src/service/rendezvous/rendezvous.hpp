// The service behind photon/rendezvous.h: what this rank has announced, and what peers have
// announced to it (docs/rendezvous.md). The owner's side: rendezvous.cpp; the side of
// the peer who takes: buffers.cpp.
//
//   offer:  free -- announce() --> announced -- finished by the peer, the peer is lost --> free
//                                      \-- cancel: asked --> finished, with or without a taker
//
// Invariants: an offer holds a promise of a completion to its user until it is over; a peer knows
// its token until then. Owner: the engine of a lane, under the lane's lock.
#pragma once

#include <photon/rendezvous.h>

#include <memory>
#include <vector>

#include "service/rendezvous/announcements.hpp"
#include "service/service.hpp"

namespace photon::service::rendezvous {

class Rendezvous final : public Service {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Rendezvous>(port); }
  explicit Rendezvous(Port& port);
  ~Rendezvous() override;  // what is still exposed is a registration of its own no more

  // ---- for the owner of a buffer
  ph_status announce(Rank rank, const ph_announce_args& args);

  // ---- for the peer who takes it
  ph_status check(const ph_match& match);
  // How many announcements there ever were: none is found among so many once it was not.
  std::uint64_t arrivals() const noexcept { return announcements_.arrivals(); }
  bool take(const ph_match& match, ph_buffer& buffer);
  // What a look for this can still hope for; PH_OK: something.
  ph_status broken(const ph_match& match);
  // Whether a transfer of so many bytes may be made with what was taken. `kind`: what it has to be.
  struct Access {
    ph_buffer_kind kind;
    std::uint64_t offset;
    std::uint64_t size_bytes;
  };
  ph_status check(const ph_buffer& buffer, const Access& access);
  ph_status finish(const ph_buffer& buffer);

  // ---- Service
  bool on_message(const Message& message) override;
  void on_lost(Rank rank, ph_status why) noexcept override;
  ph_outcome on_cancel(Rank rank, std::uint64_t token) override;
  void close() override;
  bool is_idle() const noexcept override { return exposed_ == 0; }
  std::uint64_t held() const noexcept override {
    return announcements_.held() + announcements_.blocks_used();
  }

 private:
  // The kind of a message stands in the bits of its first word that a token leaves free.
  enum class Op : std::uint8_t { announced = 1, finished, cancelled };
  static constexpr unsigned kOpShift = 60;
  static constexpr std::uint64_t kTokenMask = (std::uint64_t{1} << kOpShift) - 1;
  static constexpr std::uint64_t kMostUnfinished = 65536;

  struct Offer {
    Rank rank = 0;
    bool is_used = false;
    bool is_over_for_user = false;  // its completion was given at once
    bool is_cancelled = false;
    std::uint32_t generation = 0;
    std::uint64_t promise = 0;
    std::uint64_t what = 0;  // kind and size, as in the record
    std::uint64_t tag = 0;
    std::uint64_t ticket = 0;  // while it queues
    std::uint64_t mark = 0;    // where its message ended, once it has gone
    Exposed exposed;
  };

  ph_status check_announce(Rank rank, const ph_announce_args& args);
  std::uint32_t new_offer();
  Offer* find(std::uint64_t token) noexcept;
  static std::uint64_t token_of(const Offer& offer, std::uint32_t index) noexcept;
  ph_status say(Rank rank, Op op, std::span<std::uint64_t> words, bool behind_all = false);
  ph_status send(std::uint32_t index, std::span<const std::byte> payload);
  void over(Offer& offer, ph_status status, const char* why = nullptr);
  void free_offer(Offer& offer) noexcept;

  bool announced(const Message& message, std::span<const std::uint64_t> words);
  bool finished(Rank from, std::uint64_t token, ph_status status);
  bool cancelled(Rank from, std::span<const std::uint64_t> words);
  void give_back(std::uint32_t entry, ph_status status, bool behind_all);

  Port& port_;
  std::vector<Offer> offers_;
  std::vector<std::uint32_t> free_;
  std::uint64_t used_ = 0;
  std::uint64_t exposed_ = 0;              // of those, the ones that are not over for the user
  Announcements announcements_;            // of peers, to us
  std::vector<std::uint32_t> unfinished_;  // of each peer, those that nobody here has finished
  bool is_leaving_ = false;
};

}  // namespace photon::service::rendezvous
