#include "backend.hpp"

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

// The runtime's allocator, by the name that it has as C++ and by the one that it has as C: one of
// them is there. (Who takes an int finds it where a long is passed.)
[[gnu::weak]] void* allocate_by_cxx(int size_bytes) __asm__("_Z8CmiAlloci");
[[gnu::weak]] void* allocate_by_c(long size_bytes) __asm__("CmiAlloc");

namespace photon::reconverse {
namespace {

using comm_backend::CompHandler;
constexpr std::size_t kMostEnded = 64;  // completions that one progress() runs
constexpr int kMostNested = 8;          // completions inside each other, by calls from inside them

// What this thread is inside of. In a handler photon queues sends, until it has no memory for more.
thread_local int handlers_entered = 0;
thread_local int completions_entered = 0;
bool is_no_room(ph_status status) noexcept {
  return status == PH_AGAIN || (status == PH_ERR_MEMORY && handlers_entered != 0);
}
void run(CompHandler handler, const comm_backend::Status& status, int& entered) {
  if (handler == nullptr) return;
  ++entered;
  handler(status);
  --entered;
}
void end(const Operation& done) { run(done.local, done.status, completions_entered); }
void handle(void* user, const void* message, std::size_t size_bytes) {
  run(reinterpret_cast<CompHandler>(user), {message, size_bytes, nullptr}, handlers_entered);
}
}  // namespace

Backend& backend() {
  static Backend& only = *new Backend;
  return only;
}

void Backend::init() {
  if (context() != nullptr) fail("init", "it was called before: call exit() first");
  if (allocate_by_cxx == nullptr && allocate_by_c == nullptr)
    fail("init", "the runtime has no CmiAlloc(int)");
  ph_context_destroy(std::exchange(finalized_, nullptr));
  // An id is a pointer; and handlers run in threads of the runtime alone.
  const ph_option options[] = {{"max_cid_size", "8"}, {"am", "polled"}};
  const ph_config config{.size = sizeof config, .options = options, .options_count = 2};
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) fail("init", error.text);
  node_ = static_cast<int>(ph_rank_of(context));
  nodes_count_ = static_cast<int>(ph_size_of(context));
  ph_setting setting{.size = sizeof setting};
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, "am_carried_max") == 0)
      carried_max_ = std::strtoull(setting.value, nullptr, 10);
  handlers_count_ = 0;
  is_leaving_ = false;
  context_ = context;
}

void Backend::exit() {
  ph_context* const context = this->context();
  if (context == nullptr) return;
  is_leaving_ = true;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while ((under_way_ > 0 || waiting_count_ != 0) && std::chrono::steady_clock::now() < deadline)
    progress();
  context_ = nullptr;
  ph_error error{};
  if (ph_finalize(context) != PH_OK) ph_last_error(context, &error);
  if (error.status != PH_OK || waiting_count_ != 0)
    std::fprintf(stderr, "comm_backend: exit: node %d: not all that was issued has gone: %s\n",
                 node_, error.text);
  finalized_ = context;
  regions_.clear();
}

int Backend::register_handler(CompHandler handler) {
  void* const user = reinterpret_cast<void*>(handler);
  if (context() != nullptr)
    check("registerAmHandler", ph_am_register(context(), handlers_count_, on_message, user));
  else if (finalized_ == nullptr)
    fail("registerAmHandler", "call init() first");
  return static_cast<int>(handlers_count_++);
}

ph_status Backend::on_message(void* user, const ph_am_message* message, ph_am_landing* landing) {
  const std::size_t size_bytes = message->payload_bytes;
  const bool is_here = message->payload != nullptr || size_bytes == 0;
  if (backend().is_leaving_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (!is_here) landing->flags = PH_AM_DROP;
    return PH_OK;
  }
  void* const buffer = allocate_by_cxx != nullptr ? allocate_by_cxx(static_cast<int>(size_bytes))
                                                  : allocate_by_c(static_cast<long>(size_bytes));
  if (buffer == nullptr) backend().fail("progress", "CmiAlloc() has no memory for a message");
  if (is_here) {
    if (size_bytes != 0) std::memcpy(buffer, message->payload, size_bytes);
    handle(user, buffer, size_bytes);
  } else {
    landing->buffer = buffer;
    landing->buffer_bytes = size_bytes;
    landing->argument = user;
    landing->done = [](void* handler, const ph_am_message*, const ph_am_part* part) {
      backend().check("a message on its way to this node", part->status);
      if (part->status == PH_OK) handle(handler, part->data, part->size_bytes);
      return PH_OK;
    };
  }
  return PH_OK;
}

