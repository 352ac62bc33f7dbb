// What the tests of active messages share: handlers that write down what they were called with.
#pragma once

#include <gtest/gtest.h>
#include <photon/am.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {

// A message as its handler saw it, in copies.
struct Handled {
  ph_rank source = 0;
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  std::uint64_t immediate = 0;
  std::vector<std::byte> header;
  std::vector<std::byte> payload;
};

inline std::vector<std::byte> copy_of(const void* data, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  if (size_bytes != 0) std::memcpy(bytes.data(), data, size_bytes);
  return bytes;
}

// A handler that is a function object; it outlives its registration. One that lives in a body is
// gone when the body ends, and the job serves on: whoever leaves has first seen all come that is
// sent to it, also what nobody waits for. Where the progress thread runs handlers, what ends that
// wait is the last thing that a handler touches.
class AmHandler {
 public:
  using Call = std::function<ph_status(const ph_am_message&, ph_am_landing&)>;
  explicit AmHandler(Call call) : call_(std::move(call)) {}
  AmHandler(const AmHandler&) = delete;
  AmHandler& operator=(const AmHandler&) = delete;

  static ph_status run(void* user, const ph_am_message* message, ph_am_landing* landing) {
    return static_cast<AmHandler*>(user)->call_(*message, *landing);
  }
  void enroll(ph_context* context, std::uint32_t id) {
    ASSERT_EQ(ph_am_register(context, id, run, this), PH_OK) << last_error(context).text;
  }

 private:
  Call call_;
};

// A handler that keeps what it is called with.
class AmRecord {
 public:
  AmRecord(ph_context* context, std::uint32_t id)
      : handler_([this](const ph_am_message& message, ph_am_landing&) {
          EXPECT_EQ(message.size, sizeof message);
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload) % 8, 0u);
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.header) % 8, 0u);
          all.push_back({message.source, message.id, message.flags, message.immediate,
                         copy_of(message.header, message.header_bytes),
                         copy_of(message.payload, message.payload_bytes)});
          return PH_OK;
        }) {
    handler_.enroll(context, id);
  }

  std::vector<Handled> all;

 private:
  AmHandler handler_;
};

// What is counted under that name, of all peers.
inline std::uint64_t am_counter(ph_context* context, const std::string& name) {
  std::vector<ph_counter> all(512);
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, all.data(), all.size(), &count), PH_OK);
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i)
    if (all[i].name == name) return all[i].value;
  ADD_FAILURE() << "nothing is counted as " << name;
  return 0;
}

// Polls until it is so.
inline void poll_until(ph_context* context, const std::function<bool()>& done) {
  while (!done()) {
    const ph_status status = ph_am_poll(context, 0);
    ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << last_error(context).text;
  }
}

inline ph_const_block block_of(std::span<const std::byte> bytes) {
  return {bytes.data(), bytes.size()};
}

// Sends again until it is accepted, running handlers meanwhile.
template <class Send>
ph_status send_surely(ph_context* context, Send send) {
  for (;;) {
    const ph_status status = send();
    if (status != PH_AGAIN) return status;
    const ph_status polled = ph_am_poll(context, 0);
    if (polled != PH_OK && polled != PH_AGAIN) return polled;
  }
}
inline ph_status small_surely(ph_context* context, ph_rank rank, std::uint32_t id,
                              std::span<const std::byte> bytes) {
  return send_surely(context, [&] { return ph_am_send_small(context, rank, id, block_of(bytes)); });
}

inline ph_am_args am_args(std::uint32_t id, std::span<const std::byte> payload,
                          std::span<const std::byte> header = {}) {
  ph_am_args args{};
  args.size = sizeof args;
  args.id = id;
  args.flags = PH_NO_LCE;
  args.header = header.data();
  args.header_bytes = header.size();
  args.payload = payload.data();
  args.payload_bytes = payload.size();
  return args;
}

// The next completion, handlers running meanwhile.
inline ph_completion take_polling(ph_context* context, const ph_query& query) {
  ph_completion one{};
  std::size_t count = 0;
  while (count == 0) {
    EXPECT_EQ(ph_probe(context, query, &one, 1, &count), PH_OK);
    if (count == 0) std::this_thread::yield();
  }
  return one;
}

}  // namespace photon::test
