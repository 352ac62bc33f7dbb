/**
 * What moves bytes: puts, gets, atomics, vectored forms, rendezvous, and their order. Include
 * photon.hpp.
 */
#ifndef PHOTON_TRANSFERS_HPP
#define PHOTON_TRANSFERS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "arguments.hpp"
#include "memory.hpp"
#include "types.hpp"

namespace photon {

/** The operations of a Lane, by each of which a caller posts. */
class Transfers {
 public:
  /** For calls of the C interface on the same lane. */
  [[nodiscard]] ph_context *c_context() const noexcept { return handle_.get(); }

  /**
   * ph_put(): write `source` at `target` of `rank`. False: nothing was sent, probe and call again.
   * The source must stay unchanged until its local id is probed; with 8-byte ids and no flags this
   * is the fast path ph_put_u64().
   */
  template <PlainRange R>
  [[nodiscard]] bool put(Rank rank, R &&source, Target target, const Ids &ids,
                         std::uint32_t flags = 0) {
    const auto bytes = std::as_bytes(std::span(source));
    if (flags == 0 && detail::are_numbers(ids))
      return check(ph_put_u64(c_context(), rank, {bytes.data(), bytes.size()}, target,
                              {ids.local.number(), ids.remote.number()}));
    const ph_put_args args = detail::put_args(bytes, target, ids, flags);
    return check(ph_put(c_context(), rank, &args));
  }

  /** A notification: a put of nothing. False: nothing was sent, probe and call again. */
  [[nodiscard]] bool notify(Rank rank, const Id &remote) {
    if (remote.is_number()) return check(ph_notify(c_context(), rank, remote.number()));
    return put(rank, std::span<const std::byte>(), Target{}, {.remote = remote});
  }

  /** ph_get(): read `source` of `rank` into `destination`. False: nothing was started. */
  template <PlainRange R>
  [[nodiscard]] bool get(Rank rank, R &&destination, Target source, const Ids &ids,
                         std::uint32_t flags = 0) {
    const auto bytes = std::as_writable_bytes(std::span(destination));
    if (flags == 0 && detail::are_numbers(ids))
      return check(ph_get_u64(c_context(), rank, {bytes.data(), bytes.size()}, source,
                              {ids.local.number(), ids.remote.number()}));
    const ph_get_args args = detail::get_args(bytes, source, ids, flags);
    return check(ph_get(c_context(), rank, &args));
  }

  /** ph_put_vector(). False: nothing was sent, probe and call again. */
  [[nodiscard]] bool put_vector(Rank rank, std::span<const ph_put_segment> segments, const Ids &ids,
                                std::uint32_t flags = 0) {
    auto args = detail::vectored<ph_put_vector_args>(ids, flags);
    args.segments = segments.data();
    args.segments_count = segments.size();
    return check(ph_put_vector(c_context(), rank, &args));
  }

  /** ph_get_vector(). False: nothing was started. */
  [[nodiscard]] bool get_vector(Rank rank, std::span<const ph_get_segment> segments, const Ids &ids,
                                std::uint32_t flags = 0) {
    auto args = detail::vectored<ph_get_vector_args>(ids, flags);
    args.segments = segments.data();
    args.segments_count = segments.size();
    return check(ph_get_vector(c_context(), rank, &args));
  }

  /** ph_put_strided(). False: nothing was sent, probe and call again. */
  [[nodiscard]] bool put_strided(Rank rank, const PutBlocks &blocks, const Ids &ids,
                                 std::uint32_t flags = 0) {
    auto args = detail::vectored<ph_put_strided_args>(ids, flags);
    args.source = blocks.source;
    args.target = blocks.target;
    detail::set_blocks(args, blocks.block_bytes, blocks.dimensions);
    return check(ph_put_strided(c_context(), rank, &args));
  }

  /** ph_get_strided(). False: nothing was started. */
  [[nodiscard]] bool get_strided(Rank rank, const GetBlocks &blocks, const Ids &ids,
                                 std::uint32_t flags = 0) {
    auto args = detail::vectored<ph_get_strided_args>(ids, flags);
    args.destination = blocks.destination;
    args.source = blocks.source;
    detail::set_blocks(args, blocks.block_bytes, blocks.dimensions);
    return check(ph_get_strided(c_context(), rank, &args));
  }

  /** ph_atomic(): change a word of `rank`. False: nothing was started, probe and call again. */
  template <Word T>
  [[nodiscard]] bool atomic(Rank rank, const Change<T> &change, const Ids &ids) {
    ph_atomic_args args = {};
    args.size = sizeof args;
    args.target = change.target;
    args.op = change.op;
    args.type = detail::type_of<T>();
    std::memcpy(&args.operand, &change.operand, sizeof change.operand);
    std::memcpy(&args.compare, &change.compare, sizeof change.compare);
    args.fetched = change.fetched;
    args.local = ids.local.c_id();
    args.remote = ids.remote.c_id();
    args.flags = detail::flags_of(ids, 0);
    args.request = ids.request;
    return check(ph_atomic(c_context(), rank, &args));
  }

