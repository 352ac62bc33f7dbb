#include "pwc_provider.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace {

// Lane numbers are the program's: this one is the provider's, on all ranks.
constexpr std::uint32_t kLane = 0x70776301;
constexpr std::size_t kAtOnce = 16;  // completions of one look

// Ids of 64 bits, as in the paper: the first 8 say what they are, the rest depends on that.
enum class Word : std::uint64_t {
  greet = 1,
  ask,
  address_low,
  address_high,
  key_low,
  key_high,
  data,
  credit
};
constexpr unsigned kKindShift = 56;
constexpr std::uint64_t kRest = (std::uint64_t{1} << kKindShift) - 1;

constexpr std::uint64_t word(Word kind, std::uint64_t rest = 0) {
  return static_cast<std::uint64_t>(kind) << kKindShift | (rest & kRest);
}

bool is_loss(ph_status status) { return status == PH_ERR_PEER || status == PH_ERR_DEPARTED; }

}  // namespace

PwcProvider::PwcProvider() {
  table_.size = sizeof table_;
  table_.name = "pwc";
  table_.user = this;
  table_.takes = takes;
  table_.join = join;
  table_.leave = leave;
  table_.begin = begin;
  table_.advance = advance;
  table_.cancel = cancel;
  table_.progress = progress;
}

// ---- the table

int PwcProvider::takes(void*, const ph_coll_call* call) {
  switch (call->kind) {
    case PH_COLL_BARRIER:
    case PH_COLL_BCAST:
    case PH_COLL_ALLREDUCE:
    case PH_COLL_SCAN: return 1;
    case PH_COLL_GATHERV:
    case PH_COLL_ALLTOALLV: return (call->flags & PH_COUNTS_FROM_SENDERS) == 0;
    default: return 0;
  }
}

ph_status PwcProvider::join(void* self, const ph_coll_team* team, void** state) try {
  auto& all = *static_cast<PwcProvider*>(self);
  if (all.lane_ == nullptr) {
    all.id_room_ = std::make_unique<std::byte[]>(kAtOnce * PH_MAX_ID_BYTES);
    if (const ph_status status = ph_lane_open(team->context, kLane, &all.lane_); status != PH_OK)
      return status;
  }
  *state = new Team{team};
  return PH_OK;
} catch (const std::bad_alloc&) {
  return PH_ERR_MEMORY;
}

void PwcProvider::leave(void* self, void* state) {
  auto& all = *static_cast<PwcProvider*>(self);
  const std::unique_ptr<Team> team(static_cast<Team*>(state));
  std::erase_if(all.stash_,
                [&](const auto& one) { return std::get<1>(one.first) == team->team->number; });
}

ph_status PwcProvider::begin(void*, void* state, const ph_coll_call* call, void** op) try {
  auto made = std::make_unique<Operation>();
  made->call = call;
  made->size_bytes = call->kind == PH_COLL_BARRIER ? 0 : call->count * call->element_bytes;
  plan(*static_cast<Team*>(state)->team, *made);
  *op = made.release();
  return PH_OK;
} catch (const std::bad_alloc&) {
  return PH_ERR_MEMORY;
}

// What has found no memory is an error of the operation, which all members hear of.
ph_status PwcProvider::advance(void* self, void* state, void* op) {
  auto& all = *static_cast<PwcProvider*>(self);
  const ph_coll_team& team = *static_cast<Team*>(state)->team;
  auto* const one = static_cast<Operation*>(op);
  ph_status status = PH_AGAIN;
  try {
    status = all.pump();
    if (status == PH_OK) status = all.go_on(team, *one);
  } catch (const std::bad_alloc&) {
    status = PH_ERR_MEMORY;
  }
  if (status == PH_AGAIN) return status;
  all.forget(team, *one);
  delete one;
  return status;
}

// Nothing but this provider's own rings is ever written by a peer, or read by one.
ph_status PwcProvider::cancel(void* self, void* state, void* op) {
  auto* const one = static_cast<Operation*>(op);
  static_cast<PwcProvider*>(self)->forget(*static_cast<Team*>(state)->team, *one);
  delete one;
  return PH_OK;
}

// Moves the lane: others may wait for what it had queued when the last operation was over. The next
// call tries again what has failed.
void PwcProvider::progress(void* self) try {
  static_cast<void>(static_cast<PwcProvider*>(self)->pump());
} catch (const std::bad_alloc&) {  // it is called again
}

