// One operation under way at its initiator, with the completion data to hand back.
//
// A request stands in up to three FIFOs of its peer at once: `work` while bytes still have to be
// moved, `ids` while its id waits for its turn, `acks` while the target owes an answer (a get in
// `gets.waiting` instead, if the kernel may do without that: get_takeover.hpp). It is freed
// when it stands in none and nobody holds its token: no peer, no NIC, and not the caller, who
// keeps it from posting (request.h) until it was taken. Its local completion is given when it is
// freed, or would be but for its caller, if that says no more than that the operation is over; that
// of a landing (tells_landing()) when the bytes are at their place.
//
//   put:   [work] data moving --> data done --> [ids] head and credit --> id posted --> told, freed
//   get:   [work] --> asked or copied --> data landed: told --> [ids] notice --> freed
//   posted put or get: [work] fragments being posted --> all posted --> all over --> as above
//   atomic: [work]+[ids] --> done by ourselves, or [acks] asked --> fetched --> as above
//   vectored: as its kind, along its layout; a served get asks part by part while it heads the work
//   fence: [work]+[ids] head of both --> [acks] asked --> answered --> freed
//   promise: made for a service's caller --> completed by the service --> freed
//   sample: [acks] asked, with a put --> answered, or peer lost --> freed; nobody is told
//   body, behind: messages.cpp
//   any -- peer lost, refused --> failed (an error completion) --> freed
//
// Owner: the Engine's RequestPool, under the lane's lock.
#pragma once

#include <photon/rma.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/parts/event_queue.hpp"
#include "engine/parts/store_choice.hpp"
#include "sync/remote_word.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

struct Peer;
class Layout;

inline constexpr std::uint32_t kNoBlock = 0xffffffffu;

// A message that waits with a request: its parts in a block.
struct HeldMessage {
  std::uint32_t block = kNoBlock;
  std::uint32_t header_bytes = 0;
  std::uint32_t payload_bytes = 0;
};

struct Request {
  enum class Kind : std::uint8_t {
    packed,
    bulk,
    direct,
    posted,
    get,
    atomic,
    fence,
    promise,  // a service ends it
    behind,   // a message of a service
    body,
    sample  // a mark behind a put: put_samples.hpp
  };

  Kind kind = Kind::packed;
  bool in_work = false;
  bool in_ids = false;
  bool in_acks = false;
  bool data_done = false;   // the id may go
  bool id_merged = false;   // the id went with the last chunk
  bool serving = false;     // others hold its token: a get's owner, or a NIC
  bool posted = false;      // a NIC moves its bytes
  bool named = false;       // a counted record with its id went before them
  bool no_nic = false;      // our NIC cannot know its memory: it goes another way
  bool learns = false;      // it could have gone another way: its time is taken
  bool is_sampled = false;  // bulk: a mark is to be sent in front of its end (put_samples.hpp)
  bool chunked = false;     // bulk: a chunk was sent; get: some bytes came another way
  bool asked = false;       // fence: for its acknowledgement; get: its owner, not the kernel
  bool local_done = false;  // the local completion was given, or is not wanted
  bool is_beside = false;   // the user's limit does not count it
  bool kept = false;        // the caller holds its token: its completion is `outcome`
  wire::Owner owner = wire::Owner::application;        // whose operation it is
  wire::Owner promised_by = wire::Owner::application;  // promise: which service ends it
  Way way = Way::plain;                                // direct, to mapped memory: by which stores
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::uint32_t payload = kNoBlock;  // packed: block with the copied payload
  std::uint32_t fragments = 0;       // posted: under way
  std::uint32_t entry = kNoBlock;    // posted: of its own memory in the SourceCache
  ph_status verdict = PH_OK;         // posted: of those that are over
  ph_status outcome = PH_OK;         // kept: how it ended, once local_done
  Peer* peer = nullptr;
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::uint64_t size_bytes = 0;
  std::uint64_t done_bytes = 0;
  ph_target target{};
  Layout* layout = nullptr;  // vectored: instead of source, destination and target
  sync::WordChange change;   // atomic
  union {
    std::uint64_t tag = 0;      // of a service: its token
    std::uint64_t marked_turn;  // sample: in which turn it was sent
  };
  HeldMessage message;  // body, behind
  HeldId local;
  std::uint64_t local_word = 0;  // the local id's first 8 bytes, for late reports
  HeldId remote;
  std::uint64_t line = 0;  // named: of the counted record; acks: behind its own
  union {
    std::uint64_t first_line = 0;  // bulk, chunked: of the record of its first chunk
    std::uint64_t copied_bytes;    // get, asked: so many from its start are at their place
  };
  std::uint64_t staged_mark = 0;  // acks: records sent when this one asked
  union {
    std::int64_t stalled_since_ns = 0;
    std::int64_t marked_ns;  // sample: when it was sent
  };
  std::int64_t first_ns = 0;  // learns: when it became the first of its queue; sample: its put
  Request* next_work = nullptr;
  Request* next_ids = nullptr;
  Request* next_acks = nullptr;

