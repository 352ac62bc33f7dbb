// The one contract between the engine and what stands on it: a service is an owner of messages and
// ids, and does all else through its Port (docs/adding-a-service.md).
//
//   a pointer -- first record, or first call of its API --> open -- close() --> leaving
//   leaving -- is_idle(), all lanes in turn --> over
//
// Threads: every function of a Service is called, and every function of a Port may be called, with
// the lane's lock held, but for Service::run(), which has no lock. No function of a Service makes
// progress, waits, or calls the public API; run() may. So a Service has no lock of its own.
// Errors: a function of a Service may throw bad_alloc only; then the peer whose record it was
// handling is lost, as with any record that finds no memory.
// Order: messages of one owner to one peer come in the order of the calls, whatever the way they
// take. Between owners nothing is promised but by ph_fence() and ph_flush(), which cover all.
// Owner: the engine of a lane owns its services; a Port outlives its Service.
#pragma once

#include <photon/request.h>
#include <photon/rma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/config.hpp"
#include "base/result.hpp"
#include "service/message.hpp"
#include "service/outlet.hpp"
#include "wire/owner.hpp"
#include "wire/record.hpp"

namespace photon::service {

using wire::Owner;

class Service {
 public:
  virtual ~Service() = default;
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // ---- what comes
  // False: malformed, and the peer is cut off.
  virtual bool on_message(const Message& message) = 0;
  virtual Verdict on_chunk(const Chunk& /*chunk*/) { return Verdict::malformed; }
  // An operation of ours with this token is over.
  virtual void on_local(Rank /*to*/, std::uint64_t /*token*/, ph_status /*status*/) {}
  // A call was told PH_AGAIN for that rank, and there is room again.
  virtual void on_room(Rank /*to*/) {}
  // Contact is made, by us or by that rank; from inside a call that does it. A service that wants
  // to say something to it asks for a turn.
  virtual void on_met(Rank /*rank*/) noexcept {}
  // Once for each rank that was met, after its last message, and before any of its memory goes.
  // PH_ERR_DEPARTED: it has left in order. Messages to it that it has not read are lost.
  virtual void on_lost(Rank /*rank*/, ph_status /*why*/) noexcept {}
  // The user calls back what he was promised a completion for.
  virtual ph_outcome on_cancel(Rank /*rank*/, std::uint64_t /*token*/) { return PH_TOO_LATE; }

  // ---- turns
  // A bounded piece of work, in each turn of progress from Port::wants_turn() on until it returns
  // false. True: it wants another.
  virtual bool turn() { return false; }
  // After Port::wants_looks(true): has a look at memory that others write, in each turn of progress
  // and before each sleep. True: something came of it.
  virtual bool look() { return false; }
  // A sleep ends by then, and a turn follows; INT64_MAX: there is nothing to wait for.
  virtual std::int64_t next_turn_ns() const noexcept { return INT64_MAX; }
  // What is held back has to go now: this rank is about to sleep; the user flushes.
  virtual void before_sleep() {}
  virtual void before_flush(Rank /*rank*/) {}
  // A last look, when whoever has news for us can already see that we sleep.
  virtual bool has_news() { return false; }

  // ---- the user's code
  // Whether the thread of the lane's caller alone runs it, or the progress thread, too.
  virtual bool runs_beside_caller() const noexcept { return false; }
  // Whether the thread inside run() may wait in calls of this lane; false: they say PH_ERR_STATE.
  virtual bool may_wait() const noexcept { return true; }
  // Whether its code may still begin to run when the lane is being closed.
  virtual bool runs_while_leaving() const noexcept { return true; }
  // After Port::wants_run(): makes what is due ready for run(), under the lock.
  virtual void collect() {}
  // Without the lock, at the end of a call that made progress. Of one service on one lane one
  // thread at a time.
  virtual void run() noexcept {}
  // Under the lock again, after each run().
  virtual void ran() noexcept {}