// ---- an operation

ph_status PwcProvider::go_on(const ph_coll_team& team, Operation& op) {
  for (; op.at < op.steps.size(); ++op.at, op.offset = 0) {
    const Step& step = op.steps[op.at];
    ph_status status = PH_OK;
    if (step.action == Action::send)
      status = send(team, op, step);
    else if (step.action == Action::receive)
      status = receive(team, op, step);
    else if (op.call->count != 0)
      op.call->fold(op.call->fold_user, step.buffer, op.call->out, op.call->out, op.call->count);
    if (status != PH_OK) return status;
  }
  return PH_OK;
}

// As many pieces as there are free slots. Who has left in order needs none.
ph_status PwcProvider::send(const ph_coll_team& team, Operation& op, const Step& step) {
  const ph_rank to = team.ranks[step.member];
  Peer& peer = peer_of(to);
  if (!std::exchange(peer.has_asked, true)) say(to, word(Word::ask));
  if (peer.told < 4) return look_for(to) == PH_ERR_DEPARTED ? PH_OK : PH_AGAIN;
  do {
    if (peer.free_slots == 0) return look_for(to) == PH_ERR_DEPARTED ? PH_OK : PH_AGAIN;
    const std::uint64_t bytes = std::min<std::uint64_t>(step.bytes - op.offset, kMostBytes);
    const Head head{team.number, op.call->channel, op.call->sequence,
                    step.number, op.call->digest,  static_cast<std::uint32_t>(bytes),
                    op.offset,   step.bytes};
    const std::size_t at = std::size_t{peer.next_slot} * kSlotBytes;
    std::memcpy(peer.out.get() + at, &head, sizeof head);
    if (bytes != 0) std::memcpy(peer.out.get() + at + sizeof head, step.buffer + op.offset, bytes);
    const std::uint64_t id = word(Word::data, peer.next_slot);
    ph_put_args args{};
    args.size = sizeof args;
    args.source = peer.out.get() + at;
    args.size_bytes = sizeof head + bytes;
    args.target = {peer.there.address + at, peer.there.key};
    args.remote = {&id, sizeof id};
    args.flags = PH_NO_LCE;
    const ph_status status = ph_put(lane_, to, &args);
    if (status == PH_ERR_DEPARTED) return PH_OK;
    if (status == PH_ERR_PEER) return PH_AGAIN;
    if (status != PH_OK) return status;
    peer.next_slot = (peer.next_slot + 1) % kSlots;
    --peer.free_slots;
    op.offset += bytes;
  } while (op.offset < step.bytes);
  return PH_OK;
}

ph_status PwcProvider::receive(const ph_coll_team& team, Operation& op, const Step& step) {
  const ph_rank from = team.ranks[step.member];
  const Key key{from, team.number, op.call->channel, op.call->sequence, step.number};
  const auto found = stash_.find(key);
  if (found == stash_.end()) {
    // Of a peer that was never spoken to nobody hears that it left.
    if (peers_.find(from) == peers_.end()) say(from, word(Word::greet));
    const ph_status status = look_for(from);
    return status == PH_ERR_DEPARTED ? status : PH_AGAIN;
  }
  bool is_over = false;
  while (!found->second.empty()) {
    const Chunk chunk = std::move(found->second.front());
    found->second.pop_front();
    const std::uint64_t end = chunk.head.offset + chunk.head.bytes;
    if (chunk.head.digest != op.call->digest || chunk.head.all != step.bytes ||
        chunk.head.offset != op.offset || end > step.bytes)
      return PH_ERR_ARGUMENT;
    if (chunk.head.bytes != 0)
      std::memcpy(step.buffer + op.offset, chunk.bytes.data(), chunk.bytes.size());
    op.offset = end;
    is_over = end == step.bytes;
  }
  stash_.erase(found);
  return is_over ? PH_OK : PH_AGAIN;
}

// PH_ERR_DEPARTED: nothing comes from it any more. One that has died is the library's to notice.
ph_status PwcProvider::look_for(ph_rank rank) {
  const ph_status status = ph_wait(lane_, {rank, PH_REMOTE, nullptr}, 0);
  return status == PH_ERR_DEPARTED ? status : PH_OK;
}

