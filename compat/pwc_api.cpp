// Put and get with completion.
#include "compat/entry.hpp"
#include "compat/ids.hpp"

using photon::classic::bytes_of;
using photon::classic::current;
using photon::classic::Session;
using photon::classic::status_of;

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

}  // namespace

extern "C" {

int photon_put_with_completion(int proc, uint64_t size, photonBuffer lbuf, photonBuffer rbuf,
                               photon_cid local, photon_cid remote, int flags) {
  Session* session = current();
  if (session == nullptr) return PHOTON_ERROR_NOINIT;
  const auto rank = static_cast<ph_rank>(proc);
  if ((flags & kKnownFlags) == 0 && (local.size | remote.size) == 0) [[likely]]
    return status_of(ph_put_u64(session->context(), rank, {data_of(lbuf), size}, target_of(rbuf),
                                {local.u64, remote.u64}));
  ph_put_args args{};
  args.size = sizeof args;
  args.source = data_of(lbuf);
  args.size_bytes = size;
  args.target = target_of(rbuf);
  args.local = bytes_of(local);
  args.remote = bytes_of(remote);
  args.flags = flags_of(flags);
  return status_of(ph_put(session->context(), rank, &args));
}

int photon_get_with_completion(int proc, uint64_t size, photonBuffer lbuf, photonBuffer rbuf,
                               photon_cid local, photon_cid remote, int flags) {
  Session* session = current();
  if (session == nullptr) return PHOTON_ERROR_NOINIT;
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = data_of(lbuf);
  args.size_bytes = size;
  args.source = target_of(rbuf);
  args.local = bytes_of(local);
  args.remote = bytes_of(remote);
  args.flags = flags_of(flags);
  return status_of(ph_get(session->context(), static_cast<ph_rank>(proc), &args));
}

}  // extern "C"
