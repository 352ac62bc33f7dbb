// What this rank has opened to its peers by photon_register_buffer().
//
//   range -- register --> count 1 -- register --> count 2 -- unregister --> count 1 -- unregister
//     --> gone, and its keys with it
//   count 1 -- unregister, but a stopped peer holds a copy open --> stale -- unregister --> gone
//   stale -- register, when that copy has ended --> count 1, with new keys
//
// Invariant: each range stands here once, with the key that the context gave it; a lookup finds
// the smallest that contains what is asked for. Ranges nest and overlap as they like, and taking
// one back touches no other.
// Owner: the session. Any thread; a lock of its own. It is held while the context ends the copies
// that peers make under a key that goes.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace photon::classic {

class Registrations {
 public:
  explicit Registrations(ph_context* context) noexcept : context_(context) {}
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  // Throws bad_alloc before anything is registered. PH_TIMEOUT: the range is stale still.
  ph_status add(void* base, std::uint64_t size_bytes);
  // PH_ERR_NOT_FOUND: just this range was not registered.
  ph_status remove(void* base, std::uint64_t size_bytes);
  // Valid until the range that was found is removed; null if none contains this one.
  const photon_buffer_priv_t* find(const void* base, std::uint64_t size_bytes);

  // After the context was finalized: no key means anything any more.
  void clear() noexcept;

 private:
  struct Range {
    std::uintptr_t base;
    std::uint64_t size_bytes;
    auto operator<=>(const Range&) const = default;
  };
  struct Entry {
    std::uint64_t count = 0;
    bool is_stale = false;
    photon_buffer_priv_t keys{};  // key0: the context's; handed out by address
  };

  ph_context* const context_;
  std::mutex mutex_;
  std::map<Range, Entry> entries_;  // under it
};

}  // namespace photon::classic
