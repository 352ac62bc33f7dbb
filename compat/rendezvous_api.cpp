// Rendezvous: buffers announced, met, filled or read, and finished.
//
//   announced: a rid of type ledger, over when the peer has sent its FIN
//   met:       a rid of type event, over when what was posted under it has landed; gone when it
//              is over and its FIN was sent
#include "compat/eager_payload.hpp"
#include "compat/entry.hpp"
#include "compat/matched_buffer.hpp"
#include "compat/post_named.hpp"
#include "compat/reach.hpp"
#include "compat/take_request.hpp"
#include "compat/with_room.hpp"

using photon::classic::describe_eager;
using photon::classic::let_go;
using photon::classic::MatchedBuffer;
using photon::classic::post_named;
using photon::classic::reach;
using photon::classic::Request;
using photon::classic::RequestType;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::UnexpectedBuffers;
using photon::classic::with_room;
using photon::classic::with_session;

namespace {

// Old tags are ints. What is announced under a negative one is met by who takes any.
std::uint64_t tag_of(int tag) noexcept { return static_cast<std::uint32_t>(tag); }

ph_match match_of(ph_buffer_kind kind, int proc, std::uint64_t size_bytes, int tag) noexcept {
  return {kind, static_cast<ph_rank>(proc), tag < 0 ? PH_ANY_TAG : tag_of(tag), size_bytes};
}

struct Announced {
  ph_buffer_kind kind;
  void* data;
  std::uint64_t size_bytes;
  int tag;
};

Said announce(Session& session, int proc, const Announced& what, photon_rid* rid) {
  Request request;
  // Of the wish to send nobody says that it is over: it is when it was said.
  request.type = what.kind == PH_SEND_REQUEST ? RequestType::event : RequestType::ledger;
  request.peer = static_cast<ph_rank>(proc);
  request.tag = what.tag;
  request.size_bytes = what.size_bytes;
  ph_announce_args args{};
  args.kind = what.kind;
  args.tag = tag_of(what.tag);
  args.buffer = what.data;
  args.size_bytes = what.size_bytes;
  session.detached().reap(session.context());
  return post_named(session, request, rid, args, [&](const ph_announce_args& given) {
    return ph_announce(session.context(), static_cast<ph_rank>(proc), &given);
  });
}

// Why a wait ended without what was waited for: the context met no error, but nobody is left.
Said in_vain(ph_status status) {
  if (status == PH_ERR_DEPARTED) return Said("the rank that could announce it has finalized");
  if (status == PH_ERR_PEER) return Said("no rank that could announce it lives");
  return status;
}

Said meet(Session& session, const ph_match& match, photon_rid* rid) {
  if (rid == nullptr) return Said("the place for the rid is null: it is finished by its name");
  Request request;
  request.matched =
      std::make_shared<MatchedBuffer>();  // what was met is never lost for want of memory
  const photon_rid name = session.requests().reserve();
  ph_buffer buffer{};
  const ph_status status = session.unexpected_buffers().meet(session, match, buffer);
  if (status != PH_OK) {
    session.requests().remove(name);
    return in_vain(status);
  }
  request.matched->begin(buffer);
  request.type = RequestType::event;
  request.peer = buffer.rank;
  request.tag = static_cast<int>(buffer.tag);
  request.size_bytes = buffer.size_bytes;
  session.requests().change(name, request);
  *rid = name;
  return PHOTON_OK;
}

// Runs `call(matched buffer)` on what `rid` has met with `proc` (or PHOTON_ANY_SOURCE: whoever it
// is).
template <class Call>
Said with_matched(Session& session, photon_rid rid, int proc, Call call) {
  const auto request = session.requests().find(rid);
  if (!request || request->matched == nullptr) return Said("the rid names no buffer that was met");
  const auto rank = static_cast<ph_rank>(proc);
  if (rank != PH_ANY_RANK && rank != request->peer)
    return Said("the buffer was announced by another rank than proc");
  return call(*request->matched);
}

ph_match wish_to_send(int tag) noexcept {
  return match_of(PH_SEND_REQUEST, PHOTON_ANY_SOURCE, PH_ANY_SIZE, tag);
}

// The rank that has asked for a place, or -1.
int wait_for_sender(Session& session, int tag) {
  ph_buffer asked{};
  if (session.unexpected_buffers().meet(session, wish_to_send(tag), asked) != PH_OK) return -1;
  return static_cast<int>(asked.rank);
}

// What a peer has asked for, until it is answered: else the next call finds it again.
class Asked {
 public:
  explicit Asked(Session& session) noexcept : session_(session) {}
  ~Asked() { session_.unexpected_buffers().settle(loan_, is_answered_); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  ph_status wait(int tag) {
    return session_.unexpected_buffers().borrow(session_, wish_to_send(tag), loan_);
  }
  ph_rank rank() const noexcept { return loan_.buffer.rank; }
  void answered() noexcept { is_answered_ = true; }

 private:
  Session& session_;
  UnexpectedBuffers::Loan loan_;
  bool is_answered_ = false;
};

// Announces to the rank that has asked by photon_post_send_request_rdma().
Said announce_to_sender(Session& session, const Announced& what, photon_rid* rid) {
  if (what.data == nullptr && what.size_bytes != 0) return Said("the buffer is null");
  Asked asked(session);
  if (const ph_status status = asked.wait(what.tag); status != PH_OK) return in_vain(status);
  const Said said = announce(session, static_cast<int>(asked.rank()), what, rid);
  // Who is gone has no use for an answer.
  if (said.status == PHOTON_OK || reach(session.context(), asked.rank()) != PH_OK) asked.answered();
  return said;
}

}  // namespace

extern "C" {

int photon_post_recv_buffer_rdma(int proc, void* ptr, uint64_t size, int tag, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_recv_buffer_rdma", [&](Session& session) -> Said {
    const Announced what{PH_RECV_BUFFER, ptr, size, tag};
    if (proc == PHOTON_ANY_SOURCE) return announce_to_sender(session, what, request);
    return announce(session, proc, what, request);
  });
}

