// Put and get with completion.
#include <cstring>

#include "compat/entry.hpp"
#include "compat/ids.hpp"

using photon::classic::bytes_of;
using photon::classic::current;
using photon::classic::Session;
using photon::classic::status_of;
using photon::classic::with_session;

namespace {

constexpr int kKnownFlags = PHOTON_REQ_PWC_NO_LCE | PHOTON_REQ_PWC_NO_RCE;

std::uint32_t flags_of(int flags) noexcept {
  std::uint32_t result = 0;
  if ((flags & PHOTON_REQ_PWC_NO_LCE) != 0) result |= PH_NO_LCE;
  if ((flags & PHOTON_REQ_PWC_NO_RCE) != 0) result |= PH_NO_RCE;
  return result;
}

void* data_of(photonBuffer buffer) noexcept {
  return buffer == nullptr ? nullptr : reinterpret_cast<void*>(buffer->addr);
}

ph_target target_of(photonBuffer buffer) noexcept {
  return buffer == nullptr ? ph_target{} : ph_target{buffer->addr, buffer->priv.key0};
}

// By value: who has their addresses taken lies in memory, also where nobody asks for it.
struct Ids {
  photon_cid local;
  photon_cid remote;
};

// Runs `post()`; a local id of 8 bytes that is given by its address is remembered as such.
template <class Post>
int post_known(Session& session, const photon_cid& local, int flags, Post post) {
  std::uint64_t word = 0;
  const bool is_word =
      local.size == sizeof word && local.data != nullptr && (flags & PHOTON_REQ_PWC_NO_LCE) == 0;
  if (is_word) {
    std::memcpy(&word, local.data, sizeof word);
    session.word_ids().add(word);
  }
  const ph_status status = post();
  if (is_word && status != PH_OK) session.word_ids().take(word);
  return status_of(status);
}

// With flags, or with ids that are no plain numbers. Apart, so that the others need no room for it.
[[gnu::noinline]] int put(ph_rank rank, ph_const_block source, ph_target target, Ids ids,
                          int flags) noexcept {
  return with_session([&](Session& session) {
    if (source.size_bytes == 0 && (flags & kKnownFlags) == PHOTON_REQ_PWC_NO_LCE &&
        ids.remote.size == 0)
      return status_of(ph_notify(session.context(), rank, ids.remote.u64));
    ph_put_args args{};
    args.size = sizeof args;
    args.source = source.data;
    args.size_bytes = source.size_bytes;
    args.target = target;
    args.local = bytes_of(ids.local);
    args.remote = bytes_of(ids.remote);
    args.flags = flags_of(flags);
    return post_known(session, ids.local, flags,
                      [&] { return ph_put(session.context(), rank, &args); });
  });
}

}  // namespace

extern "C" {

int photon_put_with_completion(int proc, uint64_t size, photonBuffer lbuf, photonBuffer rbuf,
                               photon_cid local, photon_cid remote, int flags) {
  const Session* session = current();
  if (session == nullptr) return PHOTON_ERROR_NOINIT;
  const auto rank = static_cast<ph_rank>(proc);
  const ph_const_block source{data_of(lbuf), size};
  if ((flags & kKnownFlags) != 0 || (local.size | remote.size) != 0)
    return put(rank, source, target_of(rbuf), {local, remote}, flags);
  return status_of(
      ph_put_u64(session->context(), rank, source, target_of(rbuf), {local.u64, remote.u64}));
}

int photon_get_with_completion(int proc, uint64_t size, photonBuffer lbuf, photonBuffer rbuf,
                               photon_cid local, photon_cid remote, int flags) {
  return with_session([&](Session& session) {
    ph_get_args args{};
    args.size = sizeof args;
    args.destination = data_of(lbuf);
    args.size_bytes = size;
    args.source = target_of(rbuf);
    args.local = bytes_of(local);
    args.remote = bytes_of(remote);
    args.flags = flags_of(flags);
    return post_known(session, local, flags,
                      [&] { return ph_get(session.context(), static_cast<ph_rank>(proc), &args); });
  });
}

}  // extern "C"
