// What two photonruns of one job say to each other over a connection: a stream of frames, each one
// head and head.bytes of body. Numbers are native: a hello (host_handshake.hpp) of another order is
// refused. Invariant: a frame that was read has a known kind and a body of the length its kind
// allows. Owner: HostConnection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "packet.hpp"

namespace photonrun {

// Who says it, in brackets.
enum class FrameKind : std::uint32_t {
  start = 1,  // [root] the job begins: a Start
  packet,     // [both] of or for `rank`: ph_launch_header and body
  finish,     // [root] close the channel of `rank`
  taken,      // [both] `value` packets of `rank` went their way: room for as many
  closed,     // [leaf] the channel of `rank` is closed
  ended,      // [leaf] the process of `rank` was reaped: an EndBody, then words
  signal,     // [root] to pass on to the ranks; [leaf] it was told to end by signal `value`
  end,        // [root] end the ranks by signal `value`; words say why
  kill,       // [root] at once
  failed,     // [leaf] words: it cannot go on
  over,       // [root] the job's status is `value`
};

struct FrameHead {
  FrameKind kind{};
  std::uint32_t rank = 0;
  std::int32_t value = 0;
  std::uint32_t bytes = 0;       // of the body
  std::uint32_t generation = 0;  // of packet, finish, taken, closed
};

// A rank's channel in one generation of the job (generations.hpp).
struct Place {
  unsigned generation = 0;
  unsigned rank = 0;
};

struct Frame {
  FrameHead head;
  std::optional<ph_launch_header> packet;  // of one, then `body` is that packet's
  std::shared_ptr<const Bytes> body;       // shared: a gather's result goes to many; may be null
};

// Body of start. The secret is hidden by a mask that only who knows the job's key can make.
struct Start {
  std::uint32_t size = 0;  // ranks in the job
  std::uint32_t first = 0;
  std::uint32_t here = 0;  // the leaf has ranks first .. first + here - 1
  std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES> hidden_secret{};
};

// Begins the body of ended.
struct EndBody {
  std::uint32_t by_signal = 0;
  std::int32_t value = 0;
  std::int32_t exec_errno = 0;
};

inline constexpr std::size_t kMaxFrameWords = 1024;

Frame packet_frame(Place place, Packet packet);
Frame plain_frame(FrameKind kind, Place place, int value = 0);
// Cut where they are longer than a frame allows.
Frame words_frame(FrameKind kind, int value, std::string_view words);
Frame start_frame(const Start& start);
Frame ended_frame(unsigned rank, const EndBody& end, std::string_view words);

// What was in it; nothing: the body makes no sense.
std::optional<Start> start_of(const Frame& frame);
std::optional<EndBody> end_of(const Frame& frame);
Packet packet_of(Frame frame);
// Of end, failed, ended: printable characters only, as they go to a terminal.
std::string words_of(const Frame& frame);

void append(const Frame& frame, Bytes& stream);

// Cuts the stream into frames.
class FrameReader {
 public:
  void add(std::span<const std::byte> bytes);
  // The next one, if all of it is there.
  std::optional<Frame> next();
  // A head made no sense: nothing more comes.
  bool is_broken() const { return broken_; }

 private:
  Bytes stream_;
  std::size_t used_bytes_ = 0;
  bool broken_ = false;
};

}  // namespace photonrun
