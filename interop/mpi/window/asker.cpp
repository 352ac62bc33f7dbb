#include "interop/mpi/window/asker.hpp"

#include <chrono>
#include <cstring>
#include <new>

#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/own_thread.hpp"

namespace photon::mpi {

namespace {

constexpr std::int64_t kLookUs = 1000;  // while whoever may have died is waited for
// The thread of the target needs a core, too, so whoever waits for it soon sleeps.
constexpr std::chrono::microseconds kSpin{30};
constexpr std::chrono::microseconds kSpinCrowded{3};
constexpr std::chrono::microseconds kNap{200};

}  // namespace

bool Asker::begin(ph_context* lane) noexcept {
  lane_ = lane;
  carried_bytes_ = setting_of(job_.context(), "am_carried_max");
  return ph_am_register(lane, kAnswer, on_answer, this) == PH_OK;
}

// Operations of this lane ask for no completions, so what comes tells of a failure: what that rank
// was sent is not all there, and the next who flushes to it is told so.
void Asker::take_errors() noexcept {
  for (ph_u64_completion one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER); one.kind != 0;
       one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER)) {
    if (one.status >= 0) continue;
    const std::lock_guard guard(mutex_);
    try {
      broken_.insert(one.peer);
    } catch (const std::bad_alloc&) {  // then it is one that nobody hears of
    }
  }
}

ph_status Asker::on_answer(void* user, const ph_am_message* message, ph_am_landing* landing) {
  auto& asker = *static_cast<Asker*>(user);
  Answer answer;
  if (message->header_bytes != sizeof answer) return PH_ERR_ARGUMENT;
  std::memcpy(&answer, message->header, sizeof answer);
  Ticket* ticket = nullptr;
  {
    const std::lock_guard guard(asker.mutex_);
    const auto at = asker.tickets_.find(answer.ticket);
    if (at == asker.tickets_.end()) return PH_OK;  // nobody waits for it any more
    ticket = at->second;
    ticket->is_landing = true;
  }
  const auto status = static_cast<ph_status>(answer.status);
  if (status != PH_OK || message->payload_bytes != ticket->into.size()) {
    asker.over(*ticket, status != PH_OK ? status : PH_ERR_RANGE);
    return PH_OK;
  }
  if (message->payload_bytes == 0 || message->payload != nullptr) {
    if (message->payload_bytes != 0)
      std::memcpy(ticket->into.data(), message->payload, message->payload_bytes);
    asker.over(*ticket, status);
    return PH_OK;
  }
  landing->buffer = ticket->into.data();
  landing->buffer_bytes = ticket->into.size();
  landing->done = on_filled;
  landing->argument = ticket;
  return PH_OK;
}

ph_status Asker::on_filled(void* ticket, const ph_am_message* /*message*/, const ph_am_part* part) {
  auto& one = *static_cast<Ticket*>(ticket);
  if (part->is_last != 0) one.asker->over(one, part->status);
  return PH_OK;
}

void Asker::over(Ticket& ticket, ph_status status) noexcept {
  const std::lock_guard guard(mutex_);
  ticket.status = status;
  answered_.notify_all();
}

bool Asker::is_lost(ph_rank rank) noexcept {
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (ph_peer_state(lane_, rank, &state) != PH_OK) return true;
  return state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
}

bool Asker::wait(ph_request& request) noexcept {
  for (;;) {
    const ph_status status = ph_test(lane_, &request, nullptr);
    if (status == PH_OK) return true;
    if (status != PH_AGAIN) return false;
    job_.serve();
  }
}

// A payload that the library does not copy is lent until the target has read it.
bool Asker::tell(ph_rank to, const Request& request,
                 std::span<const ph_const_block> payload) noexcept {
  std::uint64_t bytes = 0;
  for (const ph_const_block& block : payload) bytes += block.size_bytes;
  ph_request lent = PH_REQUEST_NONE;
  return send(to, request, payload, bytes > carried_bytes_ ? &lent : nullptr) && wait(lent);
}

// `taken` may be null. Else it tells of the message's end, and whether the target has refused it.
bool Asker::send(ph_rank to, const Request& request, std::span<const ph_const_block> payload,
                 ph_request* taken) noexcept {
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kRequest;
  args.header = &request;
  args.header_bytes = sizeof request;
  args.blocks = payload.data();
  args.blocks_count = payload.size();
  args.request = taken;
  args.flags = taken != nullptr ? PH_DELIVERED : PH_NO_LCE;
  ph_status status = ph_am_send(lane_, to, &args);
  while (status == PH_AGAIN) {
    job_.serve();
    status = ph_am_send(lane_, to, &args);
  }
  return status == PH_OK;
}

bool Asker::ask(ph_rank to, Request request, std::span<const ph_const_block> payload,
                std::span<std::byte> into) noexcept {
  Ticket ticket{this, into};
  if (!enter(ticket, request)) return false;
  const bool is_told = send(to, request, payload, &ticket.taken);
  return await(ticket, is_told ? to : PH_ANY_RANK) && is_told;
}

bool Asker::ask_all(std::span<const ph_rank> to, const Request& request) noexcept {
  Ticket tickets[kAtOnce];
  bool is_told[kAtOnce] = {};
  bool is_done = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    Request one = request;
    is_told[i] = enter(tickets[i], one) && send(to[i], one, {}, &tickets[i].taken);
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    is_done = await(tickets[i], is_told[i] ? to[i] : PH_ANY_RANK) && is_told[i] && is_done;
  return is_done;
}

bool Asker::enter(Ticket& ticket, Request& request) noexcept {
  try {
    ticket.asker = this;
    const std::lock_guard guard(mutex_);
    tickets_.emplace(++last_ticket_, &ticket);
    ticket.number = request.ticket = last_ticket_;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// An answer that has begun to land is waited for in any case: the library says how it ends. One is
// hopeless where the target has refused the request, or has ended.
bool Asker::await(Ticket& ticket, ph_rank from) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto patient_until = Clock::now() + (job_.is_crowded() ? kSpinCrowded : kSpin);
  bool is_hopeless = from == PH_ANY_RANK;
  for (bool is_long = false;; is_long = is_long || Clock::now() > patient_until) {
    {
      std::unique_lock guard(mutex_);
      if (is_long && ticket.status == PH_AGAIN && !is_hopeless) answered_.wait_for(guard, kNap);
      if (ticket.status != PH_AGAIN || (is_hopeless && !ticket.is_landing)) {
        tickets_.erase(ticket.number);
        break;
      }
    }
    job_.serve();
    const ph_status taken = ph_test(lane_, &ticket.taken, nullptr);
    is_hopeless = is_hopeless || taken < 0 || (is_long && is_lost(from));
  }
  static_cast<void>(wait(ticket.taken));
  return ticket.status == PH_OK;
}

void Asker::poke(ph_rank to) noexcept {
  const Request request{.ask = Ask::poke};
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kRequest;
  args.header = &request;
  args.header_bytes = sizeof request;
  args.flags = PH_NO_LCE;
  static_cast<void>(ph_am_send(lane_, to, &args));
}

bool Asker::flush(ph_rank to) noexcept {
  for (;;) {
    const ph_status status = ph_flush(lane_, to, kLookUs);
    if (status == PH_OK) return true;
    if (status != PH_TIMEOUT && status != PH_AGAIN) return false;
    job_.serve();
  }
}

bool Asker::has_lost(ph_rank to) noexcept {
  take_errors();  // those that came in front of the answer to a flush
  const std::lock_guard guard(mutex_);
  return broken_.erase(to) != 0;
}

}  // namespace photon::mpi
