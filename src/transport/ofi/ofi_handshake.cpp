#include "transport/ofi/ofi_handshake.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace photon::transport::ofi {

namespace {

template <class Body>
bool read(std::span<const std::byte> bytes, Body& body) noexcept {
  if (bytes.size() != sizeof body) return false;
  std::memcpy(&body, bytes.data(), sizeof body);
  return true;
}

std::span<const std::byte> bytes_of(const Hello& hello) noexcept {
  return std::as_bytes(std::span(&hello, 1));
}

std::span<const std::byte> sealed(const HelloBody& body) noexcept {
  return std::as_bytes(std::span(&body, 1)).first(sizeof body - sizeof body.seal);
}

}  // namespace

base::Result<OfiHandshake> OfiHandshake::make(const boot::Secret& secret, const Parties& parties,
                                              std::uint32_t with) {
  OfiHandshake made(secret, parties, with);
  const auto nonce = boot::random_nonce();
  if (!nonce) return nonce.error();
  made.nonce_ = *nonce;
  return made;
}

Hello OfiHandshake::hello_of(const boot::Nonce& nonce, bool is_ours) const noexcept {
  Hello hello;
  hello.lane = parties_.lane;
  hello.from = is_ours ? parties_.self : with_;
  hello.to = is_ours ? with_ : parties_.self;
  hello.nonce = nonce;
  return hello;
}

template <class Body>
void OfiHandshake::say(MessageKind kind, std::uint64_t key, const Body& body) noexcept {
  const MessageHead head{.key = key, .from = parties_.self, .kind = kind};
  static_assert(sizeof head + sizeof body <= sizeof reply_);
  std::memcpy(reply_.data(), &head, sizeof head);
  std::memcpy(reply_.data() + sizeof head, &body, sizeof body);
  reply_bytes_ = said_bytes_ = sizeof head + sizeof body;
}

void OfiHandshake::say_welcome() noexcept {
  const MessageHead head{.key = their_key(), .from = parties_.self, .kind = MessageKind::welcome};
  std::memcpy(reply_.data(), &head, sizeof head);
  reply_bytes_ = said_bytes_ = sizeof head;
}

void OfiHandshake::dial(std::span<const std::byte> ours) {
  stage_ = Stage::challenge;
  is_dialer_ = true;
  HelloBody body;
  body.hello = hello_of(nonce_, true);
  body.address_bytes = ours.size();
  std::copy(ours.begin(), ours.end(), body.address.begin());
  body.seal = boot::prove(*secret_, {boot::Role::dialer, sealed(body), {}});
  say(MessageKind::hello, kHelloKey, body);
}

OfiHandshake::Step OfiHandshake::check_hello(const boot::Secret& secret,
                                             std::span<const std::byte> body, HelloBody& hello) {
  if (!read(body, hello) || hello.hello.magic != kHelloKey) return Step::garbage;
  if (hello.hello.version != wire::kVersion) return Step::version;
  if (!boot::is_proof(secret, {boot::Role::dialer, sealed(hello), {}}, hello.seal))
    return Step::wrong_secret;
  return hello.address_bytes <= hello.address.size() ? Step::waits : Step::garbage;
}

OfiHandshake::Step OfiHandshake::take(const MessageHead& head, std::span<const std::byte> body) {
  HelloBody hello;
  Challenge challenge;
  ProofBody proof;
  switch (head.kind) {
    case MessageKind::hello:
      if (head.key != kHelloKey) return Step::garbage;
      if (const Step checked = check_hello(*secret_, body, hello); checked != Step::waits)
        return checked;
      return take_hello(hello.hello);
    case MessageKind::challenge:
      if (!read(body, challenge)) return Step::garbage;
      if (head.key != our_key()) return Step::unexpected;
      return take_challenge(challenge);
    case MessageKind::proof:
      if (!read(body, proof)) return Step::garbage;
      if (head.key != our_key() || is_dialer_) return Step::unexpected;
      return take_proof(proof);
    case MessageKind::welcome:
      if (!body.empty()) return Step::garbage;
      if (head.key != our_key() || !is_dialer_) return Step::unexpected;
      if (stage_ == Stage::open) return Step::late;  // to a proof that was said again
      if (stage_ != Stage::welcome) return Step::unexpected;
      stage_ = Stage::open;
      return Step::open;
    default: return Step::garbage;
  }
}

OfiHandshake::Step OfiHandshake::take_hello(const Hello& hello) {
  if (hello.from != with_ || hello.to != parties_.self || hello.lane != parties_.lane)
    return Step::unexpected;
  if (stage_ == Stage::challenge && parties_.self > with_) {
    stage_ = Stage::hello;  // both have dialed
    is_dialer_ = false;
  }
  if (stage_ != Stage::hello) return Step::late;
  const boot::Claim claim{boot::Role::acceptor, bytes_of(hello), nonce_};
  say(MessageKind::challenge, key_of(hello.nonce), Challenge{nonce_, boot::prove(*secret_, claim)});
  return Step::waits;
}

// Only who got our hello knows our key, so this comes from that rank's address.
OfiHandshake::Step OfiHandshake::take_challenge(const Challenge& challenge) {
  const bool has_one = stage_ == Stage::welcome || stage_ == Stage::open;
  if (has_one && challenge.nonce == theirs_) return Step::late;
  if (stage_ != Stage::challenge) return Step::unexpected;
  const Hello hello = hello_of(nonce_, true);
  if (!boot::is_proof(*secret_, {boot::Role::acceptor, bytes_of(hello), challenge.nonce},
                      challenge.proof))
    return Step::not_it;
  theirs_ = challenge.nonce;
  stage_ = Stage::welcome;
  const boot::Claim claim{boot::Role::dialer, bytes_of(hello), challenge.nonce};
  say(MessageKind::proof, their_key(), ProofBody{nonce_, boot::prove(*secret_, claim)});
  return Step::waits;
}

// Said again by who has not heard our welcome.
OfiHandshake::Step OfiHandshake::take_proof(const ProofBody& said) {
  if (stage_ != Stage::hello && (stage_ != Stage::open || said.nonce != theirs_))
    return Step::unexpected;
  const Hello hello = hello_of(said.nonce, false);
  if (!boot::is_proof(*secret_, {boot::Role::dialer, bytes_of(hello), nonce_}, said.proof))
    return Step::wrong_secret;
  theirs_ = said.nonce;
  say_welcome();
  return std::exchange(stage_, Stage::open) == Stage::open ? Step::waits : Step::open;
}

}  // namespace photon::transport::ofi