  /** ph_announce(): lend `buffer` to `rank` to put into. False: nothing was started. */
  template <PlainRange R>
  [[nodiscard]] bool announce_recv(Rank rank, R &&buffer, const Announced &as) {
    const auto bytes = std::as_writable_bytes(std::span(buffer));
    return announce(rank, PH_RECV_BUFFER, {bytes.data(), bytes.size()}, as);
  }

  /** ph_announce(): lend `buffer` to `rank` to get from. False: nothing was started. */
  template <PlainRange R>
  [[nodiscard]] bool announce_send(Rank rank, R &&buffer, const Announced &as) {
    const auto bytes = std::as_bytes(std::span(buffer));
    return announce(rank, PH_SEND_BUFFER, {const_cast<std::byte *>(bytes.data()), bytes.size()},
                    as);  // only read
  }

  /** ph_announce(): "I want to send so much". False: nothing was started. */
  [[nodiscard]] bool announce_request(Rank rank, std::size_t size_bytes, const Announced &as) {
    return announce(rank, PH_SEND_REQUEST, {nullptr, size_bytes}, as);
  }

  /** ph_test_buffer(): the oldest announcement that matches, taken, or none yet. */
  [[nodiscard]] std::optional<ph_buffer> test_buffer(const Match &match) {
    const ph_match wanted = match.c_match();
    ph_buffer buffer = {};
    if (!check(ph_test_buffer(c_context(), &wanted, &buffer))) return std::nullopt;
    return buffer;
  }

  /** ph_wait_buffer(); none: the time ran out. */
  template <class Rep, class Period>
  [[nodiscard]] std::optional<ph_buffer> wait_buffer_for(std::chrono::duration<Rep, Period> timeout,
                                                         const Match &match) {
    const ph_match wanted = match.c_match();
    ph_buffer buffer = {};
    if (!check(ph_wait_buffer(c_context(), &wanted, &buffer, detail::microseconds(timeout))))
      return std::nullopt;
    return buffer;
  }

  /** ph_wait_buffer() without a limit. */
  [[nodiscard]] ph_buffer wait_buffer(const Match &match) {
    const ph_match wanted = match.c_match();
    ph_buffer buffer = {};
    check(ph_wait_buffer(c_context(), &wanted, &buffer, PH_FOREVER));
    return buffer;
  }

  /** ph_put_buffer(): write `source` from byte `offset` of the buffer on. False: try again. */
  template <PlainRange R>
  [[nodiscard]] bool put(const ph_buffer &buffer, std::uint64_t offset, R &&source, const Ids &ids,
                         std::uint32_t flags = 0) {
    const auto bytes = std::as_bytes(std::span(source));
    const ph_put_args args = detail::put_args(bytes, {}, ids, flags);
    return check(ph_put_buffer(c_context(), &buffer, offset, &args));
  }

  /** ph_get_buffer(): read from byte `offset` of the buffer on. False: try again. */
  template <PlainRange R>
  [[nodiscard]] bool get(const ph_buffer &buffer, std::uint64_t offset, R &&destination,
                         const Ids &ids, std::uint32_t flags = 0) {
    const auto bytes = std::as_writable_bytes(std::span(destination));
    const ph_get_args args = detail::get_args(bytes, {}, ids, flags);
    return check(ph_get_buffer(c_context(), &buffer, offset, &args));
  }

  /** ph_finish(): this side is done with the buffer. False: nothing was done, try again. */
  [[nodiscard]] bool finish(const ph_buffer &buffer) {
    return check(ph_finish(c_context(), &buffer));
  }

  /** ph_fence(): what was put to `rank` before is written before what follows; false: try again. */
  [[nodiscard]] bool fence(Rank rank) { return check(ph_fence(c_context(), rank)); }

  /** ph_flush(): true when all puts to `rank` landed; false: not in this time, call again. */
  template <class Rep, class Period>
  [[nodiscard]] bool flush(Rank rank, std::chrono::duration<Rep, Period> timeout) {
    return check(ph_flush(c_context(), rank, detail::microseconds(timeout)));
  }

 protected:
  Transfers(detail::Handle handle, detail::Handle context) noexcept
      : handle_(std::move(handle)), context_(std::move(context)) {}
  Transfers(Transfers &&) noexcept = default;
  ~Transfers() = default;
  bool check(ph_status status) const { return detail::check(c_context(), status); }
  void swap(Transfers &other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(context_, other.context_);
  }

  detail::Handle handle_;
  detail::Handle context_;  // whose lane it is: itself, or another

 private:
  bool announce(Rank rank, ph_buffer_kind kind, ph_block buffer, const Announced &as) {
    const bool silent = as.local.is_none() && as.request == nullptr;
    const ph_announce_args args = {sizeof args,
                                   kind,
                                   as.tag,
                                   buffer.data,
                                   buffer.size_bytes,
                                   as.local.c_id(),
                                   silent ? std::uint32_t{PH_NO_LCE} : 0,
                                   as.request};
    return check(ph_announce(c_context(), rank, &args));
  }
};

}  // namespace photon

#endif
