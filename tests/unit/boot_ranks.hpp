// Boots whose ranks are threads of the test: callbacks over a MeetingPoint.
#pragma once

#include <gtest/gtest.h>

#include <poll.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "boot/boot.hpp"
#include "boot/callback_boot.hpp"
#include "boot/endpoint_info.hpp"
#include "support/meeting_point.hpp"

namespace photon::test {

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One rank's bootstrap over a shared meeting point.
struct Seat {
  MeetingPoint* meeting = nullptr;
  ph_rank rank = 0;
  std::function<int()> instead = {};  // of the barrier
  std::function<void(std::span<boot::EndpointInfo>)> alter =
      {};  // the endpoint infos that it gets to see

  std::uint32_t size = 0;

  static int allgather(void* user, const void* mine, void* all, std::size_t size_bytes) {
    const Seat& seat = *static_cast<Seat*>(user);
    if (!seat.meeting->gather(seat.rank, mine, all, size_bytes)) return 7;
    if (seat.alter && size_bytes == sizeof(boot::EndpointInfo))
      seat.alter({static_cast<boot::EndpointInfo*>(all), seat.size});
    return 0;
  }
  static int barrier(void* user) {
    const Seat& seat = *static_cast<Seat*>(user);
    if (seat.instead) return seat.instead();
    return seat.meeting->meet() ? 0 : 7;
  }
  ph_bootstrap bootstrap(std::uint32_t ranks_count) {
    size = ranks_count;
    return {this, rank, size, &Seat::allgather, &Seat::barrier};
  }
};

// The boots of a job, all in the calling thread's hands; only their creation needs threads.
class CallbackRanks {
 public:
  explicit CallbackRanks(std::uint32_t size) : CallbackRanks(size, {}) {}
  // `alter`: rank and the endpoint infos that it sees, its own included.
  CallbackRanks(std::uint32_t size,
                const std::function<void(ph_rank, std::span<boot::EndpointInfo>)>& alter)
      : meeting_(size), seats_(size), boots_(size) {
    for (ph_rank rank = 0; rank < size; ++rank) {
      seats_[rank].meeting = &meeting_;
      seats_[rank].rank = rank;
      if (alter)
        seats_[rank].alter = [alter, rank](auto endpoint_infos) { alter(rank, endpoint_infos); };
    }
    on_all([this, size](ph_rank rank) {
      base::Config config;
      config.tcp_interface = base::word("127.0.0.1");
      auto opened = boot::open(std::array{seats_[rank].bootstrap(size)}.data(), config);
      if (opened) boots_[rank] = std::move(*opened);
      if (!opened) ADD_FAILURE() << opened.error().what;
    });
  }

  boot::CallbackBoot& operator[](ph_rank rank) {
    return static_cast<boot::CallbackBoot&>(*boots_[rank]);
  }
  void set_barrier(ph_rank rank, std::function<int()> barrier) {
    seats_[rank].instead = std::move(barrier);
  }
  void drop(ph_rank rank) { boots_[rank].reset(); }
  void break_up() { meeting_.break_up(); }

  // Runs the body once per rank, in threads.
  void on_all(const std::function<void(ph_rank)>& body) {
    std::vector<std::thread> threads;
    for (ph_rank rank = 0; rank < boots_.size(); ++rank) threads.emplace_back(body, rank);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  MeetingPoint meeting_;
  std::vector<Seat> seats_;
  std::vector<std::unique_ptr<boot::Boot>> boots_;
};

// The next message within 10 s, sleeping on poll_fd() meanwhile; nothing after that.
inline std::optional<boot::Message> await_message(boot::Boot& boot) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    auto message = boot.receive();
    if (!message) return std::nullopt;
    if (*message) return std::move(*message);
    pollfd entry{.fd = boot.poll_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&entry, 1, 1000);
  }
  return std::nullopt;
}

inline bool is_readable(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace photon::test
