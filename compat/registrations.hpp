// What this rank has opened to its peers by photon_register_buffer().
//
//   range -- register --> count 1 -- register --> count 2 -- unregister --> count 1 -- unregister
//     --> gone, and its keys with it
//
// Invariant: each range stands here once, with the key that the context gave it; a lookup finds
// the smallest that contains what is asked for. Ranges nest and overlap as they like, and taking
// one back touches no other.
// Owner: the session. Any thread; a lock of its own, never held over a call that waits.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstdint>
#include <list>
#include <mutex>

namespace photon::classic {

class Registrations {
 public:
  explicit Registrations(ph_context* context) noexcept : context_(context) {}
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  ph_status add(void* base, std::uint64_t size_bytes);
  ph_status remove(void* base, std::uint64_t size_bytes);
  // Valid until the range is removed; null if none contains this one.
  const photon_buffer_priv_t* find(const void* base, std::uint64_t size_bytes);

  // After the context was finalized: no key means anything any more.
  void clear() noexcept;

 private:
  struct Entry {
    std::uintptr_t base;
    std::uint64_t size_bytes;
    std::uint64_t count;
    photon_buffer_priv_t keys;  // key0: the context's
  };
  using Entries = std::list<Entry>;  // keys stay where they are

  Entries::iterator exactly(std::uintptr_t base, std::uint64_t size_bytes);
  Entries::iterator smallest_around(std::uintptr_t base, std::uint64_t size_bytes);

  ph_context* const context_;
  std::mutex mutex_;
  Entries entries_;  // under it
};

}  // namespace photon::classic