  // ---- leaving
  // The lane is being closed: nothing new is accepted, and what others wait for is given up.
  virtual void close() {}
  // Whether nothing is under way that the lane's end would lose.
  virtual bool is_idle() const noexcept { return true; }
  // How many things it holds on to, for audits: 0 where nothing is under way.
  virtual std::uint64_t held() const noexcept { return 0; }

  // ---- for the eye
  // A counter of Kind::counters, by its place there; `rank`: of that peer, PH_ANY_RANK: of all.
  virtual std::uint64_t counter(Rank /*rank*/, std::size_t /*place*/) const noexcept { return 0; }
  // A line for ph_path_to(): by which ways we reach that rank. Empty: nothing to say.
  virtual std::string ways(Rank /*rank*/) const { return {}; }
};

class Port {
 public:
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // ---- messages
  // A message of one to seven words, in one line: written here, without a call. PH_AGAIN: there is
  // no line, or others queue before it; nothing was sent, and on_room() will say when to try again.
  // Else as contact().
  template <class... Words>
  [[gnu::always_inline]] ph_status say_words(Rank to, Words... words) noexcept {
    static_assert(sizeof...(Words) >= 1 && sizeof...(Words) <= wire::kWordsPerLine);
    Outlet* const out = to < outlets_.size() ? outlets_[to] : nullptr;
    if (out == nullptr || !out->can_say || !out->tx.has_room(1)) [[unlikely]]
      return say_slowly(to, words...);
    transport::Line& line = out->tx.line(0);
    std::uint32_t at = 0;
    (line.words[at++].set(static_cast<std::uint64_t>(words)), ...);
    ++out->messages;
    out->tx.publish_line(
        line, word_header_ + (std::uint64_t{sizeof...(Words)} * sizeof(std::uint64_t) << 32));
    transport::Policy::light_barrier();  // [asleep]
    if (static_cast<unsigned>(out->always_kicks) | static_cast<unsigned>(out->credits->is_cold()))
        [[unlikely]]
      tell(to);
    return PH_OK;
  }
  // As say_words(): a word, and at most 48 bytes of the caller's memory behind it.
  [[gnu::always_inline]] ph_status say_line(Rank to, std::uint64_t word,
                                            ph_const_block rest) noexcept {
    const Written said = say_line_now(to, word, rest);
    if (said == Written::no) [[unlikely]]
      return say_line_slowly(to, word, rest);
    if (said == Written::tell) [[unlikely]]
      tell(to);
    return PH_OK;
  }
  // The same without any call, for who has to be quick. no: nothing was sent, and say_line() finds
  // out why. tell: it was sent, and the engine's finish_put() is due, which wakes that rank.
  [[gnu::always_inline]] Written say_line_now(Rank to, std::uint64_t word,
                                              ph_const_block rest) noexcept {
    Outlet* const out = to < outlets_.size() ? outlets_[to] : nullptr;
    if (out == nullptr || !out->can_say || !out->tx.has_line()) [[unlikely]]
      return Written::no;
    transport::Line& line = out->tx.line(0);
    line.words[0].set(word);
    copy_into_line(&line.words[1], rest.data, rest.size_bytes);
    ++out->messages;
    out->tx.publish_line(line, word_header_ + ((sizeof word + rest.size_bytes) << 32));
    transport::Policy::light_barrier();  // [asleep]
    const bool tells = (static_cast<unsigned>(out->always_kicks) |
                        static_cast<unsigned>(out->credits->is_cold())) != 0;
    return tells ? Written::tell : Written::done;
  }
  // A message whose body is one chunk, where all is at hand that it needs; as say_line_now(). The
  // bytes are copied.
  virtual Written say_chunk_now(Rank /*to*/, std::array<std::uint64_t, 2> /*header*/,
                                std::span<const std::byte> /*bytes*/) noexcept {
    return Written::no;
  }
  // True: that rank is met, neither lost nor gone, and nothing queues before a message of one
  // line: say_words() may still lack a line.
  [[gnu::always_inline]] bool can_say(Rank to) const noexcept {
    return to < outlets_.size() && outlets_[to] != nullptr && outlets_[to]->can_say;
  }
  // Whether the lines of the ring to that rank stand apart, and are fetched one by one.
  bool lines_stand_apart(Rank to) const noexcept {
    return to < outlets_.size() && outlets_[to] != nullptr && outlets_[to]->claims_answers;
  }
  // Any message. `ticket`, if not null: what unsay() wants; 0: it has gone already.
  virtual ph_status say(const Saying& what, std::uint64_t* ticket = nullptr) = 0;
  // Takes a message out of the queue that it still stands in. False: it has gone.
  virtual bool unsay(Rank to, std::uint64_t ticket) noexcept = 0;
  // A message with a body, which stays as it is until on_local(token). PH_AGAIN: the quota of
  // requests is used up.
  virtual ph_status say_body(const Saying& what, std::span<const std::byte> body,
                             std::uint64_t token) = 0;
  // A chunk that was kept is not needed any more. It may be called after on_lost().
  virtual void give_back(Rank from, std::uint64_t loan) = 0;
  // Where our messages to that rank end now, and whether it is known to have read up to there.
  virtual std::uint64_t mark(Rank to) noexcept = 0;
  virtual bool was_read(Rank to, std::uint64_t mark) noexcept = 0;
  // It has answered what ended there, so it has read it.
  virtual void note_read(Rank to, std::uint64_t mark) noexcept = 0;