// One that is not carried may be over, and freed by another thread, when it has started. One that
// is bears no id: it would be said to be lost where its node leaves before this one hears that it
// was handled, and a runtime's nodes leave when they know it.
ph_status Backend::start(const Operation& operation) {
  const auto node = static_cast<ph_rank>(operation.node);
  const auto [buffer, size_bytes, user] = operation.status;
  const auto id = reinterpret_cast<std::uint64_t>(&operation);
  const ph_id local{&id, sizeof id};
  const bool is_carried = operation.is_carried;
  if (!is_carried) ++under_way_;
  ph_status status = PH_OK;
  if (operation.kind == Operation::Kind::put) {
    ph_put_args args{sizeof args, buffer, size_bytes, operation.there, local};
    args.flags = PH_DELIVERED | PH_NO_RCE;
    status = ph_put(context(), node, &args);
  } else if (operation.kind == Operation::Kind::get) {
    ph_get_args args{sizeof args, const_cast<void*>(buffer), size_bytes, operation.there, local};
    args.flags = PH_NO_RCE;
    status = ph_get(context(), node, &args);
  } else if (size_bytes <= PH_AM_SMALL_BYTES) {
    status = ph_am_send_small(context(), node, operation.handler, {buffer, size_bytes});
  } else {
    ph_am_args args{.size = sizeof args, .id = operation.handler, .payload = buffer};
    args.payload_bytes = size_bytes;
    args.flags = is_carried ? PH_NO_LCE : 0;
    args.local = is_carried ? ph_id{} : local;
    status = ph_am_send(context(), node, &args);
  }
  if (!is_carried && status != PH_OK) --under_way_;
  return status;
}

void Backend::issue(Operation operation) {
  if (context() == nullptr) return;
  const bool is_message = operation.kind == Operation::Kind::message;
  if (is_message && operation.status.size > INT_MAX) [[unlikely]]
    fail("issueAm", "a message has more bytes than an int counts");
  operation.is_carried = is_message && operation.status.size <= carried_max_;
  const Operation* kept = operation.is_carried ? nullptr : new Operation(operation);
  ph_status status = PH_AGAIN;
  if (waiting_count_.load(std::memory_order_relaxed) == 0 && completions_entered < kMostNested)
    status = start(kept == nullptr ? operation : *kept);
  if (!is_no_room(status)) [[likely]] {
    check("an operation that was issued", status);
    return operation.is_carried ? end(operation) : void();
  }
  if (kept == nullptr) kept = new Operation(operation);
  const std::lock_guard lock(mutex_);
  waiting_[operation.node].push_back(kept);
  ++waiting_count_;
}

// One thread at a time. An operation keeps its place until it has started, so that nothing
// overtakes it.
bool Backend::start_waiting() {
  std::vector<Operation> over;
  std::unique_lock lock(mutex_);
  if (std::exchange(is_starting_, true)) return false;
  std::size_t moved = 0;
  for (auto at = waiting_.begin(); at != waiting_.end() && moved < kMostEnded;) {
    const Operation* const first = at->second.front();
    const Operation operation = *first;
    lock.unlock();
    const ph_status status = start(*first);
    if (!is_no_room(status)) check("an operation that waited", status);
    lock.lock();
    if (!is_no_room(status)) {
      if (operation.is_carried) over.push_back(*std::unique_ptr<const Operation>(first));
      at->second.pop_front();
      --waiting_count_;
      ++moved;
    }
    if (at->second.empty())
      at = waiting_.erase(at);
    else if (is_no_room(status))
      ++at;
  }
  is_starting_ = false;
  lock.unlock();
  for (const Operation& operation : over) end(operation);
  return moved != 0;
}

bool Backend::take_ended() {
  for (std::size_t count = 0; count < kMostEnded; ++count) {
    const ph_u64_completion found = ph_probe_u64(context(), PH_ANY_RANK, PH_LOCAL);
    check("an operation under way", static_cast<ph_status>(found.status));
    if (found.kind == 0) return count != 0;
    if (found.id != 0) --under_way_;                       // else of a message that was carried
    if (found.id == 0 || found.status != PH_OK) continue;  // while this node leaves
    const std::unique_ptr<const Operation> kept(reinterpret_cast<const Operation*>(found.id));
    end(*kept);
  }
  return true;
}

bool Backend::progress() {
  if (context() == nullptr) return false;
  const ph_status status = ph_am_poll(context(), 0);
  check("progress", status);
  thread_local unsigned turn = 0;  // late errors are looked for now and then
  const bool may_end = under_way_.load(std::memory_order_relaxed) != 0 || ++turn % 256 == 0;
  const bool has_ended = may_end && take_ended();
  const bool may_start = waiting_count_.load(std::memory_order_relaxed) != 0;
  const bool has_started = may_start && start_waiting();
  return status == PH_OK || has_ended || has_started;
}

