#include "boot/handshake.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>

namespace photon::boot {

namespace {

// A few bytes into a socket whose buffer is empty: all or it is broken.
template <class Message>
bool say(int socket, const Message& message) noexcept {
  ssize_t sent = 0;
  do sent = ::send(socket, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

}  // namespace

base::Result<Handshake> Handshake::dial(const Secret& secret, const Parties& parties,
                                        std::uint32_t to) {
  Handshake made(secret, parties, Role::dialer);
  auto nonce = random_nonce();
  if (!nonce) return std::move(nonce.error());
  made.hello_.magic = parties.protocol.magic;
  made.hello_.version = parties.protocol.version;
  made.hello_.lane = parties.lane;
  made.hello_.from = parties.self;
  made.hello_.to = to;
  made.hello_.nonce = *nonce;
  return made;
}

// proven stands for "the message is whole" here.
Handshake::Step Handshake::fill(int socket, std::size_t size_bytes) noexcept {
  while (filled_ < size_bytes) {
    const ssize_t got =
        ::recv(socket, buffer_.data() + filled_, size_bytes - filled_, MSG_DONTWAIT);
    if (got > 0) {
      filled_ += static_cast<std::size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Step::waits;
    return Step::broken;
  }
  filled_ = 0;
  return Step::proven;
}

Handshake::Step Handshake::advance(int socket) {
  if (stage_ == Stage::dialing) {
    if (!say(socket, hello_)) return Step::broken;
    stage_ = Stage::challenge;
  }
  if (stage_ == Stage::hello) {
    const Step whole = fill(socket, sizeof(Hello));
    return whole == Step::proven ? take_hello(socket) : whole;
  }
  if (stage_ == Stage::proof) {
    const Step whole = fill(socket, sizeof(Proof));
    return whole == Step::proven ? take_proof() : whole;
  }
  if (stage_ == Stage::challenge) {
    const Step whole = fill(socket, sizeof(Challenge));
    const Step taken = whole == Step::proven ? take_challenge(socket) : whole;
    if (taken != Step::open) return taken;
  }
  const Step whole = fill(socket, sizeof(Welcome));
  if (whole != Step::proven) return whole;
  Welcome said;
  std::memcpy(&said, buffer_.data(), sizeof said);
  return said.magic == parties_.protocol.magic ? Step::open : Step::garbage;
}

Handshake::Step Handshake::take_hello(int socket) {
  std::memcpy(&hello_, buffer_.data(), sizeof hello_);
  if (hello_.magic != parties_.protocol.magic) return Step::garbage;
  if (hello_.version != parties_.protocol.version) return Step::wrong_version;
  if (hello_.from >= parties_.size || hello_.from == parties_.self || hello_.to != parties_.self ||
      hello_.lane != parties_.lane)
    return Step::unexpected;
  const auto nonce = random_nonce();
  if (!nonce) return Step::broken;
  acceptor_ = *nonce;
  stage_ = Stage::proof;
  const Challenge challenge{acceptor_, prove(*secret_, claim(Role::acceptor))};
  return say(socket, challenge) ? advance(socket) : Step::broken;
}

// open: it has proved itself and heard our proof.
Handshake::Step Handshake::take_challenge(int socket) {
  Challenge challenge;
  std::memcpy(&challenge, buffer_.data(), sizeof challenge);
  acceptor_ = challenge.nonce;
  if (!is_proof(*secret_, claim(Role::acceptor), challenge.proof)) return Step::wrong_secret;
  stage_ = Stage::welcome;
  return say(socket, prove(*secret_, claim(Role::dialer))) ? Step::open : Step::broken;
}

Handshake::Step Handshake::take_proof() {
  Proof proof;
  std::memcpy(&proof, buffer_.data(), sizeof proof);
  return is_proof(*secret_, claim(Role::dialer), proof) ? Step::proven : Step::wrong_secret;
}

bool Handshake::welcome(int socket) noexcept {
  return say(socket, Welcome{parties_.protocol.magic});
}

Claim Handshake::claim(Role role) const noexcept {
  return {role, std::as_bytes(std::span(&hello_, 1)), acceptor_};
}

}  // namespace photon::boot
