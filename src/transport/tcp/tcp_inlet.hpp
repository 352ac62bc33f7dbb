// The receiving direction of a connection: bytes to frames. What is small passes through a buffer,
// one for all connections; payload is read straight to where it belongs, and its last bytes
// together with what follows it.
//
//   head -- its body, if it has one --> lines -- bulk, lines one record after the other --> head
//                                   --> payload -- to its place, or nowhere --> head
//                                   --> head
//
// Invariant: nothing is placed before its owner has said where (Port); a frame that the Port
// refuses, or that there is not, ends the connection with `garbage`. One receive() reads from the
// socket once. Of the buffer only the begin of a frame or of a record can be left, less than
// kMostRest: it waits in memory of its own, which is there beforehand and costs nothing before.
// Owner: TcpTransport. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/zero_array.hpp"
#include "transport/tcp/tcp_frame.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp {

// What frames do. False: this frame is none that the peer may send.
class Port {
 public:
  virtual bool begin_lines(std::uint32_t lines_count, std::uint32_t bulk_bytes,
                           std::byte*& bulk) = 0;
  // How many of them, whole records.
  virtual std::uint32_t take_lines(std::span<const std::byte> lines) = 0;
  virtual bool take_credits(const CreditBody& credits) = 0;
  // Where its bytes go; null: nowhere.
  virtual bool begin_write(const FrameHead& head, const FragmentBody& body, std::byte*& to) = 0;
  virtual bool take_read(const FrameHead& head, const FragmentBody& body) = 0;
  virtual bool begin_data(const FrameHead& head, std::byte*& to) = 0;
  // All words of the bye that began last have come.
  virtual void end_words() = 0;
  // All bytes of the write or the data that began last have come, and this is their end.
  virtual bool take_end(const FrameHead& head) = 0;
  // Where they go no byte can be written; the rest of them goes nowhere.
  virtual void cannot_place() = 0;
  virtual bool take_done(const FrameHead& head) = 0;
  // Words as long as `bytes`, if it has some: where they go.
  virtual bool begin_bye(const FrameHead& head, std::byte*& to) = 0;

 protected:
  ~Port() = default;
};

class Inlet {
 public:
  enum class Got : std::uint8_t {
    some,     // bytes, and there may be more
    last,     // bytes, and there were no more
    nothing,  // now
    closed,   // the peer has
    broken,   // errno says why
    garbage,
  };
  static constexpr std::size_t kBufferBytes = 32 << 10;
  using Buffer = std::array<std::byte, kBufferBytes>;
  // May throw std::bad_alloc.
  Inlet() : rest_(kMostRest) {}
  Got receive(int socket, Port& port, Buffer& buffer);

  // Bytes of a payload are still to come: into our memory, or nowhere any more.
  bool is_placing() const noexcept { return stage_ == Stage::payload && to_ != nullptr; }
  void place_nothing() noexcept { to_ = nullptr; }

 private:
  enum class Stage : std::uint8_t { head, bulk, lines, payload };

  static constexpr std::size_t kLargeBytes = 16 << 10;
  static constexpr std::size_t kBriefBytes = 256;
  static constexpr std::size_t kMostRest = (wire::kMaxLines + 1) * network::kLineBytes;

  bool parse(Port& port, const std::byte* bytes);
  bool take_frame(Port& port, std::span<const std::byte> bytes, std::size_t& used);
  bool start(Port& port, const std::byte* body);
  void begin_payload(std::byte* to, std::uint64_t size_bytes, Port& port);
  bool take_lines(Port& port, std::span<const std::byte> bytes, std::size_t& used);
  void take_payload(Port& port, std::span<const std::byte> bytes, std::size_t& used);
  void arrived(std::uint64_t bytes, Port& port);

  Stage stage_ = Stage::head;
  FrameHead head_;
  std::uint32_t lines_left_ = 0;
  std::uint64_t left_ = 0;   // of bulk or payload
  std::byte* to_ = nullptr;  // where they go; null: nowhere
  bool is_large_ = false;    // the last payload was
  bool awaits_end_ = false;  // of a payload that has come
  std::size_t filled_ = 0;   // bytes in the rest, or now in the buffer
  base::ZeroArray<std::byte> rest_;
};

}  // namespace photon::transport::tcp
