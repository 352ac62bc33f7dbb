// Settings, shape and operations of a program.
#include "simtest/program.hpp"

#include "simtest/program_generator.hpp"
#include "simtest/words.hpp"

namespace photon::simtest {

namespace {

// Much more than a rank that stays lets others wait: a loan's end comes behind what was put before,
// in rows of a few bytes that may be 20 ms, and nothing of the leaver's moves meanwhile.
constexpr std::uint64_t kFinalizeTimeoutMs = 1000;

}  // namespace

void Generator::draw_options(bool has_many) {
  option("ledger_slots", one_of<4>({2, 4, 16, 64}));
  option("ring_lines", one_of<2>({64, 128}));
  const std::uint64_t bulk = one_of<2>({8192, 65536});
  option("bulk_bytes", bulk);
  const std::uint64_t largest = bulk / 4;  // what the settings allow
  chunk_ = one_of<3>({1024, 2048, 8192});
  chunk_ = std::min(chunk_, largest);
  option("bulk_chunk", chunk_);
  option("requests", one_of<3>({16, 64, 256}));
  packed_max_ = one_of<4>({0, 64, 192, 1024});
  option("packed_max", packed_max_);
  option("direct_min", one_of<3>({0, 64, 4096}));
  const std::uint64_t piece = one_of<3>({256, 4096, 65536});
  option("piece_bytes", piece);
  option("posted_piece_bytes", piece);
  id_max_ = static_cast<std::uint32_t>(one_of<4>({8, 8, 64, 1024}));
  option("max_cid_size", id_max_);
  option("max_regions", has_many ? 256 : 64);
  option("arena_bytes", 1 << 20);
  option("finalize_timeout_ms", kFinalizeTimeoutMs);
  option("spin_us", 0);
  program_.options.emplace_back("oversubscribed", "no");
}

// What a NIC may know of a rank's own memory. Draws of their own, so that the others are what they
// were before there were these.
void Generator::draw_cache(transport::sim::Random random) {
  constexpr std::array<std::uint64_t, 3> kBytes = {16 << 10, 64 << 10, 1 << 20};
  constexpr std::array<std::uint64_t, 4> kEntries = {1, 2, 8, 1024};
  option("source_cache_bytes", kBytes[random.up_to(kBytes.size() - 1)]);
  option("source_cache_entries", kEntries[random.up_to(kEntries.size() - 1)]);
  constexpr std::array<std::uint64_t, 4> kOverflow = {0, 64, 1024, 1 << 30};
  option("overflow_bytes", 4096 << random.up_to(1));
  option("overflow_total_bytes", kOverflow[random.up_to(kOverflow.size() - 1)]);
  constexpr std::array<std::uint64_t, 4> kMapped = {33, 33, 200, 4096};
  option("mapped_min", kMapped[random.up_to(kMapped.size() - 1)]);
}

void Generator::draw_shape() {
  shape_.probe_percent = one_of<3>({15, 50, 90});
  shape_.fault_percent = one_of<3>({0, 3, 10});
  shape_.overlap_percent = one_of<3>({0, 10, 40});
  shape_.lent_percent = one_of<3>({0, 5, 20});
  shape_.reads_percent = one_of<3>({0, 20, 60});
  shape_.big_percent = one_of<3>({0, 3, 10});
  shape_.flags_percent = one_of<3>({0, 15, 40});
  shape_.request_percent = one_of<3>({0, 15, 60});
  shape_.atomic_percent = one_of<3>({0, 5, 30});
  shape_.order_percent = one_of<3>({1, 5, 15});
  shape_.focus_percent = one_of<3>({0, 50, 100});
  shape_.focus = any_rank();
  const ph_rank slow = any_rank();
  if (chance(40)) shape_.slow = slow;
}

// In a quarter of the programs some ranks go while others still send to them; one stays.
void Generator::draw_leavers() {
  if (!chance(25)) return;
  shape_.leavers.resize(program_.ranks);
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) shape_.leavers[rank] = chance(40);
  shape_.leavers[any_rank()] = false;
}

void Generator::add_all(ph_rank rank, std::uint32_t operations) {
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  if (leaves) operations = static_cast<std::uint32_t>(1 + random_.up_to(operations));
  for (std::uint32_t i = 0; i < operations; ++i) {
    add(rank, operation());
    add_others(rank);
  }
  if (!leaves) return;
  Step step;
  step.verb = Verb::leave;
  add(rank, step);
}

ph_rank Generator::draw_peer() {
  const ph_rank peer = any_rank();
  return chance(shape_.focus_percent) ? shape_.focus : peer;
}

