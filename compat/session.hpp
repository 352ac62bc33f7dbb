// One rank of one job, from photon_init() to photon_finalize(): the context, and what the classic
// API keeps beside it.
//
//   open() -> [running] -- close() --> [finalized] -- destroyed by its ProcessSession
//
// Invariant: after close() every call on the context says PH_ERR_STATE, which is NOINIT here. Rids
// are unknown then: a late call with one is PHOTON_ERROR.
// Owner: its ProcessSession. Threads: any, but for open() and close(), which hold
// ProcessSession::changing.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "compat/back_pressure.hpp"
#include "compat/bounce_buffers.hpp"
#include "compat/collectives.hpp"
#include "compat/detached_requests.hpp"
#include "compat/exchange.hpp"
#include "compat/registrations.hpp"
#include "compat/requests.hpp"
#include "compat/unexpected_buffers.hpp"
#include "compat/word_ids.hpp"
#include "examples/coll_pwc/pwc_provider.hpp"

namespace photon::classic {

class Session {
 public:
  // Null after having said on stderr why.
  static std::unique_ptr<Session> open(photon_config_t& config);

  // `bounce_bytes`: sources up to this belong to their owner again when a put returns.
  Session(ph_context* context, std::unique_ptr<Exchange> exchange,
          std::uint64_t bounce_bytes) noexcept;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Writes this rank and the size to the configuration, as Exchange::tell() does; also at a second
  // init.
  void tell(photon_config_t& config) const noexcept { exchange_->tell(*this, config); }
  // finish(). The registrations and requests are gone then.
  int close() noexcept;
  // True when nothing that was posted needs this rank's memory, or its peers are lost; false: there
  // was no room to ask, or half of finalize_timeout_ms is over.
  bool settle() noexcept;
  // ph_finalize(), before which what was announced and not met is taken back: nobody will meet it.
  // Its status, but that this is no error.
  ph_status finish() noexcept;
  // This process is a fork's child, and the session is its parent's.
  bool is_of_parent() const noexcept;

  ph_context* context() const noexcept { return context_; }
  ph_rank rank() const noexcept { return rank_; }
  std::uint32_t size() const noexcept { return size_; }
  // Ids may have more than 8 bytes.
  bool has_long_ids() const noexcept { return has_long_ids_; }
  // No completion is anything but an operation's with a plain word for its id. Of one that is taken
  // after this was asked that holds for who finds it by ph_take_local_u64() only: it gives nothing
  // to a thread when another one has posted since.
  bool is_plain() const noexcept {
    return !has_long_ids_ && !collectives_.any() && !word_ids_.any();
  }
  std::uint64_t longest_id_bytes() const noexcept;
  // Of this session; another rank's, or a later one's, is another.
  std::uint64_t nonce() const noexcept { return nonce_; }

  Registrations& registrations() noexcept { return registrations_; }
  Requests& requests() noexcept { return requests_; }
  UnexpectedBuffers& unexpected_buffers() noexcept { return unexpected_buffers_; }
  DetachedRequests& detached() noexcept { return detached_; }
  BackPressure& back_pressure() noexcept { return back_pressure_; }
  Collectives& collectives() noexcept { return collectives_; }
  WordIds& word_ids() noexcept { return word_ids_; }
  BounceBuffers& bounce_buffers() noexcept { return bounce_buffers_; }
  const BounceBuffers& bounce_buffers() const noexcept { return bounce_buffers_; }

  // Says on stderr why a call failed: so many times, then only if the setting `log` is info or
  // debug, for who tries again and again. With a status: the context's words, if it is the latest.
  void complain(const char* call, const char* why) noexcept;
  void complain(const char* call, ph_status status) noexcept;

  Session* next_retired = nullptr;  // ProcessSession's

 private:
  ph_context* const context_;
  const ph_rank rank_;
  const std::uint32_t size_;
  const bool has_long_ids_;
  const bool says_all_;
  const std::uint64_t nonce_;
  const std::unique_ptr<Exchange> exchange_;
  Registrations registrations_;
  Requests requests_;
  UnexpectedBuffers unexpected_buffers_;
  DetachedRequests detached_;
  BackPressure back_pressure_;
  PwcProvider pwc_;  // for who wants it; its memory stays until the context is destroyed
  Collectives collectives_;
  WordIds word_ids_;
  BounceBuffers bounce_buffers_;
  std::mutex complaints_mutex_;
  unsigned complaints_count_ = 0;  // under it
};

}  // namespace photon::classic