void PwcProvider::forget(const ph_coll_team& team, const Operation& op) {
  for (const Step& step : op.steps)
    if (step.action == Action::receive)
      stash_.erase(
          {team.ranks[step.member], team.number, op.call->channel, op.call->sequence, step.number});
}

// ---- messages

ph_status PwcProvider::pump() {
  ph_completion found[kAtOnce];
  std::size_t count = kAtOnce;
  while (count == kAtOnce) {
    const ph_query query{PH_ANY_RANK, PH_EITHER, id_room_.get()};
    if (const ph_status status = ph_probe(lane_, query, found, kAtOnce, &count); status != PH_OK)
      return status;
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i].kind == PH_LOCAL) continue;  // a put to a rank that is lost: of no interest now
      if (const ph_status status = take(found[i].peer, found[i].id); status != PH_OK) return status;
    }
  }
  for (auto& [rank, peer] : peers_) {
    if (peer.is_asked && peer.in == nullptr)  // it is tried again until there is one
      if (const ph_status status = open_ring(rank); status != PH_OK) return status;
    push_words(rank);
  }
  return PH_OK;
}

ph_status PwcProvider::take(ph_rank from, std::uint64_t said) {
  Peer& peer = peer_of(from);
  const std::uint64_t rest = said & kRest;
  switch (static_cast<Word>(said >> kKindShift)) {
    case Word::ask: peer.is_asked = true; break;
    case Word::address_low:
      peer.there.address |= rest;
      ++peer.told;
      break;
    case Word::address_high:
      peer.there.address |= rest << 32;
      ++peer.told;
      break;
    case Word::key_low:
      peer.there.key |= rest;
      ++peer.told;
      break;
    case Word::key_high:
      peer.there.key |= rest << 32;
      peer.out = std::make_unique<std::byte[]>(kSlots * kSlotBytes);
      peer.free_slots = kSlots;
      ++peer.told;
      break;
    case Word::data: take_data(from, rest); break;
    case Word::credit: peer.free_slots += static_cast<std::uint32_t>(rest); break;
    default: break;  // a greeting
  }
  return PH_OK;
}

ph_status PwcProvider::open_ring(ph_rank from) {
  Peer& peer = peer_of(from);
  if (peer.in != nullptr) return PH_OK;
  auto ring = std::make_unique<std::byte[]>(kSlots * kSlotBytes);
  const ph_status status =
      ph_register(lane_, ring.get(), kSlots * kSlotBytes, PH_ACCESS_WRITE, &peer.in_region);
  if (status != PH_OK) return status;
  peer.in = std::move(ring);
  const ph_target at = ph_at(&peer.in_region, 0);
  constexpr std::uint64_t kLow = 0xffff'ffff;
  say(from, word(Word::address_low, at.address & kLow));
  say(from, word(Word::address_high, at.address >> 32));
  say(from, word(Word::key_low, at.key & kLow));
  say(from, word(Word::key_high, at.key >> 32));
  return PH_OK;
}

// Copied out, so that what is early keeps no slot.
void PwcProvider::take_data(ph_rank from, std::uint64_t slot) {
  Peer& peer = peer_of(from);
  if (peer.in == nullptr || slot >= kSlots) return;
  const std::byte* const at = peer.in.get() + slot * kSlotBytes;
  Chunk chunk;
  std::memcpy(&chunk.head, at, sizeof chunk.head);
  const std::size_t bytes = std::min<std::size_t>(chunk.head.bytes, kMostBytes);
  chunk.bytes.assign(at + sizeof chunk.head, at + sizeof chunk.head + bytes);
  chunk.head.bytes = static_cast<std::uint32_t>(bytes);
  const Head& head = chunk.head;
  stash_[{from, head.team, head.channel, head.sequence, head.step}].push_back(std::move(chunk));
  say(from, word(Word::credit, 1));
}

// In their order, as soon as there is room.
void PwcProvider::say(ph_rank to, std::uint64_t what) {
  peer_of(to).words.push_back(what);
  push_words(to);
}

void PwcProvider::push_words(ph_rank to) {
  std::deque<std::uint64_t>& words = peer_of(to).words;
  while (!words.empty()) {
    const ph_status status = ph_notify(lane_, to, words.front());
    if (status == PH_AGAIN) return;
    words.pop_front();
    if (is_loss(status)) words.clear();
  }
}
