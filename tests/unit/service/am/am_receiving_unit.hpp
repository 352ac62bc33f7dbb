// For the unit tests of the receiving half of active messages: the whole service alone, on a port
// that the test controls, as rank 0. Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "service/am/am.hpp"
#include "service/fake_port.hpp"

namespace photon::service::am::test {

using photon::test::Bytes;
using photon::test::bytes_of;
using photon::test::Coming;
using photon::test::FakePort;
using photon::test::Said;
using photon::test::words_in;
using photon::test::words_of;

// It runs the user's code at the end of each call if the test says so, and knows who is inside.
class AmPort final : public FakePort {
 public:
  AmPort() : FakePort(wire::Owner::am) {}
  bool runs = false;
  bool is_inside = false;
  std::string why;            // it cut somebody off
  ph_status exposes = PH_OK;  // else nothing can be exposed
  base::Config settings;

  bool runs_now() const noexcept override { return runs; }
  bool is_in_run() const noexcept override { return is_inside; }
  const base::Config& config() const noexcept override { return settings; }
  // As the engine: the request has its value from here on.
  std::uint64_t promise(const UserEnd& end) override {
    const std::uint64_t made = FakePort::promise(end);
    if (made != 0 && end.request != nullptr) *end.request = made;
    return made;
  }
  ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                   Exposed& exposed) override {
    return exposes == PH_OK ? FakePort::expose(memory, access, exposed) : exposes;
  }
  void cut_off(Rank rank, const char* words) override {
    why = words;
    FakePort::cut_off(rank, words);
  }
};

inline std::uint64_t word(Op op, std::uint8_t flags = 0, std::uint16_t id = 0,
                          std::uint16_t header_bytes = 0, std::uint16_t handled = 0) {
  return encode(Word{op, flags, id, header_bytes, handled});
}
inline Bytes filled(std::size_t size, std::uint8_t first = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}
inline Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Coming line(Rank from, std::uint16_t id, const Bytes& payload = {}, std::uint8_t flags = 0) {
  return {from, joined(words_of({word(Op::line, flags, id)}), payload), {}, {}, 0, 0};
}
inline Coming record(Rank from, std::uint16_t id, const Bytes& payload) {
  return {from, words_of({word(Op::record, 0, id), payload.size()}), payload, {}, 0, 0};
}
// That part of a body; the first one has the words.
inline Coming part(Rank from, std::uint16_t id, const Bytes& payload, std::size_t begin,
                   std::size_t end) {
  Bytes some(payload.begin() + static_cast<std::ptrdiff_t>(begin),
             payload.begin() + static_cast<std::ptrdiff_t>(end));
  Bytes header = begin == 0 ? words_of({word(Op::body, 0, id), payload.size()}) : Bytes();
  return {from, std::move(header), {}, std::move(some), begin, payload.size()};
}

// The service, with a handler 1 that writes down the payloads it is called with.
class Receiver {
 public:
  using Call = std::function<ph_status(const ph_am_message&, ph_am_landing&)>;

  explicit Receiver(std::uint64_t slots = 8) {
    port.settings.am_slots = slots;
    am = std::make_unique<Am>(port);
    port.serve(*am);
    enroll(1, [this](const ph_am_message& message, ph_am_landing&) {
      const auto* const bytes = static_cast<const std::byte*>(message.payload);
      handled.emplace_back(bytes, bytes + message.payload_bytes);
      return returned;
    });
  }
  void enroll(std::uint32_t id, Call call) {
    calls_.push_back(std::make_unique<Call>(
        [this, call = std::move(call)](const ph_am_message& message, ph_am_landing& landing) {
          port.is_inside = true;
          const ph_status status = call(message, landing);
          port.is_inside = false;
          return status;
        }));
    ASSERT_EQ(am->enroll(id, run, calls_.back().get()), PH_OK);
  }
  bool come(const Coming& coming) { return port.deliver(coming); }
  void turn() { port.run_turns(); }
  // What was said, as words; each is taken.
  std::vector<std::vector<std::uint64_t>> said() {
    std::vector<std::vector<std::uint64_t>> all;
    for (Said one; port.take(one);) all.push_back(words_in(one.header));
    return all;
  }

  AmPort port;
  std::unique_ptr<Am> am;
  std::vector<Bytes> handled;
  ph_status returned = PH_OK;

 private:
  static ph_status run(void* user, const ph_am_message* message, ph_am_landing* landing) {
    return (*static_cast<Call*>(user))(*message, *landing);
  }
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace photon::service::am::test
