// copies CASE: two processes and what must hold for every copy between them, whichever way it
// goes (PHOTON_SHM_COPIES, PHOTON_SHM_CMA). Each case has both kinds of memory, that of ph_alloc()
// and ordinary one, and several sizes.
//
//   ends             memory that ends, and begins, at a page which cannot be used
//   gone_source      a source that was unmapped before the call
//   taken_back       a key that is taken back in the middle of a stream
//   stopped          a receiver that is stopped in the middle of a stream, and goes on
//   sender_killed    a sender that is killed in the middle of a stream
//   receiver_killed  a receiver that is killed with operations under way to it
//
// Rank 1 is the receiver; where the sender is killed it is the sender, for it is rank 1 that dies.
// Exit status 0: all of it holds.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "copied_blocks.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kChunk = 32 << 10, kPiece = 256 << 10, kBulk = 2 << 20;  // as by default
constexpr unsigned char kEmpty = 0xee;

pid_t other_process(ph_context* context) {
  const pid_t mine = ::getpid();
  pid_t all[2] = {};
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  return all[1 - ph_rank_of(context)];
}

struct Kind {
  bool is_allocated;
  std::size_t size_bytes;
};

constexpr Kind kKinds[] = {{true, 3000},  {true, 40'000},  {true, kPiece + 4096},
                           {false, 3000}, {false, 40'000}, {false, kPiece + 4096}};

// ---- memory that ends

constexpr std::size_t kEndSizes[] = {2047,       2048,   2049,       kChunk / 2, kChunk / 2 + 1,
                                     kChunk + 1, kPiece, kPiece + 1, kBulk + 1,  2 * kBulk + 1};

// A put from rank 0 and a get of the same bytes; own memory and, unless it is of ph_alloc(), that
// of rank 1 is all that there is on one of its sides, or on both.
void copy_at_ends(ph_context* context, std::size_t size_bytes, bool is_allocated, bool is_at_end) {
  const auto place = [is_at_end](Fenced& memory) {
    return is_at_end ? memory.at_end() : memory.at_begin();
  };
  Fenced own(size_bytes);
  Fenced shown(size_bytes);
  ph_region mine{}, all[2]{};
  require(context,
          is_allocated ? ph_alloc(context, size_bytes, &mine)
                       : ph_register(context, place(shown), size_bytes, PH_ACCESS_ALL, &mine),
          "memory");
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  if (ph_rank_of(context) == 1) {
    await_id(context, size_bytes);
    expect_pattern(context, size_bytes, reinterpret_cast<void*>(mine.address), size_bytes);
    notify(context, kReady);
    await_id(context, size_bytes + 1);
  } else {
    Pattern(size_bytes).fill(place(own), size_bytes);
    require(context,
            ph_put_u64(context, 1, {place(own), size_bytes}, ph_at(&all[1], 0),
                       {size_bytes, size_bytes}),
            "put");
    await_end(context, size_bytes, PH_OK);
    await_id(context, kReady);
    std::memset(place(own), 0, size_bytes);
    require(context,
            ph_get_u64(context, 1, {place(own), size_bytes}, ph_at(&all[1], 0),
                       {size_bytes + 1, size_bytes + 1}),
            "get");
    await_end(context, size_bytes + 1, PH_OK);
    expect_pattern(context, size_bytes, place(own), size_bytes);
  }
  require(context, ph_barrier(context), "barrier");
  require(context,
          is_allocated ? ph_free(context, reinterpret_cast<void*>(mine.address))
                       : ph_unregister(context, mine.key),
          "giving it back");
}

void ends(ph_context* context) {
  for (const bool is_allocated : {true, false})
    for (const bool is_at_end : {true, false})
      for (const std::size_t size : kEndSizes) copy_at_ends(context, size, is_allocated, is_at_end);
}

// ---- a source that is gone

// The sizes are beyond what a call copies itself: each way promises to look at such a source.
void gone_source(ph_context* context) {
  for (const bool is_allocated : {true, false}) {
    Shown memory(context, is_allocated, 3 * kBulk);
    for (const std::size_t size : {kPiece + 1, kBulk, 3 * kBulk}) {
      if (ph_rank_of(context) == 1) {
        await_id(context, kReady);  // and not that of the bad one
      } else {
        Fenced source(size);
        Pattern(size).fill(source.at_begin(), size);
        source.unmap();
        const ph_status status = ph_put_u64(context, 1, {source.at_begin(), size},
                                            ph_at(&memory.theirs(), 0), {size, size});
        if (status == PH_OK)
          await_end(context, size, PH_ERR_ARGUMENT);
        else if (status != PH_ERR_ARGUMENT)
          fail(context, "a source that is gone", status);
        notify(context, kReady);
      }
      require(context, ph_barrier(context), "barrier");
    }
  }
}

// ---- a key that is taken back

constexpr std::size_t kKept = 10;  // blocks that are looked at before

// Each block is probed at rank 1 or fails here. One that was copied straight to its place while the
// key was good is told, also behind others that wait in the ring and are refused.
void put_until_refused(ph_context* context, Shown& memory, const Blocks::Slots& slots) {
  Blocks blocks(context, memory, slots);
  Ends ended(context, PH_ERR_KEY);
  std::uint64_t posted = 0;
  for (; ended.failed() == 0; ++posted) {
    if (posted >= slots.count) ended.await(posted - (slots.count - kKept));
    const ph_status status = insist(ended, [&] { return blocks.put(posted); });
    if (status == PH_ERR_KEY) break;
    require(context, status, "put");
  }
  require(context, ph_flush(context, 1, kLongUs), "flush");
  for (std::uint64_t number = 0; number < posted; ++number) ended.await(number);
  notify(context, kEnded + posted - ended.failed());
  await_id(context, kReady);
}

void take_back_while_written(ph_context* context, Shown& memory, bool is_allocated,
                             const Blocks::Slots& slots) {
  Blocks blocks(context, memory, slots);
  std::uint64_t met = 0;
  for (; met < kKept; ++met) {
    await_id(context, met);
    blocks.expect_whole(met);
  }
  const std::size_t all_bytes = slots.count * slots.size_bytes;
  require(
      context,
      is_allocated ? ph_free(context, memory.data()) : ph_unregister(context, memory.mine().key),
      "taking it back");
  // Memory of ph_alloc() is likely to be the same again.
  ph_region again = memory.mine();
  if (is_allocated) require(context, ph_alloc(context, all_bytes, &again), "alloc");
  auto* bytes = reinterpret_cast<unsigned char*>(again.address);
  std::memset(bytes, kEmpty, all_bytes);
  std::uint64_t least = met;
  for (;;) {
    const ph_completion one = next(context, 0, PH_REMOTE);
    if (one.id >= kEnded) {
      expect(context, one.id == kEnded + met, "a put was lost without a word, or told twice");
      break;
    }
    expect(context, one.id >= least, "ids are in another order");
    least = one.id + 1;
    ++met;
  }
  expect(context, all_are({reinterpret_cast<std::byte*>(bytes), all_bytes}, std::byte{kEmpty}),
         "memory was written that is not shown");
  notify(context, kReady);
}

void taken_back(ph_context* context) {
  for (const auto& [is_allocated, size_bytes] : kKinds) {
    const Blocks::Slots slots{size_bytes, kKept + 8, kKept};
    Shown memory(context, is_allocated, slots.count * size_bytes);
    if (ph_rank_of(context) == 1)
      take_back_while_written(context, memory, is_allocated, slots);
    else
      put_until_refused(context, memory, slots);
    require(context, ph_barrier(context), "barrier");
  }
}

// ---- ranks that are stopped

constexpr std::uint64_t kStream = 60, kStops = 4;

void put_to_stopped(ph_context* context, Blocks& blocks, pid_t receiver) {
  Ends ended(context, PH_OK);
  for (std::uint64_t number = 0; number < kStream; ++number) {
    const std::uint64_t phase = number % (kStream / kStops);
    if (phase == 4) ::kill(receiver, SIGSTOP);
    if (phase == 12) ::kill(receiver, SIGCONT);
    require(context, insist(ended, [&] { return blocks.put(number); }), "put");
    for (int turn = 0; turn < 20; ++turn) ended.take();  // what nobody copies the kernel may
  }
  for (std::uint64_t number = 0; number < kStream; ++number) ended.await(number);
}

void stopped(ph_context* context) {
  const pid_t other = other_process(context);
  for (const auto& [is_allocated, size_bytes] : kKinds) {
    Shown memory(context, is_allocated, kStream * size_bytes);
    Blocks blocks(context, memory, {size_bytes, kStream});
    if (ph_rank_of(context) == 0) {
      put_to_stopped(context, blocks, other);
      notify(context, kReady);
    } else {
      for (std::uint64_t number = 0; number < kStream; ++number) {
        await_id(context, number);
        blocks.expect_whole(number);
      }
      await_id(context, kReady);  // none came twice
      for (std::uint64_t number = 0; number < kStream; ++number) blocks.expect_whole(number);
    }
    require(context, ph_barrier(context), "barrier");
  }
}

// ---- ranks that are killed: rank 1

constexpr std::size_t kSlots = 8;

// Puts until the process is killed. A slot is written again when its block was looked at.
[[noreturn]] void put_forever(ph_context* context, Blocks& blocks) {
  Ends ended(context, PH_OK);
  for (std::uint64_t number = 0;; ++number) {
    if (number >= kSlots) {
      await_id(context, number - kSlots);
      ended.await(number - kSlots);
    }
    require(context, insist(ended, [&] { return blocks.put(number); }), "put");
  }
}

void sender_killed(ph_context* context, const Kind& kind) {
  const pid_t other = other_process(context);
  Shown memory(context, kind.is_allocated, kSlots * kind.size_bytes);
  Blocks blocks(context, memory, {kind.size_bytes, kSlots});
  if (ph_rank_of(context) == 1) put_forever(context, blocks);
  constexpr std::uint64_t kEnough = 30;
  ph_status status = PH_OK;
  for (std::uint64_t number = 0; status == PH_OK;) {
    ph_completion one{};
    std::size_t count = 0;
    require(context, ph_probe(context, {1, PH_REMOTE, nullptr}, &one, 1, &count), "probe");
    if (count == 0) {
      status = ph_wait(context, {1, PH_REMOTE, nullptr}, kLongUs);
      continue;
    }
    expect(context, one.id == number, "another id than the next one");
    if (number == kEnough) ::kill(other, SIGKILL);
    blocks.expect_whole(number);
    const ph_status told = ph_notify(context, 1, number++);
    if (told != PH_ERR_PEER) require(context, told, "notify");
  }
  if (status != PH_ERR_PEER) fail(context, "the wait for a rank that was killed", status);
}

// The receiver is stopped first, so that operations which need it are under way when it dies.
void receiver_killed(ph_context* context, const Kind& kind) {
  const pid_t other = other_process(context);
  constexpr std::uint64_t kWell = 6, kAll = 30;
  Shown memory(context, kind.is_allocated, kAll * kind.size_bytes);
  Blocks blocks(context, memory, {kind.size_bytes, kAll});
  while (ph_rank_of(context) == 1) next(context, 0, PH_REMOTE);
  Ends ended(context, PH_ERR_PEER);
  for (std::uint64_t number = 0; number < kAll; ++number) {
    if (number == kWell) ::kill(other, SIGSTOP);
    const std::uint32_t flags = number % 3 == 1 ? std::uint32_t{PH_DELIVERED} : 0;
    require(
        context,
        insist(ended,
               [&] { return number % 3 == 2 ? blocks.get(number) : blocks.put(number, flags); }),
        "an operation");
  }
  ::kill(other, SIGKILL);
  for (std::uint64_t number = 0; number < kAll; ++number) ended.await(number);
  const ph_status waited = ph_wait(context, {1, PH_REMOTE, nullptr}, kLongUs);
  if (waited != PH_ERR_PEER) fail(context, "a wait for a rank that was killed", waited);
  const ph_status flushed = ph_flush(context, 1, kLongUs);
  if (flushed != PH_ERR_PEER) fail(context, "a flush to a rank that was killed", flushed);
  ended.take();
  const char* cma = std::getenv("PHOTON_SHM_CMA");
  const bool needs_it = !kind.is_allocated && cma != nullptr && std::strcmp(cma, "off") == 0;
  expect(context, ended.failed() != 0 || !needs_it, "no operation has failed");
  const ph_status status = blocks.put(0);
  if (status != PH_ERR_PEER) fail(context, "a put to a rank that was killed", status);
}

// ---- the job

template <class Body>
int run_job(bool has_victim, const Body& body) {
  return run_ranks(2, {}, has_victim, [&](const ph_bootstrap& bootstrap) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also of one that is stopped
    const ph_config config{sizeof config, &bootstrap, nullptr, 0};
    ph_context* context = nullptr;
    if (ph_context_create(&config, &context, nullptr) != PH_OK) return 3;
    meet(context);
    body(context);
    const ph_status status = ph_finalize(context);
    ph_context_destroy(context);
    return status == PH_OK || has_victim ? 0 : 5;
  });
}

int run(const std::string& name) {
  constexpr struct {
    const char* name;
    void (*body)(ph_context*);
  } kWhole[] = {{"ends", ends},
                {"gone_source", gone_source},
                {"taken_back", taken_back},
                {"stopped", stopped}};
  for (const auto& one : kWhole)
    if (name == one.name) return run_job(false, one.body);
  void (*body)(ph_context*, const Kind&) = nullptr;
  if (name == "sender_killed") body = sender_killed;
  if (name == "receiver_killed") body = receiver_killed;
  if (body == nullptr) return 2;
  for (const Kind& kind : kKinds)
    if (const int status = run_job(true, [&](ph_context* context) { body(context, kind); });
        status != 0)
      return status;
  return 0;
}

}  // namespace
}  // namespace photon::test

int main(int count, char** arguments) { return count == 2 ? photon::test::run(arguments[1]) : 2; }
