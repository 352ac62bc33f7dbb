// What the tests of pulled active messages share: a handler that names a landing, and writes down
// what its completion handler is told.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {

// A byte more is pulled.
inline constexpr std::size_t kCarriedMost = 32'768;

// The completion handler of a landing, as a function object.
class AmDone {
 public:
  using Call = std::function<ph_status(const ph_am_message&, const ph_am_part&)>;
  explicit AmDone(Call call = {}) : call_(std::move(call)) {}
  AmDone(const AmDone&) = delete;
  AmDone& operator=(const AmDone&) = delete;

  void name(ph_am_landing& landing) {
    landing.done = run;
    landing.argument = this;
  }
  // The parts of all messages that it was called for; it is told of one message at a time.
  std::vector<ph_am_part> parts;
  std::size_t ends() const {
    std::size_t count = 0;
    for (const ph_am_part& part : parts) count += part.is_last != 0 ? 1 : 0;
    return count;
  }

 private:
  static ph_status run(void* argument, const ph_am_message* message, const ph_am_part* part) {
    auto& self = *static_cast<AmDone*>(argument);
    EXPECT_EQ(message->payload, nullptr);
    EXPECT_EQ(message->header_bytes, 0u);
    self.parts.push_back(*part);
    return self.call_ ? self.call_(*message, *part) : PH_OK;
  }
  Call call_;
};

// Each message of an id lands in memory of its own.
class AmLander {
 public:
  AmLander(ph_context* context, std::uint32_t id, std::uint64_t chunk_bytes = 0)
      : handler_([this, chunk_bytes](const ph_am_message& message, ph_am_landing& landing) {
          all.push_back(std::make_unique<Landed>());
          Landed& one = *all.back();
          one.immediate = message.immediate;
          one.header = copy_of(message.header, message.header_bytes);
          one.memory.resize(message.payload_bytes);
          landing.buffer = one.memory.data();
          landing.buffer_bytes = one.memory.size();
          landing.chunk_bytes = chunk_bytes;
          one.done.name(landing);
          return PH_OK;
        }) {
    handler_.enroll(context, id);
  }
  struct Landed {
    std::uint64_t immediate = 0;
    std::vector<std::byte> header;
    std::vector<std::byte> memory;
    AmDone done;
  };
  std::size_t ended() const {
    std::size_t count = 0;
    for (const auto& one : all) count += one->done.ends();
    return count;
  }
  std::vector<std::unique_ptr<Landed>> all;

 private:
  AmHandler handler_;
};

inline ph_status send_all(ph_context* context, ph_rank rank, const ph_am_args& args) {
  return send_surely(context, [&] { return ph_am_send(context, rank, &args); });
}

// Sends, and waits for its end with the handlers of this rank running.
inline ph_status send_to_end(ph_context* context, ph_rank rank, ph_am_args args,
                             std::uint32_t flags = PH_DELIVERED) {
  ph_request request = PH_REQUEST_NONE;
  args.flags = flags;
  args.request = &request;
  if (const ph_status status = send_all(context, rank, args); status != PH_OK) return status;
  ph_result result{};
  // Its payload is lent until then, so a test that gives up early would take it away.
  const ph_status status = ph_wait_request(context, &request, &result, PH_FOREVER);
  return status == PH_OK ? result.status : status;
}

}  // namespace photon::test
