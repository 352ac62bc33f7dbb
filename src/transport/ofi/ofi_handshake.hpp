// The first words between two endpoints: each proves that it knows the job's secret.
//
//   dialer:    hello --> awaits challenge -- proved: proof --> awaits welcome --> open
//   acceptor:  awaits hello: challenge --> awaits proof -- proved: welcome --> open
//
// The dialer has our address from our endpoint info; we have its from its hello, which is sealed by
// the secret, so that no stranger tells us where to send, or gets in the way of a rank. What does
// not fit is told to the caller, to be counted, and forgotten. A seal can be sent again by who has
// seen it, a proof cannot: both random values are in it. Any message may be lost: the dialer says
// its latest one again() until it is open, and the acceptor answers each as it did the first time.
// What comes of an acceptor with our key in the place of its welcome says as much as that would.
// Both may dial: then the hello of the lower rank stays; the higher one that hears it answers it.
// Owner: OfiPeer. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "boot/boot.hpp"
#include "transport/ofi/ofi_message.hpp"

namespace photon::transport::ofi {

// Who speaks, and with whom.
struct Parties {
  std::uint32_t self = 0;
  std::uint32_t size = 0;  // ranks of the job
  std::uint32_t lane = 0;
};

class OfiHandshake {
 public:
  enum class Step : std::uint8_t {
    waits,         // reply() is to be sent, if there is one
    open,          // likewise; both have proved themselves
    late,          // said twice: nothing to do
    garbage,       // no handshake
    version,       // of another version
    unexpected,    // it means another rank or lane, or a handshake that there is not
    wrong_secret,  // whoever sent this does not know the secret
    not_it,        // nor does who answers at that rank's address (dialer)
  };

  // `secret` outlives it. PH_ERR_SYSTEM: no random bytes.
  static base::Result<OfiHandshake> make(const boot::Secret& secret, const Parties& parties,
                                         std::uint32_t with);
  // From here on we are the dialer; reply() is the hello. `ours`: where answers go.
  void dial(std::span<const std::byte> ours);
  // What a hello has to be before anything else is looked at: waits, or what is wrong with it.
  static Step check_hello(const boot::Secret& secret, std::span<const std::byte> body,
                          HelloBody& hello);
  bool is_dialer() const noexcept { return is_dialer_; }
  // There is something for us to say again().
  bool is_owed() const noexcept { return stage_ == Stage::challenge || stage_ == Stage::welcome; }
  bool awaits_welcome() const noexcept { return stage_ == Stage::welcome; }
  // reply() is once more what we said last, for it is_owed() an answer.
  void again() noexcept { reply_bytes_ = said_bytes_; }
  // The acceptor has said something that it only says after its welcome.
  void welcomed() noexcept { stage_ = Stage::open; }

  Step take(const MessageHead& head, std::span<const std::byte> body);
  // A whole message; empty: none.
  std::span<const std::byte> reply() const noexcept { return {reply_.data(), reply_bytes_}; }
  void replied() noexcept { reply_bytes_ = 0; }

  std::uint64_t our_key() const noexcept { return key_of(nonce_); }     // in heads to us
  std::uint64_t their_key() const noexcept { return key_of(theirs_); }  // in heads to them

 private:
  enum class Stage : std::uint8_t { hello, challenge, welcome, open };

  OfiHandshake(const boot::Secret& secret, const Parties& parties, std::uint32_t with) noexcept
      : secret_(&secret), parties_(parties), with_(with) {}

  Step take_hello(const Hello& hello);
  Step take_challenge(const Challenge& challenge);
  Step take_proof(const ProofBody& said);
  Hello hello_of(const boot::Nonce& nonce, bool is_ours) const noexcept;
  template <class Body>
  void say(MessageKind kind, std::uint64_t key, const Body& body) noexcept;
  void say_welcome() noexcept;

  const boot::Secret* secret_;
  Parties parties_;
  std::uint32_t with_;
  Stage stage_ = Stage::hello;
  bool is_dialer_ = false;
  boot::Nonce nonce_{};
  boot::Nonce theirs_{};
  std::array<std::byte, sizeof(MessageHead) + sizeof(HelloBody)> reply_{};
  std::size_t reply_bytes_ = 0;
  std::size_t said_bytes_ = 0;  // what stands in reply_, said or not
};

}  // namespace photon::transport::ofi
