#include "interop/mpi/window/server.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

constexpr std::uint32_t kLane = 1;
constexpr std::uint32_t kRequest = 1;
constexpr std::uint32_t kAnswer = 2;
constexpr std::int64_t kLookUs =
    1000;  // while a lock waits, or whoever may have died is waited for
// The thread of the target needs a core, too, so whoever waits for it soon sleeps.
constexpr std::chrono::microseconds kSpin{30};
constexpr std::chrono::microseconds kSpinCrowded{3};
constexpr std::chrono::microseconds kNap{200};

std::uint64_t setting_of(ph_context* context, const char* name) noexcept {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, name) == 0) return std::strtoull(setting.value, nullptr, 10);
  return 0;
}

}  // namespace

std::unique_ptr<Server> Server::open(Job& job, ph_error& why) {
  std::unique_ptr<Server> server(new Server(job));
  if (!server->begin(why)) return nullptr;
  return server;
}

bool Server::begin(ph_error& why) {
  if (ph_lane_open(job_.context(), kLane, &lane_) != PH_OK ||
      ph_am_register(lane_, kRequest, on_request, this) != PH_OK ||
      ph_am_register(lane_, kAnswer, on_answer, this) != PH_OK) {
    ph_last_error(job_.context(), &why);
    return false;
  }
  carried_bytes_ = setting_of(job_.context(), "am_carried_max");
  // Signals are for the program's threads.
  sigset_t all;
  sigset_t own;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &own);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    why.status = PH_ERR_SYSTEM;
    std::strncpy(why.text, "no thread can be started", sizeof why.text - 1);
  }
  ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
  return thread_.joinable();
}

Server::~Server() {
  if (thread_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      is_ending_ = true;
    }
    ph_wake(lane_);
    thread_.join();
  }
  if (lane_ != nullptr) ph_lane_close(lane_);
}

void Server::run() noexcept {
  while (do_turn()) take_errors();
}

// False: it ends.
bool Server::do_turn() noexcept {
  const Left left = do_all();
  take_back_lent();
  {
    const std::lock_guard guard(mutex_);
    if (is_ending_) return false;
  }
  if (left == Left::more) {
    static_cast<void>(ph_am_poll(lane_, 0));
    return true;
  }
  const bool looks = left == Left::waits || !lent_.empty();
  const ph_status status =
      ph_wait(lane_, {PH_ANY_RANK, PH_EITHER, nullptr}, looks ? kLookUs : PH_FOREVER);
  if (status == PH_OK || status == PH_TIMEOUT) return true;
  std::unique_lock guard(mutex_);  // nobody is left who could send
  answered_.wait_for(guard, std::chrono::milliseconds(1));
  return true;
}

// Operations of this lane ask for no completions, so what comes tells of a failure: what that rank
// was sent is not all there, and whoever waits for it is told so.
void Server::take_errors() noexcept {
  for (ph_u64_completion one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER); one.kind != 0;
       one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER)) {
    if (one.status >= 0) continue;
    const std::lock_guard guard(mutex_);
    try {
      broken_.emplace(one.peer, static_cast<ph_status>(one.status));
    } catch (const std::bad_alloc&) {  // then it is one that nobody hears of
    }
    answered_.notify_all();
  }
}

bool Server::enter(std::uint64_t number, Window& window) {
  const std::lock_guard guard(mutex_);
  return windows_.try_emplace(number, Entry{&window}).second;
}

void Server::leave(std::uint64_t number) noexcept {
  std::unique_lock guard(mutex_);
  const auto at = windows_.find(number);
  if (at == windows_.end()) return;
  answered_.wait(guard, [&] { return at->second.users == 0; });
  windows_.erase(at);
  for (auto& [from, queue] : queues_) queue.failed.erase(number);
}

Server::Use::Use(Server& server, std::uint64_t number) noexcept : server_(server) {
  const std::lock_guard guard(server.mutex_);
  const auto at = server.windows_.find(number);
  if (at == server.windows_.end()) return;
  entry_ = &at->second;
  ++entry_->users;
}

