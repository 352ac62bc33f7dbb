#include "interop/mpi/window/server.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "interop/mpi/window/job.hpp"
#include "interop/mpi/window/own_thread.hpp"
#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

namespace {

constexpr std::uint32_t kLane = 1;
constexpr std::int64_t kLookUs =
    1000;  // while a lock waits, or whoever may have died is waited for

}  // namespace

std::unique_ptr<Server> Server::open(Job& job, ph_error& why) {
  std::unique_ptr<Server> server(new Server(job));
  if (!server->begin(why)) return nullptr;
  return server;
}

bool Server::begin(ph_error& why) {
  if (ph_lane_open(job_.context(), kLane, &lane_) != PH_OK ||
      ph_am_register(lane_, kRequest, on_request, this) != PH_OK || !asker_.begin(lane_)) {
    ph_last_error(job_.context(), &why);
    return false;
  }
  return start_thread(
      thread_, [this] { run(); }, why);
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
  while (do_turn()) asker_.take_errors();
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
  changed_.wait_for(guard, std::chrono::milliseconds(1));
  return true;
}

// By this lane alone: the thread makes progress on no other, so that it would wait for ever for
// what contact brings there while the program computes.
bool Server::has_ended(ph_rank rank) noexcept {
  const ph_status status = ph_contact(lane_, rank);
  if (status == PH_ERR_PEER || status == PH_ERR_DEPARTED) return true;
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (ph_peer_state(lane_, rank, &state) != PH_OK) return false;
  return state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
}

bool Server::enter(std::uint64_t number, Window& window) {
  const std::lock_guard guard(mutex_);
  return windows_.try_emplace(number, Entry{&window}).second;
}

void Server::leave(std::uint64_t number) noexcept {
  std::unique_lock guard(mutex_);
  const auto at = windows_.find(number);
  if (at == windows_.end()) return;
  changed_.wait(guard, [&] { return at->second.users == 0; });
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
  if (--entry_->users == 0) server_.changed_.notify_all();
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

}  // namespace photon::mpi
