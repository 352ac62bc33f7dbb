// Puts and gets by key, tested and waited for by rid.
#include <photon/vector.h>

#include "compat/eager_payload.hpp"
#include "compat/entry.hpp"
#include "compat/matched_buffer.hpp"
#include "compat/post_named.hpp"

using photon::classic::EagerPayloads;
using photon::classic::find_eager;
using photon::classic::is_eager;
using photon::classic::is_loss;
using photon::classic::kNotEager;
using photon::classic::post_named;
using photon::classic::Request;
using photon::classic::RequestType;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::with_session;

namespace {

ph_target target_of(const photon_buffer_t& buffer) noexcept {
  return {buffer.addr, buffer.priv.key0};
}

Request event_of(int proc, std::uint64_t size_bytes) {
  Request request;
  request.type = RequestType::event;
  request.peer = static_cast<ph_rank>(proc);
  request.size_bytes = size_bytes;
  return request;
}

}  // namespace

extern "C" {

int photon_post_os_put_direct(int proc, void* ptr, uint64_t size, photonBuffer rbuf, int,
                              photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_os_put_direct", [&](Session& session) -> Said {
    if (rbuf == nullptr) return Said("the place at the peer, rbuf, is null");
    ph_put_args args{};
    args.source = ptr;
    args.size_bytes = size;
    args.target = target_of(*rbuf);
    args.flags = PH_NO_RCE | PH_DELIVERED;
    return post_named(session, event_of(proc, size), request, args, [&](const ph_put_args& put) {
      return ph_put(session.context(), static_cast<ph_rank>(proc), &put);
    });
  });
}

int photon_post_os_get_direct(int proc, void* ptr, uint64_t size, photonBuffer rbuf, int,
                              photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_os_get_direct", [&](Session& session) -> Said {
    if (rbuf == nullptr) return Said("the place at the peer, rbuf, is null");
    ph_get_args args{};
    args.destination = ptr;
    args.size_bytes = size;
    args.source = target_of(*rbuf);
    args.flags = PH_NO_RCE;
    if (is_eager(*rbuf, size)) {
      const auto matched = find_eager(session, proc, *rbuf);
      if (matched == nullptr) return Said(kNotEager);
      return post_named(session, event_of(proc, size), request, args, [&](const ph_get_args& get) {
        return matched->get_at(session.context(), rbuf->addr, get);
      });
    }
    return post_named(session, event_of(proc, size), request, args, [&](const ph_get_args& get) {
      return ph_get(session.context(), static_cast<ph_rank>(proc), &get);
    });
  });
}

int photon_post_os_putv_direct(int proc, void* ptr[], uint64_t size[], photonBuffer rbuf[],
                               int nbuf, int, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_os_putv_direct", [&](Session& session) -> Said {
    if (ptr == nullptr || size == nullptr || rbuf == nullptr || nbuf < 1)
      return Said("an array is null, or there are no buffers");
    std::vector<ph_put_segment> pieces;
    std::uint64_t sum = 0;
    for (int i = 0; i < nbuf; ++i) {
      if (rbuf[i] == nullptr) return Said("a place at the peer, in rbuf, is null");
      pieces.push_back({ptr[i], size[i], target_of(*rbuf[i])});
      sum += size[i];
    }
    ph_put_vector_args args{};
    args.segments = pieces.data();
    args.segments_count = pieces.size();
    args.flags = PH_NO_RCE | PH_DELIVERED;
    return post_named(session, event_of(proc, sum), request, args,
                      [&](const ph_put_vector_args& put) {
                        return ph_put_vector(session.context(), static_cast<ph_rank>(proc), &put);
                      });
  });
}

int photon_post_os_getv_direct(int proc, void* ptr[], uint64_t size[], photonBuffer rbuf[],
                               int nbuf, int, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_os_getv_direct", [&](Session& session) -> Said {
    if (ptr == nullptr || size == nullptr || rbuf == nullptr || nbuf < 1)
      return Said("an array is null, or there are no buffers");
    std::vector<ph_get_segment> pieces;
    EagerPayloads brought;
    std::uint64_t sum = 0;
    for (int i = 0; i < nbuf; ++i) {
      if (rbuf[i] == nullptr) return Said("a place at the peer, in rbuf, is null");
      sum += size[i];
      pieces.push_back({ptr[i], size[i], target_of(*rbuf[i])});
      if (!is_eager(*rbuf[i], size[i])) continue;
      const Said said = brought.read(session, proc, *rbuf[i], {ptr[i], size[i]});
      if (said.status != PHOTON_OK) return said;
      pieces.back() = {};
    }
    ph_get_vector_args args{};
    args.segments = pieces.data();
    args.segments_count = pieces.size();
    args.flags = PH_NO_RCE;
    return post_named(session, event_of(proc, sum), request, args,
                      [&](const ph_get_vector_args& get) {
                        const ph_status status =
                            ph_get_vector(session.context(), static_cast<ph_rank>(proc), &get);
                        const bool is_here = brought.size() == pieces.size() && is_loss(status);
                        if (status != PH_OK && !is_here) return status;
                        brought.hand_out();
                        return PH_OK;
                      });
  });
}

}  // extern "C"
