// A buffer that a peer announced and this rank has met: what the program puts into it or gets from
// it under its rid, and the FIN.
//
//   met -- put(), get() --> transfers under way -- all ended() --> news -- tell() --> met
//   met, or any -- finish() --> finished: no more transfers; those under way end as they do
//   finished -- leave() --> gone: those under way are nobody's here
//
// Invariant: a finished one without transfers and news has nothing left to say: its rid goes.
// Owner: its entry in the session's requests, and who looks at it just then. Any thread; its lock
// is held over posts, which never block, and never over a wait. Locks: its own, then that of the
// detached requests or of the requests.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <mutex>
#include <vector>

namespace photon::classic {

class Requests;
class DetachedRequests;

// The peer can take no operation any more.
bool is_loss(ph_status status) noexcept;

class MatchedBuffer {
 public:
  MatchedBuffer() = default;
  MatchedBuffer(const MatchedBuffer&) = delete;
  MatchedBuffer& operator=(const MatchedBuffer&) = delete;

  // Before anybody else can find it.
  void begin(const ph_buffer& buffer) noexcept { buffer_ = buffer; }
  const ph_buffer& buffer() const noexcept { return buffer_; }

  // From its byte `offset` on. Throw bad_alloc before anything is posted.
  ph_status put(ph_context* context, ph_const_block source, std::uint64_t offset);
  // Also of an owner that is gone, if the bytes came along.
  ph_status get(ph_context* context, ph_block destination, std::uint64_t offset);
  // The same for who has an address in the copy that is here, and arguments of its own; of an owner
  // that is gone only where nobody is to hear of it by an id.
  ph_status get_at(ph_context* context, std::uint64_t address, const ph_get_args& args);
  // Its bytes that came along, from `address` in the copy that is here. PH_ERR_RANGE: they leave
  // it. Until it is finished: then PH_ERR_NOT_FOUND.
  ph_status read(std::uint64_t address, ph_block destination);
  // The owner gets it back after the transfers. Errors as ph_finish().
  ph_status finish(ph_context* context);

  bool is_finished();
  // A transfer that is under way, or PH_REQUEST_NONE.
  ph_request pending();
  // Its rid goes, as one step for whoever looks: what is under way goes on detached. False: the
  // rid was gone before. Throws bad_alloc before anything is changed.
  bool leave(DetachedRequests& detached, Requests& requests, photon_rid rid);
  // It is, as the context said. False: another thread has said so before.
  bool ended(ph_request handle, ph_status status);
  // Transfers are over, and nobody was told.
  bool has_news();
  // How they ended: PH_OK, or the first error.
  ph_status tell();

 private:
  template <class Args, class Post>
  ph_status post(Args& args, Post post);

  ph_buffer buffer_{};
  std::mutex mutex_;
  std::vector<ph_request> transfers_;  // under it, as is:
  bool has_news_ = false;
  bool is_finished_ = false;
  ph_status worst_ = PH_OK;
};

}  // namespace photon::classic
