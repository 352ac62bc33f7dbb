// Put and get with completion.
#include <cstring>

#include "compat/eager_payload.hpp"
#include "compat/entry.hpp"
#include "compat/ids.hpp"
#include "compat/matched_buffer.hpp"
#include "compat/with_room.hpp"

using photon::classic::bytes_of;
using photon::classic::current;
using photon::classic::find_eager;
using photon::classic::flags_of;
using photon::classic::is_eager;
using photon::classic::kNotEager;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::status_of;
using photon::classic::with_room;
using photon::classic::with_session;

namespace {

constexpr int kKnownFlags = PHOTON_REQ_PWC_NO_LCE | PHOTON_REQ_PWC_NO_RCE;

void* data_of(photonBuffer buffer) noexcept {
  return buffer == nullptr ? nullptr : reinterpret_cast<void*>(buffer->addr);
}

ph_target target_of(photonBuffer buffer) noexcept {
  return buffer == nullptr ? ph_target{} : ph_target{buffer->addr, buffer->priv.key0};
}

constexpr const char* kTooLong = "an id is longer than max_cid_size";

// Of an id that nobody is to get: its length still counts, and its bytes need not be there.
bool is_unwanted_and_too_long(const Session& session, const photon_cid& local,
                              const photon_cid& remote, int flags) noexcept {
  const auto is_it = [&](const photon_cid& id, int flag) {
    return (flags & flag) != 0 && id.size > sizeof id.u64 && id.size > session.longest_id_bytes();
  };
  return is_it(local, PHOTON_REQ_PWC_NO_LCE) || is_it(remote, PHOTON_REQ_PWC_NO_RCE);
}

// What puts and gets have in common; it refers to the ids.
template <class Args>
void name(Args& args, const photon_cid& local, const photon_cid& remote, int flags) noexcept {
  args.size = sizeof args;
  if ((flags & PHOTON_REQ_PWC_NO_LCE) == 0) args.local = bytes_of(local);
  if ((flags & PHOTON_REQ_PWC_NO_RCE) == 0) args.remote = bytes_of(remote);
  args.flags = flags_of(flags);
}

// Runs `post()`; a local id of 8 bytes that is given by its address is remembered as such.
template <class Post>
Said post_known(Session& session, const photon_cid& local, int flags, Post post) {
  std::uint64_t word = 0;
  const bool is_word =
      local.size == sizeof word && local.data != nullptr && (flags & PHOTON_REQ_PWC_NO_LCE) == 0;
  if (is_word) {
    std::memcpy(&word, local.data, sizeof word);
    session.word_ids().add(word);
  }
  const ph_status status = with_room(session, post);
  if (is_word && status != PH_OK) session.word_ids().take(word);
  return status;
}

// What a failed call says; apart, so that one which succeeds keeps nothing for it. Nor are its
// arguments there any more, so where detached requests gave their room it is the next call that has
// it.
[[gnu::noinline]] int refused(ph_status status) noexcept {
  Session* session = current();
  if (session == nullptr) return status_of(status);
  const auto again = [status] { return status; };
  const int said = status_of(with_room(*session, again));
  if (said == PHOTON_ERROR) session->complain("photon_put_with_completion", status);
  return said;
}

}  // namespace

extern "C" {

// With flags, with ids that are no plain numbers, or with a source to be copied here. Its arguments
// are those of the call that jumps here.
[[gnu::noinline]] static int photon_put_general(int proc, uint64_t size, photonBuffer lbuf,
                                                photonBuffer rbuf, photon_cid local,
                                                photon_cid remote, int flags) {
  return with_session("photon_put_with_completion", [&](Session& session) -> Said {
    const auto rank = static_cast<ph_rank>(proc);
    if (is_unwanted_and_too_long(session, local, remote, flags)) return Said(kTooLong);
    if (size == 0 && (flags & kKnownFlags) == PHOTON_REQ_PWC_NO_LCE && remote.size == 0)
      return with_room(session, [&] { return ph_notify(session.context(), rank, remote.u64); });
    ph_put_args args{};
    name(args, local, remote, flags);
    args.size_bytes = size;
    args.target = target_of(rbuf);
    const auto post = [&](const void* source) {
      args.source = source;
      return ph_put(session.context(), rank, &args);
    };
    const void* source = data_of(lbuf);
    return post_known(session, local, flags, [&] {
      return session.bounce_buffers().covers(size)
                 ? session.bounce_buffers().post(session.context(), rank, source, size, post)
                 : post(source);
    });
  });
}

// Flat, as photon_probe_completion() is.
[[gnu::flatten]] int photon_put_with_completion(int proc, uint64_t size, photonBuffer lbuf,
                                                photonBuffer rbuf, photon_cid local,
                                                photon_cid remote, int flags) {
  const Session* session = current();
  if (session == nullptr || (flags & kKnownFlags) != 0 || (local.size | remote.size) != 0 ||
      session->bounce_buffers().covers(size))
    return photon_put_general(proc, size, lbuf, rbuf, local, remote, flags);
  const ph_status status =
      ph_put_u64(session->context(), static_cast<ph_rank>(proc), {data_of(lbuf), size},
                 target_of(rbuf), {local.u64, remote.u64});
  if (status != PH_OK) [[unlikely]]
    return refused(status);
  return PHOTON_OK;
}

int photon_get_with_completion(int proc, uint64_t size, photonBuffer lbuf, photonBuffer rbuf,
                               photon_cid local, photon_cid remote, int flags) {
  return with_session("photon_get_with_completion", [&](Session& session) -> Said {
    if (is_unwanted_and_too_long(session, local, remote, flags)) return Said(kTooLong);
    if (rbuf == nullptr && size != 0) return Said("the place at the peer, rbuf, is null");
    ph_get_args args{};
    name(args, local, remote, flags);
    args.destination = data_of(lbuf);
    args.size_bytes = size;
    args.source = target_of(rbuf);
    if ((flags & PHOTON_REQ_PWC_NOTICE) != 0) args.flags |= PH_NOTICE_ACCEPTED;
    if (rbuf == nullptr || !is_eager(*rbuf, size))
      return post_known(session, local, flags, [&] {
        return ph_get(session.context(), static_cast<ph_rank>(proc), &args);
      });
    const auto matched = find_eager(session, proc, *rbuf);
    if (matched == nullptr) return Said(kNotEager);
    return post_known(session, local, flags,
                      [&] { return matched->get_at(session.context(), rbuf->addr, args); });
  });
}

}  // extern "C"
