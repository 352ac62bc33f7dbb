// photon_probe_completion().
//
//   found    callback gets                 *comp becomes
//   LOCAL    u64, or n bytes as given      the same
//   REMOTE   n bytes; a u64 is 8 of them   u64 if n is 8, else n bytes
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "compat/entry.hpp"
#include "compat/warn.hpp"

using photon::classic::current;
using photon::classic::Session;
using photon::classic::status_of;
using photon::classic::Told;
using photon::classic::warn;

namespace {

using Callback = void (*)(photon_cid);

constexpr const char* kCall = "photon_probe_completion";
constexpr std::uint32_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kWordsBytes = 160;  // of a line on stderr

// Where the caller of a probe wants to be told what; each may be null.
struct Answer {
  int* flag;
  int* remaining;
  photon_cid* comp;
  int* src;
  Callback cb;
};

// Bytes of a thread's latest long id, which *comp points to until its next probe. Null: no memory.
std::byte* room_of_thread() noexcept {
  static thread_local std::unique_ptr<std::byte[]> room;
  if (room == nullptr) room.reset(new (std::nothrow) std::byte[PH_MAX_ID_BYTES]);
  return room.get();
}

// A collective's id comes whichever rank is asked for, so it counts for each; as an operation of
// this rank with itself it does not.
int remaining_of(Session& session, int proc) {
  std::uint64_t count = 0;
  auto& all = session.collectives();
  const auto rank = static_cast<ph_rank>(proc);
  std::size_t own = all.under_way();
  for (std::size_t before = own + 1; before != own;) {  // until none has ended meanwhile
    before = own;
    static_cast<void>(ph_outstanding(session.context(), rank, &count));
    all.progress();
    own = all.under_way();
  }
  if (rank == PH_ANY_RANK || rank == session.rank()) count -= std::min<std::uint64_t>(count, own);
  return static_cast<int>(count + all.untold());
}

photon_cid word(std::uint64_t value) noexcept {
  photon_cid id{};
  id.u64 = value;
  return id;
}

photon_cid bytes(void* data, std::uint32_t size_bytes) noexcept {
  photon_cid id{};
  id.data = data;
  id.size = size_bytes;
  return id;
}

// An operation that nobody asked after has failed: it has no id to be told, but an error.
int tell_nameless(const Answer& answer, const ph_completion& found) {
  char words[kWordsBytes];
  std::snprintf(words, sizeof words, "an operation to rank %u that was posted without a rid: %s",
                found.peer, ph_status_text(found.status));
  warn(kCall, words);
  if (answer.comp != nullptr) *answer.comp = word(0);
  return PHOTON_ERROR;
}

// What a probe returns of a status: of an operation with `peer`, or its own (PH_ANY_RANK).
[[gnu::noinline]] int complain(Session& session, ph_status status, ph_rank peer) noexcept {
  const int said = status_of(status);
  if (said != PHOTON_ERROR) return said;
  if (peer == PH_ANY_RANK) {
    session.complain(kCall, status);
    return said;
  }
  char words[kWordsBytes];
  std::snprintf(words, sizeof words, "an operation with rank %u: %s", peer, ph_status_text(status));
  session.complain(kCall, words);
  return said;
}
int told(Session& session, ph_status status, ph_rank peer) noexcept {
  return status == PH_OK ? PHOTON_OK : complain(session, status, peer);
}

// `own`: the id's bytes, in the frame of this probe, since a callback may probe too. *comp is set
// when that is over, so that it is valid until the next.
int tell(Session& session, int proc, const Answer& answer, const ph_completion& found,
         std::byte* own) {
  const bool is_remote = found.kind == PH_REMOTE;
  if (!is_remote && found.id_size_bytes == 0) return tell_nameless(answer, found);
  if (found.long_id == nullptr) std::memcpy(own, &found.id, kWordBytes);
  const bool is_word =
      found.id_size_bytes == kWordBytes && (is_remote || !session.word_ids().take(found.id));
  if (answer.flag != nullptr) *answer.flag = 1;
  if (answer.src != nullptr) *answer.src = is_remote ? static_cast<int>(found.peer) : proc;
  if (answer.cb != nullptr)
    answer.cb(is_word && !is_remote ? word(found.id) : bytes(own, found.id_size_bytes));
  if (answer.comp != nullptr && is_word) *answer.comp = word(found.id);
  if (answer.comp != nullptr && !is_word) {
    std::byte* room = room_of_thread();
    if (room == nullptr) return PHOTON_ERROR;
    std::memcpy(room, own, found.id_size_bytes);
    *answer.comp = bytes(room, found.id_size_bytes);
  }
  return told(session, found.status, found.peer);
}

// A collective that is over, told as a local completion. The probe serves peers as any other.
int tell_collective(Session& session, int proc, const Answer& answer, const Told& told) {
  std::byte own[PH_MAX_ID_BYTES];
  std::size_t count = 0;
  static_cast<void>(
      ph_probe(session.context(), {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count));
  if (answer.remaining != nullptr) *answer.remaining = remaining_of(session, proc);
  ph_completion found{};
  found.kind = PH_LOCAL;
  found.id_size_bytes = static_cast<std::uint32_t>(told.id.size());
  found.status = told.status;
  std::memcpy(&found.id, told.id.data(), std::min<std::size_t>(told.id.size(), kWordBytes));
  if (told.id.size() > kWordBytes) {
    std::memcpy(own, told.id.data(), told.id.size());
    found.long_id = own;
  }
  // As for a put: a word that was given by its address is told as bytes.
  if (told.id.size() == kWordBytes && !told.id_is_word) session.word_ids().add(found.id);
  return tell(session, proc, answer, found, own);
}

// What is asked for seldom, or is seldom met: a callback, the count, ids that are no words,
// collectives.
[[gnu::noinline]] int probe_any(Session& session, int proc, const Answer& answer,
                                std::uint32_t kinds) {
  std::byte own[PH_MAX_ID_BYTES];
  if (session.collectives().any()) {
    session.collectives().progress();
    if ((kinds & PH_LOCAL) != 0)
      if (const auto over = session.collectives().take_over())
        return tell_collective(session, proc, answer, *over);
  }
  const ph_query query{static_cast<ph_rank>(proc), kinds, own};
  ph_completion found{};
  std::size_t count = 0;
  const ph_status status = ph_probe(session.context(), query, &found, 1, &count);
  if (answer.remaining != nullptr) *answer.remaining = remaining_of(session, proc);
  if (count != 0) return tell(session, proc, answer, found, own);
  if (answer.comp != nullptr) *answer.comp = word(0);
  return told(session, status, PH_ANY_RANK);
}

// Of an operation that went well, its id a plain word: told without more ado.
[[gnu::always_inline]] inline int tell_plain(int* flag, photon_cid* comp, int* src, int from,
                                             std::uint64_t id) noexcept {
  if (comp != nullptr) {
    // By one store, which stands for its padding, too.
    using Words [[gnu::vector_size(sizeof(photon_cid))]] = std::uint64_t;
    const Words words = {id, 0};
    std::memcpy(comp, &words, sizeof words);
  }
  if (flag != nullptr) *flag = 1;
  if (src != nullptr) *src = from;
  return PHOTON_OK;
}

// What ph_probe_u64() has not found, or found and is not plain.
[[gnu::noinline]] int tell_other(Session& session, int proc, const Answer& answer,
                                 const ph_u64_completion& found) {
  if (found.kind == 0) {
    if (answer.comp != nullptr) *answer.comp = word(found.id);
    return told(session, static_cast<ph_status>(found.status), found.peer);
  }
  std::byte own[kWordBytes];
  ph_completion full{};
  full.id = found.id;
  full.id_size_bytes = found.id_size_bytes;
  full.kind = found.kind;
  full.peer = found.peer;
  full.status = static_cast<ph_status>(found.status);
  return tell(session, proc, answer, full, own);
}

}  // namespace

extern "C" {

// All of photon_probe_completion(), whose arguments these are.
[[gnu::noinline]] static int photon_probe_general(int proc, int* flag, int* remaining,
                                                  photon_cid* comp, int* src,
                                                  void (*cb)(photon_cid), int flags) {
  if (flag != nullptr) *flag = 0;
  Session* session = current();
  if (session == nullptr) return photon::classic::without_session(kCall);
  const auto kinds = static_cast<std::uint32_t>(flags) & PH_EITHER;
  const Answer answer{flag, remaining, comp, src, cb};
  if (remaining != nullptr || cb != nullptr || session->has_long_ids() ||
      session->collectives().any())
    return probe_any(*session, proc, answer, kinds);
  const auto found = ph_probe_u64(session->context(), static_cast<ph_rank>(proc), kinds);
  if (found.kind != 0 && found.status == PH_OK && found.id_size_bytes == kWordBytes &&
      !session->word_ids().any()) [[likely]]
    return tell_plain(flag, comp, src,
                      found.kind == PH_REMOTE ? static_cast<int>(found.peer) : proc, found.id);
  const ph_u64_completion other = found;  // in memory from here on, not from the call on
  return tell_other(*session, proc, answer, other);
}

// A program calls it once a completion, and where lines are under way to a peer each store is one
// more to wait for: so a LOCAL one that lies at hand is told without a frame, which is nothing but
// stores. Flat: ph_take_local_u64() is inlined.
[[gnu::flatten]] int photon_probe_completion(int proc, int* flag, int* remaining, photon_cid* comp,
                                             int* src, void (*cb)(photon_cid), int flags) {
  Session* session = current();
  if (remaining != nullptr || session == nullptr || !session->is_plain() || cb != nullptr)
    return photon_probe_general(proc, flag, remaining, comp, src, cb, flags);
  std::uint64_t id = 0;
  if ((flags & PHOTON_PROBE_EVQ) == 0 ||
      ph_take_local_u64(session->context(), static_cast<ph_rank>(proc), &id) == 0)
    return photon_probe_general(proc, flag, nullptr, comp, src, nullptr, flags);
  return tell_plain(flag, comp, src, proc, id);
}

}  // extern "C"
