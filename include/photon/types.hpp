/**
 * Errors, ids and queries of the C++ face. Include photon.hpp.
 */
#ifndef PHOTON_TYPES_HPP
#define PHOTON_TYPES_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>

#include "photon.h"

namespace photon {

using Rank = ph_rank;
using Completion = ph_completion;

inline constexpr Rank kAnyRank = PH_ANY_RANK;

/** A failed call: status, errno and rank of ph_error; what() is its text. */
class Error : public std::runtime_error {
 public:
  explicit Error(const ph_error &error)
      : std::runtime_error(error.text[0] != '\0' ? error.text : ph_status_text(error.status)),
        status_(error.status),
        native_errno_(error.native_errno),
        rank_(error.rank) {}

  [[nodiscard]] ph_status status() const noexcept { return status_; }
  [[nodiscard]] int native_errno() const noexcept { return native_errno_; }
  [[nodiscard]] Rank rank() const noexcept { return rank_; }

 private:
  ph_status status_;
  int native_errno_;
  Rank rank_;
};

/**
 * A completion id: nothing (no event on that side: PH_NO_LCE, PH_NO_RCE), 8 bytes, or any bytes up
 * to the setting max_cid_size. Bytes are referred to, not copied: they must live until the call
 * that takes the id returned.
 */
class Id {
 public:
  constexpr Id() noexcept = default;
  template <std::integral T>
  constexpr Id(T value) noexcept  // NOLINT: an id is a number wherever it can be one
      : value_(static_cast<std::uint64_t>(value)), kind_(Kind::number) {}
  constexpr Id(std::span<const std::byte> bytes) noexcept  // NOLINT
      : bytes_(bytes), kind_(Kind::bytes) {}

  [[nodiscard]] constexpr bool is_none() const noexcept { return kind_ == Kind::none; }
  [[nodiscard]] constexpr bool is_number() const noexcept { return kind_ == Kind::number; }
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return value_; }

  /** The C form; points into this Id. */
  [[nodiscard]] ph_id c_id() const noexcept {
    if (is_none()) return {nullptr, 0};
    if (is_number()) return {&value_, sizeof value_};
    // Capped, not cut to 32 bits: an over-long id must stay one, so that the call refuses it.
    return {bytes_.data(), static_cast<std::uint32_t>(std::min(bytes_.size(), kMaxIdBytes))};
  }

 private:
  static constexpr std::size_t kMaxIdBytes = UINT32_MAX;
  enum class Kind : std::uint8_t { none, number, bytes };
  std::span<const std::byte> bytes_;
  std::uint64_t value_ = 0;
  Kind kind_ = Kind::none;
};

/** The two ends' ids of one operation: {.local = 1, .remote = 2}; leave out what nobody probes. */
struct Ids {
  Id local = {};
  Id remote = {};
  ph_request *request = nullptr; /**< Takes the local completion; see request.h. */
};

template <class T>
concept Word = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
               std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> ||
               std::same_as<T, float> || std::same_as<T, double>;

/** What ph_atomic() does: {.target = place, .op = PH_OP_ADD, .operand = 1, .fetched = &before}. */
template <Word T>
struct Change {
  ph_target target = {};
  ph_op op = PH_OP_ADD;
  T operand = {};
  T compare = {};
  T *fetched = nullptr;
};

/** Blocks of ph_put_strided(). */
struct PutBlocks {
  const void *source = nullptr;
  ph_target target = {};
  std::size_t block_bytes = 0;
  std::span<const ph_dimension> dimensions = {};
};

/** Blocks of ph_get_strided(). */
struct GetBlocks {
  void *destination = nullptr;
  ph_target source = {};
  std::size_t block_bytes = 0;
  std::span<const ph_dimension> dimensions = {};
};

/** Which announcement to take: {.kind = PH_RECV_BUFFER, .rank = 1, .tag = 7}. */
struct Match {
  ph_buffer_kind kind = PH_RECV_BUFFER;
  Rank rank = kAnyRank;
  std::uint64_t tag = PH_ANY_TAG;
  std::uint64_t size_bytes = PH_ANY_SIZE;

  [[nodiscard]] ph_match c_match() const noexcept { return {kind, rank, tag, size_bytes}; }
};

/** What a buffer is announced as, and who hears that it is back: {.tag = 7, .request = &request}.
 */
struct Announced {
  std::uint64_t tag = 0;
  Id local = {};
  ph_request *request = nullptr;
};

/** Which completions to look for. */
struct Query {
  Rank peer = kAnyRank;
  std::uint32_t kinds = PH_EITHER;     /**< PH_LOCAL, PH_REMOTE or PH_EITHER; PH_VISIT. */
  std::span<std::byte> id_buffer = {}; /**< Room for long ids, see ph_query. */
};

inline constexpr Query kLocal = {kAnyRank, PH_LOCAL, {}};
inline constexpr Query kRemote = {kAnyRank, PH_REMOTE, {}};

[[nodiscard]] inline bool is_local(const Completion &c) noexcept { return c.kind == PH_LOCAL; }
[[nodiscard]] inline bool is_remote(const Completion &c) noexcept { return c.kind == PH_REMOTE; }

/** All bytes of a completion's id; valid as long as the completion and its long_id. */
[[nodiscard]] inline std::span<const std::byte> id_bytes(const Completion &c) noexcept {
  const void *data = c.long_id != nullptr ? c.long_id : &c.id;
  return {static_cast<const std::byte *>(data), c.id_size_bytes};
}

namespace detail {

/** Throws for an error; hands back whether the call did what it was asked for. */
inline bool check(const ph_context *context, ph_status status) {
  if (status == PH_OK) [[likely]]
    return true;
  if (status > 0) return false;
  ph_error error = {};
  ph_last_error(context, &error);
  if (error.status != status)  // another thread's error came in between: ours has no words
    error = {status, 0, kAnyRank, {}};
  throw Error(error);
}

}  // namespace detail

}  // namespace photon

#endif
