// All streams of one lane: its ports, its ends, and those that are closing.
//
// Invariant: an end is in ends_ from its making until it is over; what is closing is looked after
// by every call. Owner: the caller of ph_streams_open().
#pragma once

#include <photon/stream.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "stream/stream_end.hpp"

struct ph_stream {
  ph_stream(ph_streams& its_streams, const photon::stream::Place& place, ph_rank peer)
      : streams(its_streams), end(place, peer) {}
  ph_streams& streams;
  photon::stream::End end;
};

struct ph_listener {
  explicit ph_listener(ph_streams& its_streams) : streams(its_streams) {}
  ph_streams& streams;
  ph_mailbox box{};
  std::unique_ptr<std::byte[]> memory;  // for those who ask
};

struct ph_streams {
  using Clock = std::chrono::steady_clock;

  ph_streams(ph_context* context, const ph_streams_args& args, std::uint64_t carried_max);

  // ---- under the mutex
  ph_status listen(std::uint32_t port, ph_listener*& listener);
  ph_status unlisten(ph_listener& listener);
  ph_status connect(ph_rank rank, std::uint32_t port, ph_stream*& stream);
  ph_status close(ph_stream& stream);
  // Ends that are closing go on; those that are over are freed.
  void turn();
  // The words of an error of our own, or those of the context's latest.
  ph_status wrong(ph_status status, ph_rank rank, const char* words) noexcept;
  ph_status told(ph_status status) noexcept;
  const ph_error& error() const noexcept { return error_; }

  // ---- they take the mutex, and give it up while they sleep
  // PH_TIMEOUT: something is under way.
  ph_status close_within(std::int64_t timeout_us) noexcept;
  ph_status accept(ph_listener& listener, ph_stream*& stream, std::int64_t timeout_us);
  ph_status wait(ph_stream& stream, std::uint32_t wanted, std::uint32_t& ready,
                 std::int64_t timeout_us);

  std::mutex mutex;

 private:
  using End = photon::stream::End;
  static constexpr std::size_t kAskBytes = 64;
  static constexpr std::int64_t kSliceUs = 10'000;  // how late a lost peer is noticed
  static constexpr std::int64_t kShortUs = 100;     // until a lane without room is tried again

  void close_all();
  std::unique_ptr<ph_stream> made(ph_rank peer, ph_status& status);
  void post(ph_listener& listener, void* buffer);
  ph_status answer(ph_listener& listener, const ph_mailbox_event& event, ph_stream*& stream);
  void refuse(ph_rank rank, const photon::stream::Message& asked);
  void lead(std::unique_lock<std::mutex>& lock, End& end, std::int64_t timeout_us);

  const photon::stream::Place place_;
  const std::uint32_t backlog_;
  std::condition_variable changed_;
  std::uint64_t next_number_ = 1;
  std::list<std::unique_ptr<ph_stream>> open_;
  std::list<std::unique_ptr<ph_stream>> closing_;
  std::list<std::unique_ptr<ph_listener>> listeners_;
  ph_error error_{};
};
