#include "service/mailbox/reader.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "base/finally.hpp"

namespace photon::service::mailbox {

ph_status Reader::check(Rank rank, const ph_mailbox_get_args& args) {
  const auto wrong = [&](const std::string& why) {
    return port_.fail(PH_ERR_ARGUMENT, rank,
                      "mailbox_get of " + std::to_string(args.size_bytes) + " bytes: " + why);
  };
  if ((args.flags & ~std::uint32_t{PH_NO_LCE}) != 0)
    return wrong("unknown flags " + std::to_string(args.flags));
  if (args.size_bytes != 0 && args.destination == nullptr) return wrong("the destination is null");
  if (args.offset > ~args.size_bytes) return wrong("offset and size wrap around");
  if (reinterpret_cast<std::uint64_t>(args.destination) > ~args.size_bytes)
    return wrong("destination and size wrap around");
  if (args.request != nullptr && (args.flags & PH_NO_LCE) != 0)
    return wrong("a request is a local completion, and PH_NO_LCE wants none");
  if (args.local.size_bytes != 0 && args.local.data == nullptr)
    return wrong("the local id has bytes but its data is null");
  if (args.local.size_bytes > config_.max_cid_size)
    return port_.fail(PH_ERR_ID_SIZE, rank,
                      "mailbox_get: the local id has " + std::to_string(args.local.size_bytes) +
                          " bytes, the limit is " + std::to_string(config_.max_cid_size) +
                          "; raise PHOTON_MAX_CID_SIZE");
  return PH_OK;
}

// The next part begins where the last one ended.
void Reader::plan(Get& get) const noexcept {
  const std::uint64_t left = get.size_bytes - get.done_bytes;
  get.next.size_bytes = std::min(left, config_.mailbox_carried_max);
  get.next.is_last = get.next.size_bytes == left;
}

ph_status Reader::ask(std::uint64_t token, Get& get) noexcept {
  const Encoded encoded = encode(Ask{get.address, token, get.next});
  const Words& w = encoded.words;
  const ph_status status = encoded.count == 5
                               ? port_.say_words(get.rank, w[0], w[1], w[2], w[3], w[4])
                               : port_.say_words(get.rank, w[0], w[1], w[2], w[3], w[4], w[5]);
  get.is_asked = status == PH_OK;
  if (get.is_asked) ++asked_.find(get.rank)->second;  // get() has made it
  return status;
}

ph_status Reader::get(Rank rank, const ph_mailbox_get_args& args) {
  if (const ph_status status = check(rank, args); status != PH_OK) return status;
  if (const ph_status status = port_.contact(rank); status != PH_OK) return status;
  const ph_request before = args.request != nullptr ? *args.request : ph_request{};
  const auto made = gets_.emplace_hint(gets_.end(), next_, Get{});
  Get& get = made->second;
  bool is_sent = false;
  const base::Finally settled([&]() noexcept {
    if (is_sent) return;
    if (get.promise != 0) port_.renounce(get.promise);
    if (args.request != nullptr) *args.request = before;
    gets_.erase(made);
  });
  get.promise =
      port_.promise({rank, args.local, args.flags, args.request, args.size_bytes, kNoMail});
  if (get.promise == 0) return PH_AGAIN;
  get.rank = rank;
  get.address = args.address;
  get.next = {args.offset, 0, args.epoch, args.incarnation, false};
  get.destination = static_cast<std::byte*>(args.destination);
  get.size_bytes = args.size_bytes;
  plan(get);
  const bool is_its_turn = asked_[rank] < kMostAsked;
  if (const ph_status status = is_its_turn ? ask(next_, get) : PH_OK; status != PH_OK)
    return status == PH_AGAIN ? port_.again() : status;
  is_sent = true;
  ++next_;
  return PH_OK;
}

Reader::Gets::iterator Reader::find(Rank from, std::uint64_t token) noexcept {
  const auto found = gets_.find(token);
  const bool is_it = found != gets_.end() && found->second.rank == from && found->second.is_asked;
  return is_it ? found : gets_.end();
}

// The part of this get is asked for no more.
void Reader::answered(Gets::iterator one) noexcept {
  one->second.is_asked = false;
  --asked_.find(one->second.rank)->second;
}

bool Reader::on_answer(Rank from, const DecodedAnswer& answer) noexcept {
  const auto one = find(from, answer.answer.token);
  if (one == gets_.end()) return false;
  const auto body = bodies_.find(from);
  if (body != bodies_.end() && body->second.token == one->first) return false;  // it has begun
  Get& get = one->second;
  if (answer.answer.status == PH_OK) {
    if (answer.bytes.size() != get.next.size_bytes) return false;
    if (!answer.bytes.empty())
      std::memcpy(get.destination + get.done_bytes, answer.bytes.data(), answer.bytes.size());
  }
  answered(one);
  take_part(one, answer.answer);
  return true;
}

Verdict Reader::on_chunk(const Chunk& chunk) {
  const Rank from = chunk.message.from;
  if (chunk.offset == 0) {
    const auto answer =
        decode_answer(chunk.message.header, chunk.message.payload, chunk.size_bytes);
    const auto one = answer ? find(from, answer->answer.token) : gets_.end();
    if (one == gets_.end() || one->second.next.size_bytes != chunk.size_bytes ||
        !bodies_.emplace(from, answer->answer).second)
      return Verdict::malformed;
  }
  const Answer answer = bodies_.at(from);
  const auto one = find(from, answer.token);
  if (one == gets_.end() || chunk.bytes.empty()) return Verdict::malformed;  // its owner has a copy
  Get& get = one->second;
  std::memcpy(get.destination + get.done_bytes + chunk.offset, chunk.bytes.data(),
              chunk.bytes.size());
  if (!chunk.is_last()) return Verdict::taken;
  bodies_.erase(from);
  answered(one);
  take_part(one, answer);
  return Verdict::taken;
}

// Its other parts are of the epoch that the first was of.
void Reader::take_part(Gets::iterator one, const Answer& answer) noexcept {
  Get& get = one->second;
  const Rank from = get.rank;
  if (answer.status != PH_OK || get.next.is_last) {
    end(one, answer.status);
  } else {
    get.done_bytes += get.next.size_bytes;
    get.next.offset += get.next.size_bytes;
    get.next.epoch = answer.epoch;
    get.next.incarnation = answer.incarnation;
    plan(get);
  }
  ask_more(from);
}

// In the order of the calls.
void Reader::ask_more(Rank to) noexcept {
  const auto asked = asked_.find(to);
  for (auto next = gets_.begin(); next != gets_.end();) {
    if (asked == asked_.end() || asked->second >= kMostAsked) return;
    const auto one = next++;
    if (one->second.rank != to || one->second.is_asked) continue;
    const ph_status status = ask(one->first, one->second);
    if (status == PH_AGAIN) return;
    if (status != PH_OK) end(one, status);
  }
}

void Reader::end(Gets::iterator one, ph_status status) noexcept {
  const std::uint64_t promise = one->second.promise;
  gets_.erase(one);
  port_.complete(promise, status,
                 status == PH_OK
                     ? nullptr
                     : "mailbox: a get was refused; the status says why (ph_mailbox_get)");
  port_.release(promise);
}

void Reader::on_lost(Rank rank, ph_status why) noexcept {
  bodies_.erase(rank);
  asked_.erase(rank);
  for (auto next = gets_.begin(); next != gets_.end();) {
    const auto one = next++;
    if (one->second.rank == rank) end(one, why);
  }
}

}  // namespace photon::service::mailbox
