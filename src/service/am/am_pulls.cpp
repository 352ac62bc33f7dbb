#include "service/am/am_pulls.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace photon::service::am {
namespace {

// A token of a get: the generation, the slot, the handle. Its uppermost bit is another part's.
constexpr unsigned kHandleBits = 4;
constexpr unsigned kSlotBits = 28;
constexpr std::uint32_t kGenerations = 0x7fff'ffff;
static_assert(std::size_t{1} << kHandleBits == Pull::kMostGets);

constexpr std::uint16_t bit_of(std::size_t handle) noexcept {
  return static_cast<std::uint16_t>(1u << handle);
}

std::size_t place_of(const Pull& pull, std::uint64_t offset) noexcept {
  return offset / pull.landing.part_bytes() % Pull::kMostParts;
}

}  // namespace

std::uint64_t Pulls::token_of(const Pull& pull, std::size_t handle) const noexcept {
  const std::uint64_t name = std::uint64_t{pull.generation} << kSlotBits | pull.slot;
  return name << kHandleBits | handle;
}

Pull* Pulls::find(Rank from, std::uint64_t token) noexcept {
  const std::uint64_t slot = token >> kHandleBits & ((std::uint64_t{1} << kSlotBits) - 1);
  if (slot >= all_.size()) return nullptr;
  Pull& pull = *all_[slot];
  const bool is_it = pull.generation == token >> (kHandleBits + kSlotBits) && pull.from == from;
  return is_it && pull.state != Pull::State::free ? &pull : nullptr;
}

// A quarter of the seam's quota, which is a quarter of `requests`.
std::uint64_t Pulls::most_gets() const noexcept {
  return std::max<std::uint64_t>(16, port_.config().requests / 4) / 4;
}

// ---- the life of a pull

Pull* Pulls::add(Rank from, const Word& word, const PullWords& words,
                 std::vector<SourceBlock>&& table) {
  if (sources_[from] == nullptr) sources_[from] = std::make_unique<Source>();
  if (sources_[from]->pulls >= kMostPulls) return nullptr;
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<Pull>());
    all_.back()->slot = static_cast<std::uint32_t>(all_.size() - 1);
    free_.push_back(all_.back()->slot);
  }
  Pull& pull = *all_[free_.back()];
  free_.pop_back();
  const std::uint32_t slot = pull.slot;
  const std::uint32_t generation = (pull.generation + 1) & kGenerations;
  pull = Pull();
  pull.slot = slot;
  pull.generation = generation;
  pull.state = Pull::State::arrived;
  pull.from = from;
  pull.word = word;
  pull.words = words;
  pull.source = std::move(table);
  ++sources_[from]->pulls;
  return &pull;
}

void Pulls::begin(Pull& pull) noexcept {
  pull.state = Pull::State::reading;
  ++reading_;
  ++*pull.node_pulls;
  --gates_.beside_handled;
  if (is_closing_) return fail(pull, PH_ERR_DEPARTED);
  wait(pull);
  go_on();  // which fails at once if its source is lost
}

void Pulls::end(Pull& pull, ph_status status) noexcept { finish(pull, status); }

void Pulls::finish(Pull& pull, ph_status status) noexcept {
  const bool was_begun = pull.state != Pull::State::arrived;
  pull.state = Pull::State::over;
  pull.status = status;
  --sources_[pull.from]->pulls;
  if (was_begun) {
    --reading_;
    --*pull.node_pulls;
    ++gates_.beside_handled;
    if (*pull.node_pulls == 0) port_.wake();  // somebody may unregister it
  }
  ends_.pull_over(pull);
  try_free(pull);
}

void Pulls::try_free(Pull& pull) noexcept {
  if (pull.state != Pull::State::over || (pull.busy | pull.given_up) != 0) return;
  if (pull.is_waiting || pull.is_due || pull.is_running) return;
  pull.state = Pull::State::free;
  std::vector<SourceBlock>().swap(pull.source);
  pull.landing = Landing();
  free_.push_back(pull.slot);
}

// ---- gets