void Backend::barrier() {
  if (context() == nullptr) return;
  const std::lock_guard lock(barrier_mutex_);
  ph_team* everyone = nullptr;
  ph_request request = PH_REQUEST_NONE;
  ph_coll_args args{.size = sizeof args, .kind = PH_COLL_BARRIER};
  args.request = &request;
  check("barrier", ph_team_world(context(), &everyone));
  ph_status status = PH_OK;
  while ((status = ph_coll_begin(everyone, &args)) == PH_AGAIN) progress();
  check("barrier", status);
  while ((status = ph_test(context(), &request, nullptr)) == PH_AGAIN) progress();
  check("barrier", status);
}

comm_backend::mr_t Backend::expose(void* address, std::size_t size) {
  if (context() == nullptr) return comm_backend::MR_NULL;
  auto region = std::make_unique<ph_region>();
  ph_region* const mr = region.get();
  if (size != 0) check("registerMemory", ph_register(context(), address, size, PH_ACCESS_ALL, mr));
  const std::lock_guard lock(mutex_);
  regions_.emplace(mr, std::move(region));
  return mr;
}

std::size_t Backend::describe(comm_backend::mr_t mr, void* place, std::size_t room_bytes) const {
  static_assert(sizeof(ph_region) <= 24);
  if (context() == nullptr) return 0;
  if (mr == comm_backend::MR_NULL || room_bytes < sizeof(ph_region))
    fail("getRMR", "give it a region of registerMemory(), and room for 24 bytes");
  std::memcpy(place, mr, sizeof(ph_region));
  return sizeof(ph_region);
}

void Backend::hide(comm_backend::mr_t mr) {
  if (context() == nullptr || mr == comm_backend::MR_NULL) return;
  std::unique_lock lock(mutex_);
  const auto taken = regions_.extract(mr);
  lock.unlock();
  if (taken.empty()) fail("deregisterMemory", "there is no such region: was it taken back before?");
  const ph_region& region = *taken.mapped();
  if (region.size_bytes != 0) check("deregisterMemory", ph_revoke(context(), region.key));
}

// While this node leaves, others may have left before it: what they should have had is dropped.
void Backend::check(const char* call, ph_status status) const {
  if (status >= 0 || is_leaving_.load(std::memory_order_relaxed)) [[likely]]
    return;
  ph_error error{};
  ph_last_error(context(), &error);
  fail(call, error.status == status ? error.text : ph_status_text(status));
}
void Backend::fail(const char* call, const char* words) const {
  std::fprintf(stderr, "comm_backend: %s: node %d: %s\n", call, node_, words);
  std::abort();
}
}  // namespace photon::reconverse

namespace comm_backend {
using photon::reconverse::backend;
using Kind = photon::reconverse::Operation::Kind;
static ph_region region_at(const void* descriptor) {
  ph_region region{};
  if (descriptor != nullptr) std::memcpy(&region, descriptor, sizeof region);
  return region;
}
void init(char**) { backend().init(); }
void init_mempool() {}
void exit() { backend().exit(); }
void initThread(int, int) {}
void exitThread() {}
int getMyNodeId() { return backend().node(); }
int getNumNodes() { return backend().nodes_count(); }
bool isRMACapable() { return true; }
AmHandler registerAmHandler(CompHandler handler) { return backend().register_handler(handler); }
void issueAm(int rank, const void* local_buf, std::size_t size, mr_t, CompHandler local,
             AmHandler remote, void* user_context) {
  const auto handler = static_cast<std::uint32_t>(remote);
  backend().issue({Kind::message, rank, handler, {}, {local_buf, size, user_context}, local});
}
void issueRget(int rank, const void* local_buf, std::size_t size, mr_t, void* remote_buf, void* rmr,
               CompHandler local, void* user_context) {
  const ph_target there{reinterpret_cast<std::uint64_t>(remote_buf), region_at(rmr).key};
  backend().issue({Kind::get, rank, 0, there, {local_buf, size, user_context}, local});
}
void issueRput(int rank, const void* local_buf, std::size_t size, mr_t, std::uintptr_t remote_disp,
               void* rmr, CompHandler local, void* user_context) {
  const ph_target there{region_at(rmr).address + remote_disp, region_at(rmr).key};
  backend().issue({Kind::put, rank, 0, there, {local_buf, size, user_context}, local});
}
bool progress() { return backend().progress(); }
void barrier() { backend().barrier(); }
mr_t registerMemory(void* address, std::size_t size) { return backend().expose(address, size); }
std::size_t getRMR(mr_t mr, void* descriptor, std::size_t room_bytes) {
  return backend().describe(mr, descriptor, room_bytes);
}
void deregisterMemory(mr_t mr) { backend().hide(mr); }
void* malloc(int, int) { return nullptr; }
void free(void*) {}
}  // namespace comm_backend