// Around every size where the library takes another way.
std::uint64_t Generator::draw_size() {
  if (chance(shape_.big_percent)) return random_.up_to(20000);
  if (chance(30)) return random_.up_to(64);
  if (chance(50)) return one_of<12>({0, 1, 7, 8, 9, 31, 32, 33, 48, 63, 64, 65});
  const std::uint64_t around =
      one_of<8>({packed_max_, packed_max_, 192, 1024, chunk_ / 2, chunk_, chunk_ * 2, 4096});
  const std::uint64_t more = random_.up_to(2);
  return around + more - std::min<std::uint64_t>(around, 1);
}

std::uint32_t Generator::draw_id_size(std::uint32_t least) {
  if (chance(50)) return 8;
  if (chance(10)) return id_max_;  // the largest records there are
  const auto any = static_cast<std::uint32_t>(random_.up_to(id_max_));
  const auto little = static_cast<std::uint32_t>(random_.up_to(std::min(id_max_, 12u)));
  const std::uint32_t drawn = chance(30) ? any : little;
  return std::max(least, drawn);
}

// A range for this step alone, with a gap behind it that nobody may write.
void Generator::own_range(Step& step) {
  step.area = Area::window;
  step.offset = next_free_[step.peer];
  const std::uint64_t gap = 1 + random_.up_to(8);
  next_free_[step.peer] += step.size_bytes + gap;
}

void Generator::lent_range(Step& step) {
  step.area = chance(50) ? Area::arena : Area::extra;
  step.size_bytes = std::min(step.size_bytes, kLentBytes);
  step.offset = random_.up_to(kLentBytes - step.size_bytes);
}

// Of a get: bytes that others write meanwhile, or that are taken back.
void Generator::changing_range(Step& step) {
  const std::uint64_t kind = random_.up_to(2);
  if (kind == 0) return lent_range(step);
  step.area = kind == 1 ? Area::contended : Area::window;
  const std::uint64_t begin = kind == 1 ? 0 : kContendedBytes;
  const std::uint64_t end = kind == 1 ? kContendedBytes : next_free_[step.peer];
  step.size_bytes = std::min(step.size_bytes, end - begin);
  step.offset = begin + random_.up_to(end - begin - step.size_bytes);
}

void Generator::draw_place(Step& step) {
  step.size_bytes = step.verb == Verb::notify ? 0 : draw_size();
  if (is_get(step) && chance(shape_.reads_percent)) return changing_range(step);
  if (is_get(step)) {
    step.area = Area::library;
    step.offset = random_.up_to(kLibraryBytes - step.size_bytes);
    return;
  }
  if (chance(shape_.overlap_percent)) {
    step.area = Area::contended;
    step.size_bytes = std::min<std::uint64_t>(step.size_bytes, 700);
    step.offset = random_.up_to(kContendedBytes - step.size_bytes);
    return;
  }
  if (chance(shape_.lent_percent)) {
    lent_range(step);
    return;
  }
  own_range(step);
}

void Generator::draw_flags(Step& step) {
  if (step.verb == Verb::put_u64 || step.verb == Verb::get_u64) return;
  if (step.verb == Verb::notify) {
    step.flags = PH_NO_LCE;  // what it stands for
    return;
  }
  if (chance(shape_.flags_percent)) step.flags |= PH_NO_LCE;
  if (chance(shape_.flags_percent)) step.flags |= PH_NO_RCE;
  if (chance(shape_.flags_percent)) step.flags |= PH_ORDER_NONE;
  if (chance(shape_.flags_percent))
    step.flags |= std::uint32_t{is_get(step) ? PH_NOTICE_ACCEPTED : PH_DELIVERED};
  step.requested = chance(shape_.request_percent);
  if (step.requested) step.flags &= ~std::uint32_t{PH_NO_LCE};
  // What a get of changing memory may bring is known when it ends, so somebody must hear of that.
  if (is_get(step) && step.area != Area::library) step.flags &= ~std::uint32_t{PH_NO_LCE};
}

// Ids too short to name their operation go only where it does not matter which one is meant: the
// order tells remote ones, and local ones neither free anything we check nor tell of a landing.
// The local id of an operation with a request names it in late errors only.
void Generator::draw_ids(Step& step) {
  if (step.verb != Verb::put && step.verb != Verb::get) return;
  const bool kind_is_plain = !is_get(step) && step.fault == Fault::none && !is_lent(step.area);
  // An operation that a leaver, a dead rank or a lost link leaves undone may be told of late, with
  // the first bytes of its id alone.
  const bool plain =
      kind_is_plain && shape_.leavers.empty() && shape_.dying.empty() && !shape_.loses_links;
  const bool local_any = plain && (step.flags & PH_DELIVERED) == 0 && !step.requested;
  const bool remote_any = plain && (step.flags & PH_ORDER_NONE) == 0;
  step.local_id_bytes = draw_id_size(local_any ? 0 : kNumberedId);
  step.remote_id_bytes = draw_id_size(remote_any ? 0 : kNumberedId);
  if (step.fault == Fault::id_too_long) step.remote_id_bytes = id_max_ + 1;
}

