// One end of a stream: its mailbox, what has come and is not read yet, the messages that it has
// sent, and the states of docs/stream.md.
//
//   writer: connecting -- accept --> open -- shutdown --> ended; any -- loss, close --> failed
//   reader: open -- fin, close --> ending -- all was read --> end
//   end:    in use -- begin_close() --> closing -- is_over() --> destroyed
//
// Invariants: sent_ - acknowledged_ is at most the peer's buffers; a slot is written only when its
// message was read and its request is over; consumed_ counts a message when its buffer is posted
// again. Owner: Streams, under its mutex.
#pragma once

#include <photon/mailbox.h>
#include <photon/photon.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ring_queue.hpp"
#include "stream/message.hpp"

namespace photon::stream {

// What an end is told of the lane that it stands on.
struct Place {
  ph_context* context = nullptr;
  std::uint64_t carried_max = 0;  // the setting
  Sizes sizes;                    // of each end here
};

class End {
 public:
  End(const Place& place, ph_rank peer) noexcept : place_(place), peer_(peer) {}
  ~End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  // Opens the mailbox: PH_ERR_STATE, another stands under that address. Throws bad_alloc.
  ph_status open(std::uint64_t address);
  ph_status connect(std::uint32_t port);
  // `asked`: what came from the peer. Throws bad_alloc.
  void accept(const Message& asked);

  ph_status read(std::span<std::byte> to, std::size_t& count);
  ph_status write(std::span<const std::byte> from, std::size_t& count);
  ph_status shut_down();
  std::uint32_t ready() const noexcept;

  // Takes what has come, sends what is owed, looks for the end of the peer.
  void turn();
  // The same for an event that a thread which waited has taken.
  void take(const ph_mailbox_event& event);
  ph_mailbox box() const noexcept { return box_; }
  ph_rank peer() const noexcept { return peer_; }
  std::uint64_t address() const noexcept { return address_; }

  void begin_close();
  // Closing, and nothing is under way any more.
  bool is_over();
  // Sleeps until one of its requests is over, if there is any: false, there was none.
  bool wait_request(std::int64_t timeout_us);

  bool is_led = false;    // a thread waits for its events, and takes them
  bool is_short = false;  // the lane had no room for the last message: until somebody has waited

 private:
  struct Came {
    std::span<const std::byte> bytes;  // not read yet
    std::byte* buffer = nullptr;
  };
  // What has to be said as soon as it can go, in this order.
  enum Owed : std::uint32_t { kAccept = 1, kFin = 2, kClose = 4, kCredit = 8 };
  static constexpr std::size_t kControls = 8;

  void on_message(const Message& message, std::byte* buffer);
  void on_data(const Message& message, std::byte* buffer);
  void on_accepted(const Message& message);
  void on_end(const Message& message);
  void post(std::byte* buffer);
  void post_waiting();
  void meet(const Message& peer);
  bool has_room() const noexcept { return slots_count_ != 0 && sent_ - reusable() < slots_count_; }
  std::uint64_t reusable() const noexcept { return std::min(acknowledged_, over_); }
  bool send_data(std::span<const std::byte> bytes);
  void send_owed();
  bool send_owed(Owed which, Kind kind);
  ph_status send_control(std::uint64_t to, const Message& message);
  ph_status append(std::uint64_t to, std::span<const std::byte> bytes, ph_request& request);
  void reap();
  bool reap(ph_request& request);
  ph_status loss() const noexcept;
  bool take_all();
  void fail(ph_status status) noexcept;

  const Place place_;
  const ph_rank peer_;
  std::uint64_t address_ = 0;
  std::uint64_t peer_address_ = 0;  // 0: not known yet
  std::uint32_t incarnation_ = 0;   // of our mailbox
  std::uint32_t peer_incarnation_ = 0;
  ph_mailbox box_{};
  bool is_box_open_ = false;

  // Reading.
  std::unique_ptr<std::byte[]> memory_;
  base::RingQueue<Came> came_;
  std::vector<std::byte*> to_post_;  // read, and there was no memory to post them
  std::uint64_t received_ = 0;       // data messages
  std::uint64_t received_bytes_ = 0;
  std::uint64_t finished_ = 0;  // of received_: read to the end
  std::uint64_t consumed_ = 0;  // of finished_: with their buffers posted again
  std::uint64_t told_ = 0;      // of consumed_, to the peer
  bool has_ended_ = false;      // the peer's way
  ph_status read_fault_ = PH_OK;

  // Writing.
  std::unique_ptr<std::byte[]> slots_;
  std::vector<ph_request> requests_;  // of the slots
  std::size_t slot_bytes_ = 0;
  std::uint64_t slots_count_ = 0;
  std::uint64_t sent_ = 0;  // data messages
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t acknowledged_ = 0;  // of sent_: read by the peer
  std::uint64_t over_ = 0;          // of sent_: whose requests are over
  std::uint32_t owed_ = 0;
  bool is_shut_ = false;
  ph_status write_fault_ = PH_OK;
  std::array<Encoded, kControls> controls_;
  std::array<ph_request, kControls> control_requests_{};

  ph_status gone_ = PH_OK;  // a message was refused or lost: the peer sends nothing more
  bool is_closing_ = false;
};

}  // namespace photon::stream