Server::Use::~Use() {
  if (entry_ == nullptr) return;
  const std::lock_guard guard(server_.mutex_);
  if (--entry_->users == 0) server_.answered_.notify_all();
}

// ---- what arrives

ph_status Server::on_request(void* user, const ph_am_message* message, ph_am_landing* landing) {
  auto& server = *static_cast<Server*>(user);
  Request request;
  if (message->header_bytes != sizeof request) return PH_ERR_ARGUMENT;
  std::memcpy(&request, message->header, sizeof request);
  if (request.ask == Ask::poke) {
    server.look();
    return PH_OK;
  }
  if (request.ask >= Ask::round) {
    const Use use(server, request.window);
    if (use.window() == nullptr || message->payload_bytes != 0) return PH_ERR_ARGUMENT;
    server.do_count(*use.window(), request);
    return PH_OK;
  }
  try {
    auto asked = std::make_unique<Asked>();
    asked->request = request;
    asked->from = message->source;
    asked->payload.resize(message->payload_bytes);
    Asked& queued = *asked;
    {
      const std::lock_guard guard(server.mutex_);
      server.queues_[message->source].asked.push_back(std::move(asked));
    }
    if (message->payload_bytes == 0 || message->payload != nullptr) {
      if (message->payload_bytes != 0)
        std::memcpy(queued.payload.data(), message->payload, message->payload_bytes);
      server.arrived(queued, PH_OK);
      return PH_OK;
    }
    queued.server = &server;
    landing->buffer = queued.payload.data();
    landing->buffer_bytes = message->payload_bytes;
    landing->done = on_landed;
    landing->argument = &queued;
    return PH_OK;
  } catch (const std::exception&) {
    return PH_ERR_MEMORY;
  }
}

ph_status Server::on_landed(void* asked, const ph_am_message* /*message*/, const ph_am_part* part) {
  auto& queued = *static_cast<Asked*>(asked);
  if (part->is_last != 0) queued.server->arrived(queued, part->status);
  return PH_OK;
}

// The thread goes on with it. What its origin could not send to its end is not done.
void Server::arrived(Asked& asked, ph_status status) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (status != PH_OK) asked.request.window = 0;
    asked.is_whole = true;
  }
  ph_wake(lane_);
}

ph_status Server::on_answer(void* user, const ph_am_message* message, ph_am_landing* landing) {
  auto& server = *static_cast<Server*>(user);
  Answer answer;
  if (message->header_bytes != sizeof answer) return PH_ERR_ARGUMENT;
  std::memcpy(&answer, message->header, sizeof answer);
  Ticket* ticket = nullptr;
  {
    const std::lock_guard guard(server.mutex_);
    const auto at = server.tickets_.find(answer.ticket);
    if (at == server.tickets_.end()) return PH_ERR_NOT_FOUND;
    ticket = at->second;
    ticket->is_landing = true;
  }
  const auto status = static_cast<ph_status>(answer.status);
  if (status != PH_OK || message->payload_bytes != ticket->into.size()) {
    server.over(*ticket, status != PH_OK ? status : PH_ERR_RANGE);
    return PH_OK;
  }
  if (message->payload_bytes == 0 || message->payload != nullptr) {
    if (message->payload_bytes != 0)
      std::memcpy(ticket->into.data(), message->payload, message->payload_bytes);
    server.over(*ticket, status);
    return PH_OK;
  }
  landing->buffer = ticket->into.data();
  landing->buffer_bytes = ticket->into.size();
  landing->done = on_filled;
  landing->argument = ticket;
  return PH_OK;
}

ph_status Server::on_filled(void* ticket, const ph_am_message* /*message*/,
                            const ph_am_part* part) {
  auto& one = *static_cast<Ticket*>(ticket);
  if (part->is_last != 0) one.server->over(one, part->status);
  return PH_OK;
}

void Server::over(Ticket& ticket, ph_status status) noexcept {
  const std::lock_guard guard(mutex_);
  ticket.status = status;
  answered_.notify_all();
}