  // ---- room in the bulk ring that a service fills itself; one reservation a peer
  // `size_bytes` of the ring to that rank, at most a quarter of it. Until commit() or cancel_room()
  // nothing else goes to that rank through it, so hold it briefly. The room may be written without
  // the lock, and stays mapped when the peer dies. PH_AGAIN: there is no room, others queue, or one
  // is reserved; on_room() will say when to try again.
  virtual ph_status reserve(Rank /*to*/, std::uint64_t /*size_bytes*/,
                            std::span<std::byte>& /*room*/) {
    return PH_AGAIN;
  }
  // Copies into the room by the stores that puts to that rank have learnt.
  virtual void fill(Rank /*to*/, std::byte* to, std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  // Says a message whose body is the first bytes of the room. PH_AGAIN: it has no line, or others
  // queue before it now: the room stays reserved. Else the reservation is over, also with an error.
  virtual ph_status commit(const Saying& /*what*/, std::uint64_t /*size_bytes*/) {
    return PH_AGAIN;
  }
  virtual void cancel_room(Rank /*to*/) noexcept {}

  // ---- reading a peer's memory
  // Bytes of that peer's memory, which its service has exposed, come to ours; on_local(token) tells
  // that they are there, or why not. `handle`: how give_up() names it. PH_AGAIN: the quota of
  // requests is used up until an on_local() of this service.
  struct Fetch {
    ph_target from{};
    std::span<std::byte> to;
    std::uint64_t token = 0;
  };
  virtual ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) = 0;
  // The bytes of that get are not wanted any more. True: from now on nothing is written to its
  // memory. False: a network may still write there. on_local() comes in either case.
  virtual bool give_up(std::uint64_t handle) noexcept = 0;

  // ---- peers
  // Meets that rank if need be. PH_ERR_RANK, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_NOT_FOUND.
  virtual ph_status contact(Rank rank) = 0;
  // PH_OK: not met yet, or neither lost nor gone.
  virtual ph_status state(Rank rank) const noexcept = 0;
  // Of one that is lost: whether its process may live, so that something of ours may be missed.
  virtual bool may_live(Rank rank) const noexcept = 0;
  // It has broken our rules: it is cut off, and on_lost() comes.
  virtual void cut_off(Rank rank, const char* why) = 0;
  // Whether that rank is known to be on this host, as it knows of this one: all ranks judge alike,
  // at any time. False where that is learnt by meeting.
  virtual bool is_here(Rank /*rank*/) const noexcept { return true; }
  // The first rank of its host; PH_ANY_RANK: it is not known. Of ranks here it is, if is_here().
  virtual Rank host_of(Rank /*rank*/) const noexcept { return 0; }
  virtual Rank rank() const noexcept = 0;
  virtual std::uint32_t size() const noexcept = 0;
  virtual const base::Config& config() const noexcept = 0;

