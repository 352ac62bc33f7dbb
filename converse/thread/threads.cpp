#include "converse/thread/threads.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace photon::converse {

namespace {

// Pages that a thread never touches cost nothing, and CmiPrintf() needs some kilobytes.
constexpr int kLeastStackBytes = 65536;
constexpr int kStandInBytes = 1 << 20;  // handlers may need more than threads

Threads& threads_of(Pe& pe) noexcept { return *static_cast<Threads*>(pe.parts.threads); }

void run_token(void* message) {
  threads_here("CthAwaken").take(static_cast<CthThreadToken*>(message));
}

void take_awakening_of_other(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  threads_of(*static_cast<Pe*>(user))
      .take_awakening(static_cast<CthThreadToken*>(message_of(message)));
}

}  // namespace

Threads::Threads(Pe& pe)
    : pe_(pe),
      resume_index_(CmiRegisterHandler(run_token)),
      awakening_(enroll(pe, take_awakening_of_other)) {
  of_pe_.pe = pe.place.pe;
  of_pe_.threads = this;
  of_pe_.state = ThreadState::running;
  of_pe_.token = new_token(&of_pe_);
  pe.token_handler = static_cast<std::uint32_t>(resume_index_);
  pe.apart = [](Pe& own, const Job& job) { threads_of(own).run_apart(job); };
}

CthThreadToken* Threads::new_token(CthThread thread) {
  auto* token = static_cast<CthThreadToken*>(allocate(pe_, "CthCreate", sizeof(CthThreadToken)));
  CmiSetHandler(token, resume_index_);
  token->thread = thread;
  token->serialNo = thread->serial;
  return token;
}

CthThread Threads::make(CthVoidFn function, void* user, int stack_bytes) {
  if (free_ == nullptr) free_ = &all_.emplace_back();
  CthThread thread = free_;
  ph_task_thread_args args{};
  args.size = sizeof args;
  args.function = begin;
  args.user = thread;
  if (stack_bytes != 0)
    args.stack_bytes = static_cast<std::uint64_t>(std::max(stack_bytes, kLeastStackBytes));
  require(pe_, "CthCreate", ph_task_thread_create(pe_.task, &args, &thread->task));
  free_ = thread->next;
  thread->next = nullptr;
  thread->pe = pe_.place.pe;
  thread->serial = ++serial_;
  thread->threads = this;
  thread->state = ThreadState::waiting;
  thread->function = function;
  thread->user = user;
  thread->token = new_token(thread);
  return thread;
}

CthThread Threads::self() noexcept {
  if (running_ == nullptr) return &of_pe_;
  const ph_task_thread caller = ph_task_thread_self(pe_.task);
  const bool is_running =
      caller.number == running_->task.number && caller.generation == running_->task.generation;
  return is_running ? running_ : &of_pe_;
}

void Threads::begin(ph_task_pe* /*pe*/, void* user) {
  auto* thread = static_cast<CthThread>(user);
  thread->function(thread->user);
  Threads& threads = *thread->threads;
  threads.chosen_ = threads.chosen_by(thread);
  thread->has_returned = true;
}

CthThread Threads::chosen_by(CthThread thread) {
  return thread->choose != nullptr ? thread->choose() : nullptr;
}

// Runs a thread, and then whoever each of them has chosen, until that is nobody or the caller.
void Threads::run(CthThread thread) {
  CthThread const outer = running_;
  CthThread const caller = self();
  while (thread != nullptr && thread != &of_pe_ && thread != caller) {
    if (thread->state == ThreadState::over) refuse("CthResume", "the thread is over");
    if (thread->state == ThreadState::idle) break;  // what it should go on with has ended
    if (thread->state != ThreadState::waiting) {    // it runs messages, and this is one of them
      ++thread->awakenings;
      return;
    }
    thread->state = ThreadState::running;
    if (thread->awaken != nullptr) thread->is_token_away = false;  // the program has had it
    running_ = thread;
    require(pe_, "CthResume", ph_task_thread_resume(pe_.task, thread->task));
    CthThread const next = chosen_;
    if (thread->has_returned)
      bury(thread);
    else if (thread->state == ThreadState::leaving)
      drop_frames(thread);
    running_ = outer;
    thread = next;
  }
  if (thread == &of_pe_ && pe_waits_ != 0) ++of_pe_.awakenings;
  awaken_pe();
}

