#include "service/mailbox/answers.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace photon::service::mailbox {

bool Answers::send(Rank to, Answer& answer, std::span<const std::byte> bytes) {
  Encoded encoded = encode(answer);
  const bool is_short = bytes.size() <= encoded.room_bytes();
  if (bytes.size() <= wire::kMaxPackedBytes) {
    const std::size_t count = is_short ? add_bytes(encoded, bytes) : encoded.count;
    Saying what;
    what.to = to;
    what.header = std::as_bytes(std::span(encoded.words).first(count));
    if (!is_short) what.payload = bytes;
    what.must_go = true;
    static_cast<void>(port_.say(what));  // of one that is lost nobody asks
    return true;
  }
  const auto is_its = [to](const auto& one) { return one.second.to == to; };
  const auto waiting = std::count_if(bodies_.begin(), bodies_.end(), is_its);
  if (static_cast<std::size_t>(waiting) >= kMostAsked) return false;
  auto made = bodies_.end();
  try {
    Body body{to, answer, {bytes.begin(), bytes.end()}};
    made = bodies_.emplace_hint(bodies_.end(), next_++, std::move(body));
  } catch (const std::bad_alloc&) {
    answer.status = PH_ERR_MEMORY;
    return send(to, answer, {});
  }
  static_cast<void>(start(made->first, made->second));
  return true;
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
  for (auto one = bodies_.begin(); one != bodies_.end();) {
    const std::uint64_t number = one->first;
    if (!one->second.is_sent && !start(number, one->second)) return;
    one = bodies_.upper_bound(number);  // its rank may be lost, and others of it gone
  }
}

// Bodies that were sent to it are in use until on_local().
void Answers::on_lost(Rank rank) noexcept {
  std::erase_if(bodies_,
                [rank](const auto& one) { return one.second.to == rank && !one.second.is_sent; });
}

}  // namespace photon::service::mailbox