bool Pulls::wants_more(const Pull& pull) const noexcept {
  if (pull.state != Pull::State::reading || pull.begun == pull.words.payload_bytes) return false;
  const std::uint64_t places = pull.landing.places();
  const std::uint64_t most =
      places == 0 ? Pull::kMostParts : std::min<std::uint64_t>(Pull::kMostParts, places);
  return (pull.begun - pull.told) / pull.landing.part_bytes() < most &&
         static_cast<std::uint16_t>(~(pull.busy | pull.given_up)) != 0;
}

void Pulls::list(Source& source) noexcept {
  if (!std::exchange(source.is_listed, true)) listed_.push(source);
}

// Who has begun goes before those that have not.
void Pulls::wait(Pull& pull) noexcept {
  Source& source = *sources_[pull.from];
  if (!std::exchange(pull.is_waiting, true)) {
    if (pull.begun == 0)
      source.waiting.push(pull);
    else
      source.waiting.push_front(pull);
  }
  list(source);
}

ph_status Pulls::begin_get(Pull& pull) noexcept {
  const std::span<std::byte> place = pull.landing.piece(pull.begun);
  const SourceBlock from = pull.source[pull.block];
  const std::uint64_t size =
      std::min<std::uint64_t>(place.size(), from.size_bytes - pull.into_block);
  const auto handle = static_cast<std::size_t>(
      std::countr_one(static_cast<std::uint16_t>(pull.busy | pull.given_up)));
  Port::Fetch fetch;
  fetch.from = {from.address + pull.into_block, from.key};
  fetch.to = place.first(size);
  fetch.token = token_of(pull, handle);
  ph_status status = PH_ERR_MEMORY;
  try {
    status = port_.get(pull.from, fetch, pull.handles[handle]);
  } catch (const std::bad_alloc&) {
  }
  if (status != PH_OK) return status;
  Source& source = *sources_[pull.from];
  ++source.gets;
  ++gets_;
  pull.busy = static_cast<std::uint16_t>(pull.busy | bit_of(handle));
  const std::size_t part = place_of(pull, pull.begun);
  pull.part_of[handle] = static_cast<std::uint8_t>(part);
  ++pull.open[part];
  pull.begun += size;
  pull.into_block += size;
  if (pull.into_block == from.size_bytes) {
    ++pull.block;
    pull.into_block = 0;
  }
  return PH_OK;
}

// A get for each source in turn, until nobody wants one or the quota is used up. What is called
// from here may lose a peer, or end a pull; so nothing is kept over a call.
void Pulls::go_on() noexcept {
  if (std::exchange(is_going_on_, true)) return;
  while (Source* const source = listed_.first()) {
    Pull* const pull = source->waiting.first();
    if (pull == nullptr || source->gets >= most_gets()) {
      listed_.pop().is_listed = false;  // the next end of a get lists it again
      continue;
    }
    if (!wants_more(*pull)) {
      source->waiting.pop().is_waiting = false;
      try_free(*pull);
      continue;
    }
    const ph_status status = begin_get(*pull);
    if (status == PH_AGAIN) break;
    if (status != PH_OK) fail(*pull, status);
    listed_.push(listed_.pop());
  }
  is_going_on_ = false;
}

void Pulls::on_local(Rank from, std::uint64_t token, ph_status status) noexcept {
  Pull* const pull = find(from, token);
  const std::size_t handle = token & (Pull::kMostGets - 1);
  const std::uint16_t bit = bit_of(handle);
  if (pull != nullptr && ((pull->busy | pull->given_up) & bit) != 0) {
    Source& source = *sources_[from];
    --source.gets;
    --gets_;
    if (source.waiting.first() != nullptr) list(source);
    const bool may_have_written = (pull->busy & bit) != 0;
    pull->busy = static_cast<std::uint16_t>(pull->busy & ~bit);
    pull->given_up = static_cast<std::uint16_t>(pull->given_up & ~bit);
    if (may_have_written) {
      --pull->open[pull->part_of[handle]];
      if (status != PH_OK) fail(*pull, status);
      advance(*pull);
    } else {
      try_free(*pull);
    }
  }
  go_on();
}

// ---- parts and ends

bool Pulls::has_part(const Pull& pull) const noexcept {
  return pull.state == Pull::State::reading && pull.told != pull.words.payload_bytes &&
         pull.begun >= pull.landing.part_end(pull.told) &&
         pull.open[place_of(pull, pull.told)] == 0;
}