// ---- asking

void Server::serve() noexcept { job_.serve(); }

bool Server::is_lost(ph_rank rank) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (broken_.contains(rank)) return true;
  }
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (ph_peer_state(lane_, rank, &state) != PH_OK) return true;
  return state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
}

bool Server::wait(ph_request& request) noexcept {
  for (;;) {
    const ph_status status = ph_test(lane_, &request, nullptr);
    if (status == PH_OK) return true;
    if (status != PH_AGAIN) return false;
    serve();
  }
}

// A payload that the library does not copy is lent until the target has read it.
bool Server::tell(ph_rank to, const Request& request,
                  std::span<const ph_const_block> payload) noexcept {
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kRequest;
  args.header = &request;
  args.header_bytes = sizeof request;
  args.blocks = payload.data();
  args.blocks_count = payload.size();
  std::uint64_t bytes = 0;
  for (const ph_const_block& block : payload) bytes += block.size_bytes;
  ph_request lent = PH_REQUEST_NONE;
  if (bytes > carried_bytes_)
    args.request = &lent;
  else
    args.flags = PH_NO_LCE;
  ph_status status = ph_am_send(lane_, to, &args);
  while (status == PH_AGAIN) {
    serve();
    status = ph_am_send(lane_, to, &args);
  }
  return status == PH_OK && wait(lent);
}

bool Server::ask(ph_rank to, Request request, std::span<const ph_const_block> payload,
                 std::span<std::byte> into) noexcept {
  Ticket ticket{this, into};
  if (!enter(ticket, request)) return false;
  const bool is_told = tell(to, request, payload);
  return await(ticket, is_told ? to : PH_ANY_RANK) && is_told;
}

bool Server::ask_all(std::span<const ph_rank> to, const Request& request) noexcept {
  Ticket tickets[kAtOnce];
  bool is_told[kAtOnce] = {};
  bool is_done = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    Request one = request;
    is_told[i] = enter(tickets[i], one) && tell(to[i], one, {});
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    is_done = await(tickets[i], is_told[i] ? to[i] : PH_ANY_RANK) && is_told[i] && is_done;
  return is_done;
}

bool Server::enter(Ticket& ticket, Request& request) noexcept {
  try {
    ticket.server = this;
    const std::lock_guard guard(mutex_);
    tickets_.emplace(++last_ticket_, &ticket);
    ticket.number = request.ticket = last_ticket_;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// An answer that has begun to land is waited for in any case: the library says how it ends.
bool Server::await(Ticket& ticket, ph_rank from) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto patient_until = Clock::now() + (job_.is_crowded() ? kSpinCrowded : kSpin);
  bool is_hopeless = from == PH_ANY_RANK;
  for (bool is_long = false;; is_long = is_long || Clock::now() > patient_until) {
    {
      std::unique_lock guard(mutex_);
      if (is_long && ticket.status == PH_AGAIN && !is_hopeless) answered_.wait_for(guard, kNap);
      if (ticket.status != PH_AGAIN || (is_hopeless && !ticket.is_landing)) {
        tickets_.erase(ticket.number);
        return ticket.status == PH_OK;
      }
    }
    serve();
    if (is_long) is_hopeless = is_hopeless || is_lost(from);
  }
}

void Server::poke(ph_rank to) noexcept {
  const Request request{.ask = Ask::poke};
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kRequest;
  args.header = &request;
  args.header_bytes = sizeof request;
  args.flags = PH_NO_LCE;
  static_cast<void>(ph_am_send(lane_, to, &args));
}

bool Server::flush(ph_rank to) noexcept {
  for (;;) {
    const ph_status status = ph_flush(lane_, to, kLookUs);
    if (status == PH_OK) break;
    if (status != PH_TIMEOUT && status != PH_AGAIN) return false;
    serve();
  }
  const std::lock_guard guard(mutex_);
  return !broken_.contains(to);
}

}  // namespace photon::mpi
