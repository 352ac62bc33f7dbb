#include "service/mailbox/answers.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace photon::service::mailbox {

// A small one.
ph_status Answers::say(Rank to, const Answer& answer, std::span<const std::byte> bytes) {
  Encoded encoded = encode(answer);
  const bool is_short = bytes.size() <= encoded.room_bytes();
  const std::size_t count = is_short ? add_bytes(encoded, bytes) : encoded.count;
  Saying what;
  what.to = to;
  what.header = std::as_bytes(std::span(encoded.words).first(count));
  if (!is_short) what.payload = bytes;
  return port_.say(what);
}

bool Answers::send(Rank to, Answer& answer, std::span<const std::byte> bytes) {
  const bool is_small = bytes.size() <= wire::kMaxPackedBytes;
  if (is_small && say(to, answer, bytes) != PH_AGAIN) return true;  // of a lost rank nobody asks
  const auto is_its = [to](const auto& one) { return one.second.to == to; };
  const auto waiting = std::count_if(bodies_.begin(), bodies_.end(), is_its);
  if (static_cast<std::size_t>(waiting) >= kMostAsked) return false;
  auto made = bodies_.end();
  try {
    Body body{to, answer, {bytes.begin(), bytes.end()}};
    made = bodies_.emplace_hint(bodies_.end(), next_++, std::move(body));
  } catch (const std::bad_alloc&) {
    if (bytes.empty()) throw;
    answer.status = PH_ERR_MEMORY;
    return send(to, answer, {});
  }
  if (!is_small) static_cast<void>(start(made->first, made->second));
  return true;
}

// PH_AGAIN: it waits on.
ph_status Answers::say_small(const Body& body) noexcept {
  try {
    return say(body.to, body.answer, body.bytes);
  } catch (const std::bad_alloc&) {
    port_.cut_off(body.to, "");  // as below
    return PH_ERR_MEMORY;
  }
}

// False: there is no room now.
bool Answers::start(std::uint64_t number, Body& body) noexcept {
  const Encoded encoded = encode(body.answer);
  Saying what;
  what.to = body.to;
  what.header = std::as_bytes(std::span(encoded.words).first(encoded.count));
  try {
    const ph_status status = port_.say_body(what, body.bytes, number | kOurs);
    body.is_sent = status == PH_OK;
    return status != PH_AGAIN;
  } catch (const std::bad_alloc&) {
    port_.cut_off(body.to, "");  // it waits, and words would need memory
    return true;
  }
}

void Answers::on_local(std::uint64_t token) noexcept {
  bodies_.erase(token & ~kOurs);
  on_room();
}

void Answers::on_room() noexcept {
  bool has_quota = true;
  for (auto one = bodies_.begin(); one != bodies_.end();) {
    const std::uint64_t number = one->first;
    if (one->second.is_small()) {
      if (say_small(one->second) != PH_AGAIN) bodies_.erase(number);
    } else if (!one->second.is_sent && has_quota) {
      has_quota = start(number, one->second);  // small ones of others go on without it
    }
    one = bodies_.upper_bound(number);  // its rank may be lost, and others of it gone
  }
}

// Bodies that were sent to it are in use until on_local().
void Answers::on_lost(Rank rank) noexcept {
  std::erase_if(bodies_,
                [rank](const auto& one) { return one.second.to == rank && !one.second.is_sent; });
}

}  // namespace photon::service::mailbox
