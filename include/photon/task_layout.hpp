/**
 * How arguments lie in a message; both sides reckon it alike. Include <photon/task.hpp>.
 *
 *   Head 8 | values, rounded up to 8 | a Part for each zero-copy argument | their payloads
 *
 * A payload is the bytes themselves at a multiple of 64, or an Offered. What a message says was
 * perhaps made up by a peer: read_parts() compares all of it with the size of the message.
 */
#ifndef PHOTON_TASK_LAYOUT_HPP
#define PHOTON_TASK_LAYOUT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "task.h"

namespace photon::tasks::detail {

struct Head {
  std::uint32_t hash;
  std::uint16_t parts;
  std::uint16_t words; /**< Of 8 bytes: those of the values. */
};

enum class Way : std::uint32_t { packed = 0, offered = 1 };

struct Part {
  std::uint64_t size_bytes;
  Way way;
  std::uint32_t sample; /**< Of the first part, if its sender wants to know the time; else 0. */
};

struct Offered {
  ph_task_descriptor source;
  std::uint64_t offer; /**< Of the sender's table. */
};

inline constexpr std::uint64_t kPayloadAlignment = 64;

/** Where each payload begins. */
class Cursor {
 public:
  explicit Cursor(const Head &head) noexcept
      : next_(sizeof(Head) + std::uint64_t{8} * head.words + sizeof(Part) * head.parts) {}
  std::uint64_t place(Way way, std::uint64_t size_bytes) noexcept {
    const bool is_packed = way == Way::packed && size_bytes != 0;
    if (is_packed) next_ = (next_ + kPayloadAlignment - 1) / kPayloadAlignment * kPayloadAlignment;
    const std::uint64_t at = next_;
    next_ += way == Way::packed ? size_bytes : sizeof(Offered);
    return at;
  }
  [[nodiscard]] std::uint64_t end() const noexcept { return next_; }

 private:
  std::uint64_t next_;
};

/** A bool is true if its byte is not 0: a peer may have made up another one than 1. */
template <class T>
T read(const std::byte *body, std::uint64_t at) noexcept {
  if constexpr (std::is_same_v<T, bool>) return body[at] != std::byte{0};
  T value;
  std::memcpy(&value, body + at, sizeof value);
  return value;
}

inline Part part_of(const std::byte *body, const Head &head, std::uint32_t index) noexcept {
  return read<Part>(body, sizeof(Head) + std::uint64_t{8} * head.words + sizeof(Part) * index);
}

/** False: no sender has made such a message. `visit` gets (index, part, where its payload lies). */
template <class Visit>
bool read_parts(const std::byte *body, std::uint64_t size_bytes, const Head &head, Visit visit) {
  Cursor cursor(head);
  if (cursor.end() > size_bytes) return false;
  for (std::uint32_t i = 0; i < head.parts; ++i) {
    const Part part = part_of(body, head, i);
    if (part.way != Way::packed && part.way != Way::offered) return false;
    if (part.way == Way::packed && part.size_bytes > size_bytes) return false;
    const std::uint64_t at = cursor.place(part.way, part.size_bytes);
    if (cursor.end() > size_bytes) return false;
    visit(i, part, at);
  }
  return cursor.end() == size_bytes;
}

}  // namespace photon::tasks::detail

#endif