void Generator::draw_fault(Step& step) {
  if (!chance(shape_.fault_percent)) return;
  if (step.verb != Verb::put && step.verb != Verb::get) return;
  constexpr std::array<Fault, 8> kFaults = {
      Fault::no_such_rank, Fault::id_too_long, Fault::null_memory,  Fault::unknown_flag,
      Fault::wrong_key,    Fault::stale_key,   Fault::out_of_range, Fault::no_access};
  step.fault = kFaults[random_.up_to(kFaults.size() - 1)];
  step.size_bytes = std::max<std::uint64_t>(1, step.size_bytes);
  if (step.fault == Fault::no_such_rank) step.peer = program_.ranks + any_rank();
  // Within the region, so that just one thing is wrong.
  if (step.fault == Fault::stale_key) step.size_bytes = std::min(step.size_bytes, kLentBytes);
  if (step.fault == Fault::no_access) step.size_bytes = std::min(step.size_bytes, kInnerBytes);
  // What is refused later takes no place where others land.
  step.area = is_get(step) ? Area::library : Area::contended;
  step.offset = 0;
  // Beyond the end from the first byte on, or with some bytes before it in the tail.
  if (step.fault == Fault::out_of_range) step.offset = random_.up_to(kTailBytes);
  if (step.fault == Fault::out_of_range) step.size_bytes += kTailBytes;
}

Step Generator::operation() {
  Step step;
  step.peer = draw_peer();
  if (chance(shape_.atomic_percent)) return atomic(step.peer);
  constexpr std::array<Verb, 11> kVerbs = {Verb::put, Verb::put,     Verb::put,     Verb::put,
                                           Verb::put, Verb::put_u64, Verb::put_u64, Verb::notify,
                                           Verb::get, Verb::get,     Verb::get_u64};
  step.verb = kVerbs[random_.up_to(kVerbs.size() - 1)];
  draw_place(step);
  draw_fault(step);
  draw_flags(step);
  draw_ids(step);
  cut_up(step);
  return step;
}

// Small numbers, so that what is compared is often there.
Step Generator::atomic(ph_rank peer) {
  Step step;
  step.verb = Verb::atomic;
  step.peer = peer;
  step.area = Area::words;
  const auto word = static_cast<std::uint32_t>(random_.up_to(Words::kWords - 1));
  step.offset = word * sizeof(std::uint64_t);
  step.size_bytes = Words::bytes_of(word);
  step.operand = 1 + random_.up_to(6);
  step.compare = random_.up_to(7);
  step.fetches = !Words::is_sum(word) || chance(60);
  if (!Words::is_sum(word)) step.op = static_cast<ph_op>(1 + random_.up_to(7));
  if (chance(shape_.flags_percent)) step.flags |= PH_NO_RCE;
  if (chance(shape_.flags_percent)) step.flags |= PH_ORDER_NONE;
  step.requested = chance(shape_.request_percent);
  if (chance(shape_.fault_percent)) step.fault = Fault::wrong_key;
  return step;
}

Step Generator::contended(ph_rank peer) {
  Step step;
  step.verb = Verb::put;
  step.peer = peer;
  step.area = Area::contended;
  step.size_bytes = std::min<std::uint64_t>(draw_size(), 700);
  step.offset = random_.up_to(std::min<std::uint64_t>(300, kContendedBytes - step.size_bytes));
  draw_flags(step);
  draw_ids(step);
  return step;
}

namespace {

bool has(const Program& program, ph_rank rank, Verb verb) {
  return std::any_of(program.steps[rank].begin(), program.steps[rank].end(),
                     [verb](const Step& step) { return step.verb == verb; });
}

}  // namespace

bool leaves_early(const Program& program, ph_rank rank) { return has(program, rank, Verb::leave); }

bool stays(const Program& program, ph_rank rank) {
  return !leaves_early(program, rank) && !has(program, rank, Verb::die);
}

bool loses_links(const Program& program) {
  for (ph_rank rank = 0; rank < program.ranks; ++rank)
    if (has(program, rank, Verb::lose_link)) return true;
  return false;
}

Program generate(std::uint64_t seed, std::uint32_t ranks, std::uint32_t operations,
                 const Choice& choice) {
  return Generator(seed, ranks).run(operations, choice);
}

}  // namespace photon::simtest
