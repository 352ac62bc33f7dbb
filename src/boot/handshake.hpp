// The first words on a new connection, before any frame: who are you, and prove it.
//
//   dialer:    dialing -- connected: hello --> awaits challenge -- proved: proof --> awaits welcome
//                 --> open;  anything else --> refused
//   acceptor:  awaits hello -- known: challenge --> awaits proof -- proved --> proven
//                 (its owner decides) -- welcome --> open;  anything else --> refused
//
// Every message has a fixed size and is read to the byte, so that what follows the welcome is left
// in the socket for the frames. The acceptor proves itself first: a dialer tells nothing but its
// rank to who cannot. Until the end of it nothing but this object is spent on the other.
// Owner: a transport or the side channel. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "boot/boot.hpp"
#include "boot/proof.hpp"

namespace photon::boot {

// What is spoken afterwards. The hello is part of what is proved, so that a proof made for one
// protocol is none for another.
struct Protocol {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
};

struct Hello {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t lane = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Nonce nonce{};
};
struct Challenge {
  Nonce nonce{};
  Proof proof{};
};
struct Welcome {
  std::uint64_t magic = 0;
};
static_assert(sizeof(Hello) == 56 && sizeof(Challenge) == 64 && sizeof(Welcome) == 8);
static_assert(std::has_unique_object_representations_v<Hello>, "no padding travels");

// Who speaks, and with whom.
struct Parties {
  std::uint32_t self = 0;
  std::uint32_t size = 0;  // ranks of the job
  std::uint32_t lane = 0;
  Protocol protocol;
};

class Handshake {
 public:
  enum class Step : std::uint8_t {
    waits,    // for more bytes
    proven,   // acceptor: from() is who it says; welcome() or not
    open,     // dialer
    garbage,  // the other one does not speak this
    wrong_version,
    unexpected,    // it means another rank, lane or job size
    wrong_secret,  // it does not know the secret
    broken,        // the socket failed or closed
  };

  // `secret` outlives it.
  static Handshake accept(const Secret& secret, const Parties& parties) noexcept {
    return {secret, parties, Role::acceptor};
  }
  // After connect() has begun; `to`: whom.
  static base::Result<Handshake> dial(const Secret& secret, const Parties& parties,
                                      std::uint32_t to);

  // The socket is readable, or (dialer) connected.
  Step advance(int socket);
  // The acceptor's last word. False: the socket failed.
  bool welcome(int socket) noexcept;
  std::uint32_t from() const noexcept { return hello_.from; }
  std::uint32_t version() const noexcept { return hello_.version; }  // that it speaks
  // Dialer: our proof is out, so the other side may have taken this connection.
  bool has_proved() const noexcept { return stage_ == Stage::welcome; }

 private:
  enum class Stage : std::uint8_t { dialing, hello, challenge, proof, welcome };

  Handshake(const Secret& secret, const Parties& parties, Role role) noexcept
      : secret_(&secret),
        parties_(parties),
        stage_(role == Role::dialer ? Stage::dialing : Stage::hello) {}

  Step fill(int socket, std::size_t size_bytes) noexcept;
  Step take_hello(int socket);
  Step take_challenge(int socket);
  Step take_proof();
  Claim claim(Role role) const noexcept;

  const Secret* secret_;
  Parties parties_;
  Stage stage_;
  Hello hello_;
  Nonce acceptor_{};
  std::array<std::byte, sizeof(Challenge)> buffer_{};  // what has come of the next message
  std::size_t filled_ = 0;
};

}  // namespace photon::boot