  // ---- the user's completions
  // Reserved before the operation starts, so that complete() cannot fail: 0 is PH_AGAIN.
  virtual std::uint64_t promise(const UserEnd& end) = 0;
  // PH_OK may be followed by one error: what was over for the user has turned out not to be. `why`,
  // if not null, is what ph_last_error() says of an error then.
  virtual void complete(std::uint64_t promise, ph_status status,
                        const char* why = nullptr) noexcept = 0;
  // Nothing will be completed under it any more. It counts as an operation under way until then.
  virtual void release(std::uint64_t promise) noexcept = 0;
  // As if it had never been made: the operation was refused after all. The caller gives the user's
  // request its old value back.
  virtual void renounce(std::uint64_t promise) noexcept = 0;
  // PH_AGAIN, counted among the refusals of this rank.
  virtual ph_status again() noexcept = 0;
  // An error of an operation that was over for the user: a late completion with this local id tells
  // it, as of puts that are refused late. `why`: what ph_last_error() says then. Not while the lane
  // closes (note_unheard()).
  virtual void report_late(Rank /*rank*/, std::uint64_t /*local_id*/, ph_status /*status*/,
                           const char* /*why*/) noexcept {}
  // Something of a peer was dropped, and nobody is told: it is counted.
  virtual void note_dropped() noexcept {}
  // While the lane closes: an error of an operation that was over, for which no promise is left.
  // The close says it, if it has no other to say. Nobody misses what a rank that has left did not
  // take.
  virtual void note_unheard(Rank /*rank*/, ph_status /*status*/, const char* /*why*/) noexcept {}
  // Something that was over for the user went down with a rank that is lost, before any record of
  // it had gone, and nobody hears of it otherwise: ph_flush() and ph_finalize() say so.
  virtual void note_lost(Rank /*rank*/) noexcept {}
  // At the end of the call that made the promise: a request that is over at once is handed back.
  virtual void hand_over(std::uint64_t promise, ph_request* request) noexcept = 0;

  // ---- memory
  // A key for a buffer: that of a registration that grants this access, or of one made for it.
  virtual ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                           Exposed& exposed) = 0;
  // The key is stale at once where it was made for this. Nobody is waited for: the owner knows that
  // no peer uses it any more.
  virtual void conceal(Exposed& exposed) noexcept = 0;

  // It says whether that rank can store into what is exposed to it here by copies of its own:
  // PH_OK; PH_AGAIN: that shows when it is met; else it never can.
  virtual ph_status can_store_here(Rank /*rank*/) const noexcept { return PH_ERR_NOT_FOUND; }
  // Our own copy into what that rank has exposed to us for writing; it is over when this returns.
  // PH_AGAIN: we have no such way. Another status: the key or the place is no good (any more), and
  // some of the bytes may have come.
  virtual ph_status store(Rank /*to*/, const ph_target& /*at*/,
                          std::span<const std::byte> /*bytes*/) {
    return PH_AGAIN;
  }
  // As expose(), but the key is always one that was made for this, so that it can be revoked.
  virtual ph_status expose_alone(std::span<const std::byte> memory, std::uint32_t access,
                                 Exposed& exposed) {
    return expose(memory, access, exposed);
  }
  // To take back what was exposed for store(): revoke() each, fence() once, and then forget() each
  // until it is true. revoke(): its key is stale. fence(): whoever has not begun to copy under a
  // stale key by now never will. forget(): that rank copies under it no more, and it is gone.
  virtual void revoke(Exposed& exposed) noexcept { conceal(exposed); }
  virtual void fence() noexcept {}
  virtual bool forget(Exposed& /*exposed*/, Rank /*user*/) noexcept { return true; }