// The runs inside of that wait end, the innermost one first.
void Threads::awaken_pe() {
  if (pe_waits_ != 0 && of_pe_.awakenings != 0 && schedule_of(pe_).innermost != around_wait_)
    static_cast<void>(ph_task_stop(pe_.task));
}

// On the stack of a stand-in, for ever.
void Threads::stand_in(void* user) {
  auto& threads = *static_cast<Threads*>(user);
  CthThread const own = threads.running_;
  for (;;) {
    own->job.call(threads.pe_, own->job);
    own->state = ThreadState::idle;
    own->next = threads.idle_;
    threads.idle_ = own;
    threads.stop(own, nullptr);
  }
}

// Nothing of its job before is left but its variables. Tokens of that job are stale.
CthThread Threads::idle_stand_in() {
  CthThread const thread = idle_ != nullptr ? idle_ : make(stand_in, this, kStandInBytes);
  if (thread == idle_) idle_ = thread->next;
  if (thread->is_token_away) thread->token = new_token(thread);
  thread->token->serialNo = thread->serial = ++serial_;
  thread->is_stand_in = true;
  thread->is_token_away = false;
  thread->may_suspend = true;
  thread->awakenings = 0;
  thread->awaken = nullptr;
  thread->choose = nullptr;
  thread->next = nullptr;
  thread->state = ThreadState::waiting;
  return thread;
}

void Threads::run_apart(const Job& job) {
  try {
    CthThread const thread = idle_stand_in();
    thread->job = job;
    run(thread);
  } catch (const std::bad_alloc&) {
    refuse("CthSuspend", "no memory for a thread that runs handlers meanwhile");
  }
}

bool Threads::make_way() {
  CthThread const thread = self();
  if (pe_waits_ == 0 || of_pe_.awakenings == 0 || thread == &of_pe_) return false;
  enqueue_token(thread, {});
  stop(thread, nullptr);
  return true;
}

// By the running thread, which goes on when somebody runs it.
void Threads::stop(CthThread thread, CthThread next) {
  if (thread->state == ThreadState::running) thread->state = ThreadState::waiting;
  chosen_ = next;
  require(pe_, "CthSuspend", ph_task_thread_suspend(pe_.task));
}

void Threads::suspend() {
  CthThread const thread = self();
  if (!thread->may_suspend)
    refuse("CthSuspend", "the thread must not suspend: CthSetSuspendable(thread, 0) says so");
  if (thread == &of_pe_) {
    suspend_pe();
    return heed_ends(pe_);  // of runs around it
  }
  if (thread->awakenings != 0 && thread->state != ThreadState::leaving) {
    --thread->awakenings;
    return;
  }
  CthThread const next = chosen_by(thread);
  if (next != thread || thread->state == ThreadState::leaving)
    stop(thread, next == thread ? nullptr : next);
}

void Threads::suspend_pe() {
  const Schedule& schedule = schedule_of(pe_);
  const Run* const around_wait = std::exchange(around_wait_, schedule.innermost);
  ++pe_waits_;
  pe_.waits = true;
  const bool is_aside = ph_task_set_aside(pe_.task) == PH_OK;  // a handler, and no other code
  while (of_pe_.awakenings == 0) {
    CthThread const next = chosen_by(&of_pe_);
    if (next == &of_pe_) break;
    if (next != nullptr) {
      run(next);
    } else {
      Run one{nullptr, schedule.exits};
      std::uint64_t ran = 0;
      run_part(pe_, "CthSuspend", one, 1, ran);
    }
  }
  if (is_aside) require(pe_, "CthSuspend", ph_task_take_up(pe_.task));
  if (of_pe_.awakenings != 0) --of_pe_.awakenings;
  pe_.waits = --pe_waits_ != 0;
  around_wait_ = around_wait;
}

