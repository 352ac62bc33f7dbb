#include "service/am/carrying.hpp"

#include <cstring>

namespace photon::service::am {

namespace {

// Bytes of a header of a message: the word, and those behind it.
struct HeaderWords {
  explicit HeaderWords(const Head& head) noexcept : count(head.words_count + std::size_t{1}) {
    words[0] = encode(head.word);
    for (std::size_t i = 1; i < count; ++i) words[i] = head.words[i - 1];
  }
  std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(words).first(count));
  }
  std::array<std::uint64_t, Head::kMostWords + 1> words{};
  std::size_t count;
};

std::byte* append_bytes(std::byte* to, const void* from, std::uint64_t size_bytes) noexcept {
  if (size_bytes != 0) std::memcpy(to, from, size_bytes);
  return to + size_bytes;
}

// No byte of the gap between payload and header is one of ours that nobody meant to send.
std::byte* clear_gap(const Draft& draft, std::byte* end_of_payload) noexcept {
  const std::uint64_t gap = round_up(draft.payload_bytes) - draft.payload_bytes;
  std::memset(end_of_payload, 0, gap);
  return end_of_payload + gap;
}

ph_status commit_room(Port& port, Rank to, const Head& head, std::uint64_t size_bytes) {
  const HeaderWords header(head);
  Saying what;
  what.to = to;
  what.header = header.bytes();
  return port.commit(what, size_bytes);
}

// Room for so many bytes, given back again unless they have become a message.
class Room {
 public:
  Room(Port& port, Rank to, std::uint64_t size_bytes) : port_(port), to_(to) {
    if (size_bytes <= most_room(port)) status_ = port.reserve(to, size_bytes, bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
    if (is_there_) port_.cancel_room(to_);
  }
  // PH_AGAIN: there is none now, or so much cannot be reserved.
  ph_status status() noexcept {
    is_there_ = status_ == PH_OK;
    return status_;
  }
  std::byte* data() const noexcept { return bytes_.data(); }
  ph_status commit(const Head& head, std::uint64_t size_bytes) {
    const ph_status status = commit_room(port_, to_, head, size_bytes);
    is_there_ = status == PH_AGAIN;
    return status;
  }

 private:
  Port& port_;
  Rank to_;
  std::span<std::byte> bytes_;
  ph_status status_ = PH_AGAIN;
  bool is_there_ = false;
};

// Block by block, by the stores that puts to that rank have learnt.
ph_status fill_room(Port& port, Rank to, const Draft& draft) {
  Room room(port, to, draft.bytes());
  if (room.status() != PH_OK) return room.status();
  std::byte* at = room.data();
  for (const ph_const_block& block : draft.payload) {
    port.fill(to, at, {static_cast<const std::byte*>(block.data), block.size_bytes});
    at += block.size_bytes;
  }
  if (!draft.header.empty()) port.fill(to, clear_gap(draft, at), draft.header);
  return room.commit(draft.head, draft.bytes());
}

}  // namespace

void choose_way(Draft& draft, std::uint64_t record_max) noexcept {
  Head& head = draft.head;
  head.words_count = 0;
  if (draft.line_bytes() <= PH_AM_SMALL_BYTES) {
    head.way = Way::line;
    head.word.op = Op::line;
    return;
  }
  head.way = draft.bytes() <= record_max ? Way::record : Way::body;
  head.word.op = head.way == Way::record ? Op::record : Op::body;
  head.add(draft.payload_bytes);
  if (head.word.has(kHasImmediate)) head.add(draft.immediate);
}

void choose_pull(Draft& draft, const PullWords& words, std::uint64_t record_max) noexcept {
  Head& head = draft.head;
  head.words_count = 0;
  head.way = draft.bytes() <= record_max ? Way::record : Way::body;
  head.word.op = Op::pull;
  head.add(words.payload_bytes);
  head.add(words.token);
  head.add(words.blocks);
  if (head.word.has(kHasImmediate)) head.add(words.immediate);
}

std::uint64_t record_max(const Port& port, Rank to) noexcept {
  return port.lines_stand_apart(to) ? port.config().am_record_max : wire::kMaxPackedBytes;
}

void lay_out(const Draft& draft, std::byte* to) noexcept {
  if (draft.head.way == Way::line) {
    if (draft.head.word.has(kHasImmediate))
      to = append_bytes(to, &draft.immediate, sizeof draft.immediate);
    to = append_bytes(to, draft.header.data(), draft.header.size());
    for (const ph_const_block& block : draft.payload)
      to = append_bytes(to, block.data, block.size_bytes);
    return;
  }
  for (const ph_const_block& block : draft.payload)
    to = append_bytes(to, block.data, block.size_bytes);
  if (draft.header.empty()) return;
  append_bytes(clear_gap(draft, to), draft.header.data(), draft.header.size());
}

ph_status say_packed(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes) {
  if (head.way == Way::line)
    return port.say_line(to, encode(head.word), {bytes.data(), bytes.size()});
  const HeaderWords header(head);
  Saying what;
  what.to = to;
  what.header = header.bytes();
  what.payload = bytes;
  return port.say(what);
}

ph_status say_draft(Port& port, Rank to, const Draft& draft) {
  if (draft.head.way == Way::body) return fill_room(port, to, draft);
  std::array<std::byte, wire::kMaxPackedBytes> bytes;
  lay_out(draft, bytes.data());
  const std::uint64_t size = draft.head.way == Way::line ? draft.line_bytes() : draft.bytes();
  return say_packed(port, to, draft.head, std::span(bytes).first(size));
}

ph_status say_chunk(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes) {
  Room room(port, to, bytes.size());
  if (room.status() != PH_OK) return room.status();
  port.fill(to, room.data(), bytes);
  return room.commit(head, bytes.size());
}

std::uint64_t most_room(const Port& port) noexcept { return port.config().bulk_bytes / 4; }

ph_status say_room(Port& port, Rank to, const Draft& draft, std::byte* room) {
  if (!draft.header.empty())
    port.fill(to, clear_gap(draft, room + draft.payload_bytes), draft.header);
  return commit_room(port, to, draft.head, draft.bytes());
}

ph_status say_lent(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes,
                   std::uint64_t token) {
  const HeaderWords header(head);
  Saying what;
  what.to = to;
  what.header = header.bytes();
  return port.say_body(what, bytes, token);
}

}  // namespace photon::service::am