  // ---- memory that ranks of one host see
  // Whether that rank could see ours: the same answer in all ranks of a host, at any time. Whether
  // it does see() it shows when it tries.
  virtual bool shares_memory(Rank /*rank*/) const noexcept { return false; }
  // Zeroed memory that others can see(), at a multiple of 64; it is given to nobody else before the
  // context ends. Empty: there is none. Throws bad_alloc.
  virtual std::span<std::byte> share(std::size_t /*size_bytes*/) { return {}; }
  // Such memory of that rank, which was met: to be read. It stays readable as long as the port,
  // whatever becomes of the rank. Null: it cannot be seen here. Throws bad_alloc.
  virtual const std::byte* see(Rank /*rank*/, std::uint64_t /*address*/,
                               std::uint64_t /*size_bytes*/) {
    return nullptr;
  }
  // Memory that it looks at was written: if it sleeps, it wakes up. (No barrier is needed before.)
  virtual void wake_rank(Rank /*rank*/) noexcept {}
  // From now on look() is called, or no more. A rank may sleep all the same: who writes wakes it.
  virtual void wants_looks(bool /*wants*/) noexcept {}

  // ---- turns, user code
  virtual void wants_turn() noexcept = 0;
  virtual void wants_run() noexcept = 0;
  // Whether the call that is under way will run() what is due now, at its end, unless the lane
  // closes: the right to run is free, and the call runs user code.
  virtual bool runs_now() const noexcept { return false; }
  // Whether the calling thread is inside run() of this service.
  virtual bool is_in_run() const noexcept { return false; }
  // Whether it is the progress thread that makes this turn, in the place of a silent caller.
  virtual bool is_beside_caller() const noexcept { return false; }
  // What was begun takes long, and wants turns while the caller computes: the progress thread, if
  // there is one, comes soon.
  virtual void wants_company() noexcept {}
  // Threads of this rank that wait look at their conditions once more.
  virtual void wake() noexcept = 0;
  virtual std::int64_t now_ns() noexcept = 0;

  // ---- errors
  // The words of this owner's last error. fail() hands the status back.
  ph_status fail(ph_status status, Rank rank, std::string what) {
    last_error_ = base::Error{status, 0, std::move(what), rank};
    return status;
  }
  const base::Error& last_error() const noexcept { return last_error_; }

 protected:
  explicit Port(Owner owner) noexcept
      : word_header_(wire::encode(wire::Kind::message, 0, 0, owner)) {}

  // By rank; null: never met. Of the engine, or of a test.
  std::span<Outlet* const> outlets_;
  base::Error last_error_;

 private:
  // The rest of say_words(), apart so that it needs no stack frame.
  template <class... Words>
  [[gnu::noinline]] ph_status say_slowly(Rank to, Words... words) noexcept {
    const std::array<std::uint64_t, sizeof...(Words)> all{static_cast<std::uint64_t>(words)...};
    return say_anyhow(to, std::as_bytes(std::span(all)));
  }
  [[gnu::noinline]] ph_status say_line_slowly(Rank to, std::uint64_t word,
                                              ph_const_block rest) noexcept {
    std::array<std::byte, wire::kLineDataBytes> all;
    std::memcpy(all.data(), &word, sizeof word);
    if (rest.size_bytes != 0) std::memcpy(all.data() + sizeof word, rest.data, rest.size_bytes);
    return say_anyhow(to, std::span(all).first(sizeof word + rest.size_bytes));
  }
  // As say(), but that memory may run out: PH_ERR_MEMORY.
  virtual ph_status say_anyhow(Rank to, std::span<const std::byte> header) noexcept = 0;
  // That rank wants to be told of its records.
  virtual void tell(Rank to) noexcept = 0;

  const std::uint64_t word_header_;
};

// A counter of a service (Service::counter()).
struct CounterRow {
  const char* name;
  const char* help;
};

// A service that there is in this version: what api/ hands to the engine.
struct Kind {
  Owner owner;
  const char* name;
  std::unique_ptr<Service> (*make)(Port& port);
  std::span<const CounterRow> counters{};
};

}  // namespace photon::service