void Threads::resume(CthThread thread) {
  CthThread const caller = self();
  if (thread == caller) return;
  if (thread->pe != pe_.place.pe)
    refuse("CthResume", "the thread is of PE %u: CthAwaken() sends there", thread->pe);
  if (thread->state == ThreadState::over) refuse("CthResume", "the thread is over");
  if (is_for_pe(caller))
    run(thread);  // as in a handler
  else
    stop(caller, thread);
}

void Threads::free(CthThread thread) {
  if (is_for_pe(thread)) refuse("CthFree", "it stands for the PE: ConverseExit() ends a PE");
  if (thread->pe != pe_.place.pe)
    refuse("CthFree", "the thread is of PE %u: send a message there", thread->pe);
  switch (thread->state) {
    case ThreadState::running: thread->state = ThreadState::leaving; break;
    case ThreadState::waiting: drop_frames(thread); break;
    case ThreadState::leaving:
    case ThreadState::idle:
    case ThreadState::over: refuse("CthFree", "the thread was freed already, or is over");
  }
}

// No exception could leave all frames that a program may have, so they are forgotten.
void Threads::drop_frames(CthThread thread) {
  require(pe_, "CthFree", ph_task_thread_drop(pe_.task, thread->task));
  bury(thread);
}

// A token that is still queued is no longer ours to free, and take() frees it.
void Threads::bury(CthThread thread) noexcept {
  ph_task_free(pe_.task, task_of(thread->token));
  std::vector<std::unique_ptr<std::byte[]>> variables;
  variables.swap(thread->variables);
  *thread = CthThreadStruct{.pe = pe_.place.pe, .next = free_};
  free_ = thread;
}

void Threads::awaken(CthThread thread, const TokenOrder& order) {
  if (thread->state == ThreadState::over) refuse("CthAwaken", "the thread is over");
  if (thread->awaken != nullptr) {
    thread->is_token_away = true;
    thread->awaken(thread->token, order.strategy, order.bits, order.words);
    return;
  }
  enqueue_token(thread, order);
}

void Threads::enqueue_token(CthThread thread, const TokenOrder& order) {
  CthThreadToken* const token = thread->is_token_away ? new_token(thread) : thread->token;
  thread->is_token_away = true;
  CsdEnqueueGeneral(token, order.strategy, order.bits, order.words);
}

void Threads::send_awakening(CthThread thread) {
  ph_task_message* const token = task_of(new_token(thread));
  ph_task_set_handler(token, awakening_);
  require(pe_, "CthAwaken", ph_task_send(pe_.task, thread->pe, token));
}

void Threads::take(CthThreadToken* token) {
  CthThread const thread = is_alive(*token) ? token->thread : nullptr;
  if (thread != nullptr && thread->token == token)
    thread->is_token_away = false;
  else
    CmiFree(token);
  if (thread != &of_pe_) return run(thread);
  ++of_pe_.awakenings;
  awaken_pe();
}

void Threads::take_awakening(CthThreadToken* token) {
  ++pe_.own_tasks;
  CthThread const thread = is_alive(*token) ? token->thread : nullptr;
  CmiFree(token);
  if (thread != nullptr && !pe_.is_leaving) awaken(thread, {});
}

std::uint32_t Threads::add_variable(std::size_t size_bytes) {
  variables_.push_back(size_bytes);
  return static_cast<std::uint32_t>(variables_.size() - 1);
}

void* Threads::value(std::uint32_t number) {
  auto& variables = self()->variables;
  if (number < variables.size() && variables[number] != nullptr) [[likely]]
    return variables[number].get();
  if (number >= variables_.size())
    refuse("CtvAccess", "the variable is not there: call CtvInitialize() on this PE first");
  if (variables.size() < variables_.size()) variables.resize(variables_.size());
  variables[number] = std::make_unique<std::byte[]>(variables_[number]);  // zeros
  return variables[number].get();
}

void start_threads(Pe& pe) { pe.parts.threads = new Threads(pe); }

}  // namespace photon::converse
