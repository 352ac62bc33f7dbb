#include "frame.hpp"

#include <cstring>

namespace photonrun {
namespace {

void append_to(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

Frame with_body(FrameHead head, Bytes body) {
  head.bytes = static_cast<std::uint32_t>(body.size());
  return {.head = head, .packet = {}, .body = std::make_shared<const Bytes>(std::move(body))};
}

std::string_view cut(std::string_view words) { return words.substr(0, kMaxFrameWords); }

struct Lengths {
  std::size_t least;
  std::size_t most;
};

// Of a body; nothing: there is no such kind.
std::optional<Lengths> lengths_of(FrameKind kind) {
  constexpr std::size_t kPacketHead = sizeof(ph_launch_header);
  switch (kind) {
    case FrameKind::start: return Lengths{sizeof(Start), sizeof(Start)};
    case FrameKind::packet: return Lengths{kPacketHead, kPacketHead + PH_LAUNCH_MAX_GATHER};
    case FrameKind::ended: return Lengths{sizeof(EndBody), sizeof(EndBody) + kMaxFrameWords};
    case FrameKind::end:
    case FrameKind::failed: return Lengths{0, kMaxFrameWords};
    case FrameKind::finish:
    case FrameKind::taken:
    case FrameKind::closed:
    case FrameKind::signal:
    case FrameKind::kill:
    case FrameKind::over: return Lengths{0, 0};
  }
  return std::nullopt;
}

bool is_whole(const ph_launch_header& header, std::size_t body_bytes) {
  return header.magic == PH_LAUNCH_MAGIC && header.body_bytes == body_bytes;
}

}  // namespace

Frame packet_frame(Place place, Packet packet) {
  const std::size_t bytes = sizeof packet.header + packet.body->size();
  const FrameHead head{.kind = FrameKind::packet,
                       .rank = place.rank,
                       .value = 0,
                       .bytes = static_cast<std::uint32_t>(bytes),
                       .generation = place.generation};
  return {.head = head, .packet = packet.header, .body = std::move(packet.body)};
}

Frame plain_frame(FrameKind kind, Place place, int value) {
  return {
      .head = {.kind = kind, .rank = place.rank, .value = value, .generation = place.generation},
      .packet = {},
      .body = nullptr};
}

Frame words_frame(FrameKind kind, int value, std::string_view words) {
  Bytes body;
  append_to(body, std::as_bytes(std::span(cut(words))));
  return with_body({.kind = kind, .value = value}, std::move(body));
}

Frame start_frame(const Start& start) {
  Bytes body;
  append_to(body, bytes_of(start));
  return with_body({.kind = FrameKind::start}, std::move(body));
}

Frame ended_frame(unsigned rank, const EndBody& end, std::string_view words) {
  Bytes body;
  append_to(body, bytes_of(end));
  append_to(body, std::as_bytes(std::span(cut(words))));
  return with_body({.kind = FrameKind::ended, .rank = rank}, std::move(body));
}

std::optional<Start> start_of(const Frame& frame) {
  Start start;
  if (frame.head.kind != FrameKind::start) return std::nullopt;
  std::memcpy(&start, frame.body->data(), sizeof start);
  const bool fits =
      start.here > 0 && start.first < start.size && start.here <= start.size - start.first;
  return fits ? std::optional(start) : std::nullopt;
}

std::optional<EndBody> end_of(const Frame& frame) {
  EndBody end;
  std::memcpy(&end, frame.body->data(), sizeof end);
  const bool fits = end.by_signal == 0 ? end.value >= 0 && end.value <= 255
                                       : end.by_signal == 1 && end.value > 0 && end.value <= 64;
  return fits ? std::optional(end) : std::nullopt;
}

Packet packet_of(Frame frame) {
  Packet packet;
  packet.header = *frame.packet;
  packet.body = std::move(frame.body);
  return packet;
}

std::string words_of(const Frame& frame) {
  if (!frame.body) return {};
  const std::size_t before = frame.head.kind == FrameKind::ended ? sizeof(EndBody) : 0;
  std::string words;
  for (const std::byte byte : std::span(*frame.body).subspan(before)) {
    const char one = std::to_integer<char>(byte);
    words += one < ' ' || one > '~' ? '?' : one;
  }
  return words;
}

void append(const Frame& frame, Bytes& stream) {
  append_to(stream, bytes_of(frame.head));
  if (frame.packet) append_to(stream, bytes_of(*frame.packet));
  if (frame.body) append_to(stream, *frame.body);
}

void FrameReader::add(std::span<const std::byte> bytes) { append_to(stream_, bytes); }

std::optional<Frame> FrameReader::next() {
  const std::span<const std::byte> rest = std::span(stream_).subspan(used_bytes_);
  Frame frame;
  if (broken_ || rest.size() < sizeof frame.head) return std::nullopt;
  std::memcpy(&frame.head, rest.data(), sizeof frame.head);
  const auto lengths = lengths_of(frame.head.kind);
  const std::size_t bytes = frame.head.bytes;
  broken_ = !lengths || bytes < lengths->least || bytes > lengths->most;
  if (broken_ || rest.size() - sizeof frame.head < bytes) return std::nullopt;
  std::span<const std::byte> body = rest.subspan(sizeof frame.head, bytes);
  if (frame.head.kind == FrameKind::packet) {
    frame.packet.emplace();
    std::memcpy(&*frame.packet, body.data(), sizeof *frame.packet);
    body = body.subspan(sizeof *frame.packet);
    broken_ = !is_whole(*frame.packet, body.size());
    if (broken_) return std::nullopt;
  }
  frame.body = std::make_shared<const Bytes>(body.begin(), body.end());
  used_bytes_ += sizeof frame.head + bytes;
  // Now and then, not for each frame.
  if (used_bytes_ >= stream_.size() / 2) {
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(used_bytes_));
    used_bytes_ = 0;
  }
  return frame;
}

}  // namespace photonrun