int photon_post_send_buffer_rdma(int proc, void* ptr, uint64_t size, int tag, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_send_buffer_rdma", [&](Session& session) -> Said {
    return announce(session, proc, {PH_SEND_BUFFER, ptr, size, tag}, request);
  });
}

int photon_post_send_request_rdma(int proc, uint64_t size, int tag, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_post_send_request_rdma", [&](Session& session) -> Said {
    return announce(session, proc, {PH_SEND_REQUEST, nullptr, size, tag}, request);
  });
}

int photon_wait_recv_buffer_rdma(int proc, uint64_t size, int tag, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_wait_recv_buffer_rdma", [&](Session& session) -> Said {
    return meet(session, match_of(PH_RECV_BUFFER, proc, size, tag), request);
  });
}

int photon_wait_send_buffer_rdma(int proc, uint64_t size, int tag, photon_rid* request) {
  if (request != nullptr) *request = 0;
  return with_session("photon_wait_send_buffer_rdma", [&](Session& session) -> Said {
    return meet(session, match_of(PH_SEND_BUFFER, proc, size, tag), request);
  });
}

int photon_wait_send_request_rdma(int tag) {
  return with_session("photon_wait_send_request_rdma",
                      [&](Session& session) -> Said { return wait_for_sender(session, tag); });
}

int photon_get_buffer_remote(photon_rid request, photonBuffer ret_buf) {
  return with_session("photon_get_buffer_remote", [&](Session& session) -> Said {
    if (ret_buf == nullptr) return Said("the place for the buffer is null");
    return with_matched(session, request, PHOTON_ANY_SOURCE, [&](MatchedBuffer& matched) {
      const ph_buffer& met = matched.buffer();
      if (met.data != nullptr && matched.is_finished())
        return Said("the small buffer that was met is finished");
      *ret_buf = met.data != nullptr
                     ? describe_eager(session, matched, request)
                     : photon_buffer_t{met.target.address, met.size_bytes, {met.target.key, 0}};
      return Said(PHOTON_OK);
    });
  });
}

int photon_post_os_put(photon_rid request, int proc, void* ptr, uint64_t size, int,
                       uint64_t r_offset) {
  return with_session("photon_post_os_put", [&](Session& session) -> Said {
    return with_matched(session, request, proc, [&](MatchedBuffer& matched) {
      return with_room(session, [&] {
        return matched.put(session.context(), {ptr, size}, r_offset);
      });
    });
  });
}

int photon_post_os_get(photon_rid request, int proc, void* ptr, uint64_t size, int,
                       uint64_t r_offset) {
  return with_session("photon_post_os_get", [&](Session& session) -> Said {
    return with_matched(session, request, proc, [&](MatchedBuffer& matched) {
      return with_room(session, [&] {
        return matched.get(session.context(), {ptr, size}, r_offset);
      });
    });
  });
}

int photon_probe_ledger(int proc, int* flag, int type, photonStatus status) {
  if (flag != nullptr) *flag = 0;
  return with_session("photon_probe_ledger", [&](Session& session) -> Said {
    if (type != PHOTON_SEND_LEDGER && type != PHOTON_RECV_LEDGER)
      return Said("type is neither PHOTON_SEND_LEDGER nor PHOTON_RECV_LEDGER");
    const auto look = [&](ph_buffer_kind kind, ph_buffer& seen) {
      const ph_match match = match_of(kind, proc, PH_ANY_SIZE, PHOTON_ANY_TAG);
      return session.unexpected_buffers().see(session.context(), match, seen);
    };
    ph_buffer seen{};
    ph_status found = look(type == PHOTON_SEND_LEDGER ? PH_SEND_BUFFER : PH_RECV_BUFFER, seen);
    if (found != PH_OK && type == PHOTON_SEND_LEDGER) found = look(PH_SEND_REQUEST, seen);
    if (found == PH_ERR_STATE) return PHOTON_ERROR_NOINIT;
    if (found != PH_OK) return PHOTON_ERROR;
    if (flag != nullptr) *flag = 1;
    if (status == nullptr) return PHOTON_OK;
    *status = {};
    status->src_addr.global.proc_id = seen.rank;
    status->size = seen.size_bytes;
    status->tag = static_cast<int>(seen.tag);
    status->count = 1;
    return PHOTON_OK;
  });
}

int photon_send_FIN(photon_rid request, int proc, int flags) {
  return with_session("photon_send_FIN", [&](Session& session) -> Said {
    return with_matched(session, request, proc, [&](MatchedBuffer& matched) {
      session.detached().reap(session.context());
      const ph_status status = matched.finish(session.context());
      if (!matched.is_finished()) return status;
      // Who was told that the transfers are over does not ask again.
      const bool is_silent = matched.pending() == PH_REQUEST_NONE && !matched.has_news();
      if (is_silent || (flags & PHOTON_REQ_COMPLETED) != 0)
        static_cast<void>(let_go(session, request, matched));
      return status;
    });
  });
}

}  // extern "C"