  // Stands for no operation, but for a place in the queues.
  bool is_mark() const noexcept {
    return kind == Kind::fence || kind == Kind::behind || kind == Kind::sample;
  }
  bool has_rce() const noexcept { return (flags & PH_NO_RCE) == 0; }
  // Its local completion says that its bytes are at their place, and waits for no peer's
  // application: it comes before the id, if that has to wait. Any other comes last.
  bool tells_landing() const noexcept {
    if (kind == Kind::get) return !has_rce() || (flags & PH_NOTICE_ACCEPTED) == 0;
    return kind == Kind::atomic || (flags & PH_DELIVERED) != 0;
  }
};

// An intrusive FIFO through one of the request's links.
template <Request* Request::*Next, bool Request::*Member>
class RequestList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  Request* head() const noexcept { return head_; }
  void push(Request& request) noexcept {
    request.*Next = nullptr;
    request.*Member = true;
    (head_ == nullptr ? head_ : tail_->*Next) = &request;
    tail_ = &request;
  }
  void pop() noexcept {
    head_->*Member = false;
    head_ = head_->*Next;
  }
  // Takes a member out, wherever it stands; the one before it, or null.
  Request* remove(Request& request) noexcept {
    Request* before = nullptr;
    for (Request* one = head_; one != &request; one = one->*Next) before = one;
    (before == nullptr ? head_ : before->*Next) = request.*Next;
    if (tail_ == &request) tail_ = before;
    request.*Member = false;
    return before;
  }

 private:
  Request* head_ = nullptr;
  Request* tail_ = nullptr;
};

using WorkList = RequestList<&Request::next_work, &Request::in_work>;
using IdsList = RequestList<&Request::next_ids, &Request::in_ids>;
using AcksList = RequestList<&Request::next_acks, &Request::in_acks>;

// Requests with stable addresses, limited by the setting `requests`.
class RequestPool {
 public:
  explicit RequestPool(std::uint64_t limit) : limit_(limit) {}

