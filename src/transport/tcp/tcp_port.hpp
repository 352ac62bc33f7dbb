// What the frames of a peer do here: the target's side of everything, and the answers to what we
// asked for. Every number in a frame is checked before anything is done; `false` says that no rank
// of this library sends such a thing, and ends the connection.
// Owner: TcpTransport, for as long as one receive() lasts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "transport/tcp/tcp_inlet.hpp"
#include "transport/tcp/tcp_peer.hpp"

namespace photon::transport::tcp {

// Told as it happens; nothing of the engine's is called while a frame is read.
class PortNews {
 public:
  virtual void on_ring(TcpPeer& peer) = 0;  // lines or credits
  virtual void on_landed(TcpPeer& peer, std::uint32_t imm) = 0;
  virtual void on_over(TcpPeer& peer, std::uint64_t token, ph_status status) = 0;
  virtual void on_written(TcpPeer& peer, std::uint64_t token) = 0;  // as on_over() with PH_OK

 protected:
  ~PortNews() = default;
};

class PeerPort final : public Port {
 public:
  PeerPort(TcpPeer& peer, std::span<const RegionEntry> regions, PortNews& news) noexcept
      : peer_(peer), regions_(regions), news_(news) {}

  bool begin_lines(std::uint32_t lines_count, std::uint32_t bulk_bytes, std::byte*& bulk) override;
  std::uint32_t take_lines(std::span<const std::byte> lines) override;
  bool take_credits(const CreditBody& credits) override;
  bool begin_write(const FrameHead& head, const FragmentBody& body, std::byte*& to) override;
  bool take_read(const FrameHead& head, const FragmentBody& body) override;
  bool begin_data(const FrameHead& head, std::byte*& to) override;
  void end_words() override { peer_.is_cut_off = true; }
  bool take_end(const FrameHead& head) override;
  void cannot_place() override;
  bool take_done(const FrameHead& head) override;
  bool begin_bye(const FrameHead& head, std::byte*& to) override;

 private:
  bool may_ask() const noexcept;
  void answer(std::uint64_t token, ph_status status);

  TcpPeer& peer_;
  const std::span<const RegionEntry> regions_;
  PortNews& news_;
};

}  // namespace photon::transport::tcp