// Bytes have come, or a part was handled.
void Pulls::advance(Pull& pull) noexcept {
  if (pull.state == Pull::State::ending) return try_end(pull);
  if (pull.state != Pull::State::reading) return try_free(pull);
  const bool has_handler = pull.landing.done() != nullptr;
  while (!has_handler && has_part(pull)) {
    ++sources_[pull.from]->parts;
    pull.told = pull.landing.part_end(pull.told);
  }
  const std::uint64_t all = pull.words.payload_bytes;
  if (pull.begun == all && pull.busy == 0 && !pull.has_told_read) {
    pull.has_told_read = true;
    sources_[pull.from]->bytes += all;
    if (pull.told != all && !pull.word.has(kTellsHandled)) ends_.pull_read(pull);
  }
  // A peer may have been lost by that.
  if (pull.state == Pull::State::reading && pull.told == all) return finish(pull, PH_OK);
  if (has_handler && has_part(pull)) make_due(pull);
  if (wants_more(pull)) wait(pull);
}

void Pulls::make_due(Pull& pull) noexcept {
  if (pull.is_due || pull.is_running) return;
  pull.is_due = true;
  due_.push(pull);
  port_.wants_run();
}

void Pulls::fail(Pull& pull, ph_status status) noexcept {
  if (pull.state != Pull::State::reading) return;
  pull.state = Pull::State::ending;
  pull.status = status;
  for (std::size_t handle = 0; handle != Pull::kMostGets; ++handle) {
    const std::uint16_t bit = bit_of(handle);
    if ((pull.busy & bit) == 0 || !port_.give_up(pull.handles[handle])) continue;
    pull.busy = static_cast<std::uint16_t>(pull.busy & ~bit);
    pull.given_up = static_cast<std::uint16_t>(pull.given_up | bit);
  }
  try_end(pull);
}

// Its completion handler may still run, or something may write to the landing: then it is tried
// again when that is over.
void Pulls::try_end(Pull& pull) noexcept {
  if (pull.state != Pull::State::ending || pull.busy != 0 || pull.is_running) return;
  if (pull.landing.done() == nullptr || is_closing_) return finish(pull, pull.status);
  make_due(pull);
}

Pulls::Call Pulls::collect() noexcept {
  Call call;
  while (call.pull == nullptr && due_.first() != nullptr) {
    Pull& pull = due_.pop();
    pull.is_due = false;
    const bool ends = pull.state == Pull::State::ending && pull.busy == 0;
    if (ends)
      call.part = Landing::ending(pull.told, pull.status);
    else if (has_part(pull))
      call.part = pull.landing.part(pull.told);
    else
      try_free(pull);  // it was to be told of a part, and is ending now
    if (!ends && !has_part(pull)) continue;
    pull.is_running = true;
    call.pull = &pull;
  }
  return call;
}

void Pulls::settle(const Call& call) noexcept {
  if (call.pull == nullptr) return;
  Pull& pull = *call.pull;
  pull.is_running = false;
  const ph_status verdict = as_verdict(call.returned);
  if (call.part.status != PH_OK) {
    finish(pull, pull.status);
  } else {
    ++sources_[pull.from]->parts;
    pull.told += call.part.size_bytes;
    if (call.part.is_last != 0) {
      finish(pull, verdict);
    } else {
      if (verdict != PH_OK) fail(pull, verdict);
      advance(pull);
    }
  }
  if (has_due()) port_.wants_run();
  go_on();
}

// What is there already is handled all the same.
void Pulls::on_lost(Rank rank, ph_status why) noexcept {
  for (std::size_t slot = 0; slot != all_.size(); ++slot) {
    Pull& pull = *all_[slot];
    if (pull.state == Pull::State::reading && pull.from == rank && !pull.has_told_read)
      fail(pull, why);
  }
}

void Pulls::close() noexcept {
  is_closing_ = true;
  while (due_.first() != nullptr) {
    Pull& pull = due_.pop();
    pull.is_due = false;
    try_free(pull);
  }
  for (std::size_t slot = 0; slot != all_.size(); ++slot) {
    Pull& pull = *all_[slot];
    fail(pull, PH_ERR_DEPARTED);
    try_end(pull);
  }
}

}  // namespace photon::service::am