  // Null at the limit.
  Request* take() { return exhausted() ? nullptr : take_any(); }
  // Beside the limit: services have quotas of their own.
  Request* take_for_service() {
    Request* const request = take_any();
    request->is_beside = true;
    ++beside_;
    return request;
  }
  // A mark behind a put: no operation.
  Request* take_for_sample() {
    Request* const request = take_for_service();
    request->kind = Request::Kind::sample;
    ++samples_;
    return request;
  }
  void give(Request& request) noexcept {
    if (request.kind == Request::Kind::sample) --samples_;
    ++request.generation;
    if (request.is_beside) --beside_;
    request.is_beside = false;
    request.serving = false;
    request.next_work = free_;
    free_ = &request;
    --used_;
  }
  // Its caller has its token, from here to release().
  void keep(Request& request) noexcept {
    request.kept = true;
    ++kept_;
  }
  void release(Request& request) noexcept {
    request.kept = false;
    --kept_;
  }
  // Gives what is beyond the usual limit back to the system, if nothing is under way.
  void trim() noexcept {
    if (used_ != 0 || chunks_.size() <= kUsual) return;
    for (std::size_t i = kUsual; i < chunks_.size(); ++i)
      for (std::uint32_t at = 0; at < kStep; ++at)
        born_ = std::max(born_, chunks_[i][at].generation);
    chunks_.resize(kUsual);
    free_ = nullptr;
    for (std::uint32_t i = kUsual; i > 0; --i) offer(i - 1);
  }
  // take() will not fail, nor allocate.
  bool has_free() const noexcept { return free_ != nullptr && !exhausted(); }
  bool exhausted() const noexcept { return used_ - beside_ >= limit_; }
  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t operations() const noexcept { return used_ - samples_; }

  // What a peer or a NIC names, or null if it is not under way any more. No token is 0.
  static std::uint64_t token(const Request& request) noexcept {
    return std::uint64_t{request.generation} << 32 | request.index;
  }
  Request* find(std::uint64_t token) noexcept {
    Request* request = at(token);
    return request != nullptr && request->serving ? request : nullptr;
  }

  // Of any token, or null if the request it named is not in use any more.
  Request* find_used(std::uint64_t token) noexcept { return token == 0 ? nullptr : at(token); }
  // The request a caller names, or null if it was taken.
  Request* find_kept(std::uint64_t token) noexcept {
    Request* request = at(token);
    return request != nullptr && request->kept ? request : nullptr;
  }

  template <class Visit>
  void for_each_serving(Visit visit) {
    for_each([&](Request& request) {
      if (request.serving) visit(request);
    });
  }
  template <class Visit>
  void for_each_kept(Visit visit) {
    if (kept_ == 0) return;
    for_each([&](Request& request) {
      if (request.kept) visit(request);
    });
  }

 private:
  Request* take_any() {
    if (free_ == nullptr) grow();
    Request* request = free_;
    free_ = request->next_work;
    const auto index = request->index;
    const auto generation = std::max(1U, request->generation + 1);
    *request = Request{};
    request->index = index;
    request->generation = generation;
    ++used_;
    return request;
  }

  static constexpr std::uint32_t kStep = 64;
  static constexpr std::uint32_t kUsual = 64;  // chunks: what the setting is by default

  Request* at(std::uint64_t token) noexcept {
    const auto index = static_cast<std::uint32_t>(token);
    if (index / kStep >= chunks_.size()) return nullptr;
    Request& request = chunks_[index / kStep][index % kStep];
    return request.generation == token >> 32 ? &request : nullptr;
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (const auto& chunk : chunks_)
      for (std::uint32_t i = 0; i < kStep; ++i) visit(chunk[i]);
  }

  void grow() {
    const auto first = static_cast<std::uint32_t>(chunks_.size()) * kStep;
    chunks_.push_back(std::make_unique<Request[]>(kStep));
    for (std::uint32_t i = 0; i < kStep; ++i) chunks_.back()[i].generation = born_;
    offer(first / kStep);
  }

  // All of a chunk is free.
  void offer(std::uint32_t chunk) noexcept {
    for (std::uint32_t i = kStep; i > 0; --i) {
      Request& request = chunks_[chunk][i - 1];
      request.index = chunk * kStep + i - 1;
      request.next_work = free_;
      free_ = &request;
    }
  }

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t beside_ = 0;   // of those, the ones that are not counted
  std::uint64_t samples_ = 0;  // of these, the marks behind puts
  std::uint64_t kept_ = 0;
  std::uint32_t born_ =
      0;  // the generation of new ones: no token of one that was trimmed is theirs
  Request* free_ = nullptr;
  std::vector<std::unique_ptr<Request[]>> chunks_;
};

}  // namespace photon::engine
