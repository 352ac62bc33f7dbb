#include "interop/mpi/message/am_server.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "interop/mpi/message/head.hpp"
#include "interop/mpi/message/registering.hpp"
#include "interop/mpi/window/own_thread.hpp"

namespace photon::mpi {

namespace {

constexpr std::uint32_t kLane = 2;
constexpr std::int64_t kLookUs = 1000;  // while payloads are lent

}  // namespace

AmServer* AmServer::current() noexcept {
  Job* const job = Job::current();
  return job == nullptr ? nullptr : static_cast<AmServer*>(job->part());
}

AmServer* AmServer::of(Job& job) noexcept {
  try {
    return static_cast<AmServer*>(job.part([&job]() -> std::unique_ptr<JobPart> {
      std::unique_ptr<AmServer> server(new AmServer(job));
      ph_error why{};
      if (server->begin(why)) return server;
      job.say("there are no active messages: %s", why.text);
      return nullptr;
    }));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool AmServer::begin(ph_error& why) {
  carried_bytes_ = setting_of(job_.context(), "am_carried_max");
  keyval_ = make_circle_keyval();
  if (keyval_ == MPI_KEYVAL_INVALID || ph_lane_open(job_.context(), kLane, &lane_) != PH_OK ||
      ph_am_register(lane_, kMessage, on_message, this) != PH_OK ||
      ph_am_register(lane_, kNews, on_news, this) != PH_OK) {
    ph_last_error(job_.context(), &why);
    return false;
  }
  return start_thread(
      thread_, [this] { run(); }, why);
}

AmServer::~AmServer() {
  if (thread_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    ph_wake(lane_);
    thread_.join();
  }
  if (lane_ != nullptr) ph_lane_close(lane_);
  if (keyval_ != MPI_KEYVAL_INVALID) real().Comm_free_keyval(&keyval_);
  for (MPIX_Am const handle : handles_) delete handle;
}

void AmServer::run() noexcept {
  while (do_turn()) {
  }
}

// False: it ends.
bool AmServer::do_turn() noexcept {
  const bool looks = take_back_lent();
  take_errors();
  {
    const std::lock_guard guard(mutex_);
    if (is_ending_) return false;
  }
  const ph_status status =
      ph_wait(lane_, {PH_ANY_RANK, PH_EITHER, nullptr}, looks ? kLookUs : PH_FOREVER);
  if (status == PH_OK || status == PH_TIMEOUT) return true;
  std::unique_lock guard(mutex_);  // nobody is left who could send
  changed_.wait_for(guard, std::chrono::milliseconds(1));
  return true;
}

// Nobody asks for completions here, so what comes is an error. A rank that is lost is found by who
// waits for it; what a target refuses before a handler is looked for, nobody has counted.
void AmServer::take_errors() noexcept {
  for (ph_u64_completion one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER); one.kind != 0;
       one = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER))
    if (is_refusal(static_cast<ph_status>(one.status)) || one.status == PH_ERR_MEMORY)
      has_refused_.set(true);
}

// A look at a request may run handlers, which lend more.
bool AmServer::take_back_lent() noexcept {
  std::list<Lent> all;
  {
    const std::lock_guard guard(mutex_);
    all.swap(lent_);
  }
  all.remove_if([&](Lent& one) {
    const ph_status status = ph_test(lane_, &one.request, nullptr);
    if (is_refusal(status)) has_refused_.set(true);
    return status != PH_AGAIN;
  });
  const std::lock_guard guard(mutex_);
  lent_.splice(lent_.begin(), all);
  return !lent_.empty();
}

MPIX_Am AmServer::register_handle(const std::shared_ptr<Circle>& circle, int id) noexcept {
  try {
    auto made = std::make_unique<MPIX_Am_registration>(MPIX_Am_registration{circle, id});
    const std::lock_guard guard(mutex_);
    handles_.insert(made.get());
    return made.release();
  } catch (const std::bad_alloc&) {
    return MPIX_AM_NULL;
  }
}

std::shared_ptr<Circle> AmServer::find(MPIX_Am handle, int& id) noexcept {
  const std::lock_guard guard(mutex_);
  if (!handles_.contains(handle)) return nullptr;
  id = handle->id;
  return handle->circle;
}

void AmServer::drop(MPIX_Am handle) noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (handles_.erase(handle) == 0) return;
  }
  delete handle;
}

void AmServer::serve() noexcept {
  static_cast<void>(ph_am_poll(lane_, 0));
  job_.serve();
}

}  // namespace photon::mpi
