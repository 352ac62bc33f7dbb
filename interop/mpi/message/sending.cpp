// How a message leaves its sender.
#include <cstring>
#include <new>
#include <utility>

#include "interop/mpi/message/am_server.hpp"
#include "interop/mpi/message/head.hpp"
#include "interop/mpi/window/in_function.hpp"

namespace photon::mpi {

namespace {

constexpr std::int64_t kLookUs = 1000;  // at what others may need of this rank

void pack(const void* buffer, Elements elements, std::byte* to) noexcept {
  for (Cursor from(elements); from.bytes() != 0;) {
    const std::size_t bytes = from.bytes();
    std::memcpy(to, place_at(buffer, from.offset()), bytes);
    to += bytes;
    from.advance(bytes);
  }
}

bool is_loss(ph_status status) noexcept {
  return status == PH_ERR_PEER || status == PH_ERR_DEPARTED || status == PH_ERR_PROTOCOL;
}

Outcome outcome_of(ph_status status) noexcept {
  if (status == PH_OK) return {};
  if (status == PH_ERR_MEMORY) return {MPI_ERR_NO_MEM, "no memory for a message"};
  if (status == PH_AGAIN)
    return {MPI_ERR_OTHER, "a message that would have to wait, in an operation of the program"};
  return {MPI_ERR_OTHER, "the target of a message has ended, or cannot be reached"};
}

}  // namespace

// In a handler of this lane nothing has to wait. An operation of the program must not, either.
ph_status AmServer::post(ph_rank to, ph_am_args& args) noexcept {
  ph_status status = ph_am_send(lane_, to, &args);
  while (status == PH_AGAIN && !InFunction::is_here()) {
    serve();
    status = ph_am_send(lane_, to, &args);
  }
  return status;
}

// The thread takes the bytes back.
ph_status AmServer::send_lent(ph_rank to, ph_am_args& args,
                              std::vector<std::byte>&& bytes) noexcept {
  try {
    std::list<Lent> one(1);
    one.front().bytes = std::move(bytes);
    args.request = &one.front().request;
    const ph_status status = post(to, args);
    if (status != PH_OK) return status;
    const std::lock_guard guard(mutex_);
    lent_.splice(lent_.end(), one);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  ph_wake(lane_);
  return PH_OK;
}

// What the target says of the payload comes as news, too: here it is over alone.
ph_status AmServer::await(ph_request& request) noexcept {
  for (;;) {
    const ph_status status = ph_wait_request(lane_, &request, nullptr, kLookUs);
    if (is_refusal(status)) has_refused_.set(true);
    if (status != PH_TIMEOUT && status != PH_AGAIN) return is_loss(status) ? status : PH_OK;
    job_.serve();
  }
}

Outcome AmServer::send(Circle& circle, const Outgoing& message) noexcept {
  std::byte header[PH_AM_HEADER_BYTES];
  const Head head{circle.number, message.id, circle.own, {}};
  std::memcpy(header, &head, sizeof head);
  if (message.immediate_bytes != 0)
    std::memcpy(header + sizeof head, message.immediate, message.immediate_bytes);
  const Layout& layout = *message.elements.layout;
  const std::size_t bytes = message.elements.bytes();
  const bool is_lent = bytes > carried_bytes_;
  const bool stays = is_lent && InFunction::is_here();
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kMessage;
  args.header = header;
  args.header_bytes = sizeof head + message.immediate_bytes;
  args.payload = bytes == 0 ? nullptr : place_at(message.buffer, layout.first);
  args.payload_bytes = bytes;
  std::vector<std::byte> copy;
  if (bytes != 0 && (!layout.is_contiguous || stays)) {
    try {
      copy.resize(bytes);
    } catch (const std::bad_alloc&) {
      return outcome_of(PH_ERR_MEMORY);
    }
    pack(message.buffer, message.elements, copy.data());
    args.payload = copy.data();
  }
  circles_.count_sent(circle);
  ph_request request = PH_REQUEST_NONE;
  if (!is_lent) args.flags = PH_NO_LCE;
  if (is_lent) args.request = &request;
  const ph_status status =
      stays ? send_lent(message.to, args, std::move(copy)) : post(message.to, args);
  if (status != PH_OK) {
    circles_.end_unsent(circle);
    return outcome_of(status);
  }
  return request == PH_REQUEST_NONE ? Outcome{} : outcome_of(await(request));
}

}  // namespace photon::mpi
