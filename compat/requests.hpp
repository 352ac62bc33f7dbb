// What rids name: operations that the program tests or waits for by name.
//
//   free -- reserve() --> named -- change() --> under way
//   free -- add() --> under way -- over, and taken by test, wait or cancel --> free
//
// Invariant: a rid is never 0, and names one operation: a slot counts how often it was used.
// Owner: the session. Any thread; its lock is never held over a call on the context.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace photon::classic {

class MatchedBuffer;

// What photon_test() calls it.
enum class RequestType : int {
  event = 0,
  ledger = 1,
  send_recv = 2,
  collective = 3  // one of Collectives; photon_test() calls it an event
};

// One operation. Unless it is a collective, `handle` is the context's request; PH_REQUEST_NONE: it
// is over.
struct Request {
  RequestType type = RequestType::event;
  ph_request handle = PH_REQUEST_NONE;
  ph_rank peer = PH_ANY_RANK;
  int tag = 0;
  std::uint64_t size_bytes = 0;
  std::shared_ptr<MatchedBuffer>
      matched;  // a peer's buffer that was met: it has handles of its own
};

class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Throws bad_alloc before anything is taken.
  photon_rid add(const Request& request);
  // A rid for what is about to be posted: nobody finds it before change(). Throws as add().
  photon_rid reserve();
  // A copy; nothing for an unknown rid.
  std::optional<Request> find(photon_rid rid);
  // In its place, or in that which is reserved; false for an unknown rid.
  bool change(photon_rid rid, const Request& request);
  // True for the one who took it.
  bool remove(photon_rid rid);
  // Those under way of one type, oldest slot first.
  std::vector<photon_rid> all(RequestType type);

  void clear() noexcept;

 private:
  struct Slot {
    std::uint32_t use = 0;  // odd: in use
    bool is_posted = false;
    Request request;
  };
  Slot* slot_of(photon_rid rid) noexcept;
  photon_rid take_slot(const Request* request);

  std::mutex mutex_;
  std::vector<Slot> slots_;  // under it, as is:
  std::vector<std::uint32_t> free_;
};

}  // namespace photon::classic
