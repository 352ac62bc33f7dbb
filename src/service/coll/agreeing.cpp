#include "service/coll/agreeing.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "service/coll/choosing.hpp"

namespace photon::service::coll {

namespace {

const char* call_of(Wish wish) noexcept {
  return wish == Wish::agree ? "team_agree" : "team_shrink";
}

Agreed::Loss loss_of(ph_status status) noexcept {
  return status == PH_ERR_DEPARTED ? Agreed::Loss::left : Agreed::Loss::dead;
}

}  // namespace

// ---- calls

Agreed& Agreeing::all_of(Team& team) {
  if (team.agreed != nullptr) return *team.agreed;
  all_.reserve(all_.size() + 1);
  auto made = std::make_unique<Agreed>();
  made->lost.resize(team.size());
  team.agreed = std::move(made);
  all_.push_back(&team);
  return *team.agreed;
}

void Agreeing::forget(Team& team) noexcept {
  std::erase(all_, &team);
  team.agreed.reset();
}

ph_status Agreeing::agree(Team& team, std::uint64_t& bits) {
  if (const ph_status status = call(team, Wish::agree, bits); status != PH_OK) return status;
  const std::uint64_t agreed = team.agreed->last().held.bits;
  const ph_status status = end(Wish::agree, team);
  if (status == PH_OK) bits = agreed;
  return status;
}

ph_status Agreeing::shrink(Team& team, Team*& smaller) {
  smaller = nullptr;
  if (const ph_status status = call(team, Wish::shrink, 0); status != PH_OK) return status;
  const Agreement& one = team.agreed->last();
  if (team.agreed->is_out || one.held.differs) {
    // Nobody makes a team with this member, or nobody makes one.
    const std::uint32_t slot = one.own_slot;
    const bool is_named = team.agreed->is_out;
    const ph_status status = end(Wish::shrink, team);
    teams_.give_up_slot(slot, is_named ? PH_ERR_PEER : PH_OK);
    return status;
  }
  std::vector<Member> members;
  std::uint32_t own = 0;
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    if (one.held.is_lost(i)) continue;
    if (i == team.own) own = static_cast<std::uint32_t>(members.size());
    members.push_back({team.members[i].rank, one.held.places[i]});
  }
  auto made = std::make_unique<Team>(std::move(members), own,
                                     static_cast<std::uint32_t>(port_.config().coll_window));
  made->slot = one.own_slot;
  made->number = one.held.number;
  Choosing::lay_out(port_, *made);
  making_.note_number(made->number);
  static_cast<void>(end(Wish::shrink, team));
  smaller = &teams_.add(std::move(made));
  return PH_OK;
}

// PH_OK: it is over here, and end() says how.
ph_status Agreeing::call(Team& team, Wish wish, std::uint64_t bits) {
  Agreed& all = all_of(team);
  if (!all.is_under_way && all.is_out) return end(wish, team);
  if (!all.is_under_way)
    begin(team, wish, bits);
  else if (all.last().wish != wish)
    return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                      std::string(call_of(wish)) + ": " + call_of(all.last().wish) +
                          " of the team is under way: call that again first");
  drive(team);
  return all.last().stage == Stage::settled || all.is_out ? PH_OK : PH_TIMEOUT;
}

// Throws bad_alloc before anything has begun.
void Agreeing::begin(Team& team, Wish wish, std::uint64_t bits) {
  Agreed& all = *team.agreed;
  Agreement& one = all.two[all.begun % 2];
  if (!one.is_of(all.begun)) clear(team, one, all.begun);
  const std::uint32_t proposal = making_.propose();
  one.own_slot = wish == Wish::shrink ? teams_.reserve_slot(proposal) : 0;
  one.own_proposal = proposal;
  one.own_bits = bits;
  one.wish = wish;
  one.stage = Stage::voting;
  one.count(wish, bits, proposal);
  ++all.begun;
  all.is_under_way = true;
}

ph_status Agreeing::end(Wish wish, Team& team) {
  Agreed& all = *team.agreed;
  all.is_under_way = false;
  if (all.is_out)
    return port_.fail(PH_ERR_PEER, port_.rank(),
                      std::string(call_of(wish)) +
                          ": the other members count this one as lost; it is in no agreement of "
                          "this team any more");
  if (all.last().held.differs)
    return port_.fail(
        PH_ERR_ARGUMENT, PH_ANY_RANK,
        std::string(call_of(wish)) + ": some members called team_agree, and others team_shrink");
  return PH_OK;
}

ph_status Agreeing::lost(const Team& team, std::uint32_t member) noexcept {
  if (team.agreed == nullptr || !team.agreed->lost[member].is_agreed) return PH_OK;
  return team.agreed->lost[member].how == Agreed::Loss::left ? PH_ERR_DEPARTED : PH_ERR_PEER;
}

void Agreeing::clear(Team& team, Agreement& one, std::uint32_t sequence) {
  Agreement fresh;
  fresh.voices.resize(team.size());
  fresh.sequence = sequence;
  one = std::move(fresh);
}

// The agreement of that number, if it is kept; the next one is made for who comes early.
Agreement* Agreeing::find(Team& team, std::uint32_t sequence) {
  Agreed& all = all_of(team);
  Agreement& one = all.two[sequence % 2];
  if (one.is_of(sequence)) return &one;
  if (sequence != all.begun) return nullptr;
  clear(team, one, sequence);
  return &one;
}

// ---- what follows from what is known

bool Agreeing::is_alive(const Team& team, std::uint32_t member) const noexcept {
  return member == team.own || (team.agreed->lost[member].how == Agreed::Loss::none &&
                                port_.state(team.members[member].rank) == PH_OK);
}

void Agreeing::wants_turn(Team& team) noexcept {
  team.agreed->is_dirty = true;
  port_.wants_turn();
}

void Agreeing::on_lost(Rank rank) noexcept {
  for (Team* team : all_)
    if (team->find(rank) < team->size()) wants_turn(*team);
}

void Agreeing::turn() {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i]->agreed->is_dirty) drive(*all_[i]);
}

void Agreeing::drive(Team& team) {
  Agreed& all = *team.agreed;
  try {
    do {
      all.is_dirty = false;
      for (std::uint32_t i = 0; i < team.size(); ++i) {
        if (!std::exchange(all.lost[i].asks, false)) continue;
        all.lost[i].asks = true;  // until it has been said
        say(team, i, Word::out, all.two[0]);
        all.lost[i].asks = false;
      }
      for (Agreement& one : all.two)
        if (!one.voices.empty()) drive(team, one);
    } while (all.is_dirty);
  } catch (const std::bad_alloc&) {  // the next turn goes on with it
    wants_turn(team);
    throw;
  }
}

void Agreeing::drive(Team& team, Agreement& one) {
  if (one.stage == Stage::settled) return tell_late(team, one);
  if (one.stage == Stage::none || team.agreed->is_out) return;
  std::uint32_t leader = 0;
  while (!is_alive(team, leader)) ++leader;  // this member is
  if (leader == team.own)
    lead(team, one);
  else
    tell_leader(team, one, leader);
}

void Agreeing::tell_leader(Team& team, Agreement& one, std::uint32_t leader) {
  if (one.told == leader) {
    if (!one.owes_hold) return;
    say(team, leader, Word::holds, one);
    one.owes_hold = false;
    return;
  }
  if (one.held.is_none())
    say(team, leader, Word::vote, one);
  else
    say_verdict(team, leader, Word::held, one);
  one.told = leader;
  one.owes_hold = false;
}

// Every member in front of this one is lost here, and stays so: what they have proposed to others
// those others hold, and say, before they vote.
void Agreeing::lead(Team& team, Agreement& one) {
  one.told = team.own;
  if (!one.has_proposed) {
    if (!ask_all(team, one)) return;
    choose(team, one);
  }
  if (!propose_to_all(team, one)) return;
  tell_all(team, one);
  settle(team, one);
}

// True: all that live have been heard.
bool Agreeing::ask_all(Team& team, Agreement& one) {
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    if (i == team.own || one.voices[i].is_heard || one.voices[i].is_asked || !is_alive(team, i))
      continue;
    say(team, i, Word::ask, one);
    one.voices[i].is_asked = true;
  }
  for (std::uint32_t i = 0; i < team.size(); ++i)
    if (i != team.own && !one.voices[i].is_heard && is_alive(team, i)) return false;
  return true;
}

// What anybody holds may be settled to one that is gone: it is proposed again. The highest round
// has seen all before it.
void Agreeing::choose(Team& team, Agreement& one) {
  if (!one.heard.is_none() && (one.held.is_none() || one.heard.round > one.held.round)) {
    one.held = std::move(one.heard);
    one.heard = {};
  }
  if (one.held.is_none()) {
    Verdict& all = one.held;
    all.bits = one.bits;
    all.number = one.highest;
    all.wish = one.wish;
    all.differs = (one.wishes & (one.wishes - 1)) != 0;
    all.places.resize(team.size());
    for (std::uint32_t i = 0; i < team.size(); ++i) {
      const bool has_left = team.agreed->lost[i].how == Agreed::Loss::left ||
                            port_.state(team.members[i].rank) == PH_ERR_DEPARTED;
      if (is_alive(team, i))
        all.places[i] = i == team.own ? one.own_slot : one.voices[i].slot;
      else
        all.places[i] = has_left ? Verdict::kLeft : Verdict::kDead;
    }
  }
  one.held.round = team.own;
  one.stage = Stage::holding;
  one.has_proposed = true;
}

// True: all that live hold it.
bool Agreeing::propose_to_all(Team& team, Agreement& one) {
  bool all_hold = true;
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    if (i == team.own || !is_alive(team, i)) continue;
    if (!one.voices[i].is_proposed) say_verdict(team, i, Word::propose, one);
    one.voices[i].is_proposed = true;
    all_hold = all_hold && (one.voices[i].holds || !is_alive(team, i));
  }
  return all_hold;
}

void Agreeing::tell_all(Team& team, Agreement& one) {
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    if (i == team.own || one.voices[i].is_told || !is_alive(team, i)) continue;
    say(team, i, Word::settled, one);
    one.voices[i].is_told = true;
  }
}

// Who has told or asked us, and is not led by us, waits for a leader that will hear nothing.
void Agreeing::settle(Team& team, Agreement& one) {
  Agreed& all = *team.agreed;
  one.stage = Stage::settled;
  one.coming.clear();
  one.heard = {};
  making_.note_number(one.held.number);
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    Voice& voice = one.voices[i];
    voice.is_owed = voice.is_owed || ((voice.is_heard || voice.asks) && !voice.is_told);
    if (!one.held.is_lost(i)) continue;
    const bool has_left = one.held.places[i] == Verdict::kLeft;
    all.lost[i].how = has_left ? Agreed::Loss::left : Agreed::Loss::dead;
    all.lost[i].is_agreed = true;
    if (i == team.own) all.is_out = true;
  }
  wants_turn(team);
  tell();
}

void Agreeing::tell_late(Team& team, Agreement& one) {
  for (std::uint32_t i = 0; i < team.size(); ++i) {
    if (!one.voices[i].is_owed) continue;
    if (port_.state(team.members[i].rank) == PH_OK) say_verdict(team, i, Word::verdict, one);
    one.voices[i].is_owed = false;
  }
}

void Agreeing::tell() noexcept {
  ++news_;
  port_.wake();
}

// ---- what is said

Head Agreeing::head_of(const Team& team, std::uint32_t member, Word word, std::uint32_t sequence) {
  Head head;
  head.op = static_cast<std::uint8_t>(Op::agree);
  head.name = {team.members[member].slot, team.number, static_cast<std::uint32_t>(word), sequence,
               team.slot};
  return head;
}

// A member that cannot be reached is lost here.
void Agreeing::note_said(Team& team, std::uint32_t member, ph_status status) noexcept {
  if (status >= PH_OK) return;
  Agreed::Lost& lost = team.agreed->lost[member];
  if (lost.how == Agreed::Loss::none) lost.how = loss_of(status);
  team.agreed->is_dirty = true;
}

void Agreeing::say(Team& team, std::uint32_t member, Word word, const Agreement& one) {
  const Rank to = team.members[member].rank;
  const HeadWords h = encode(head_of(team, member, word, one.sequence));
  if (word != Word::vote) return note_said(team, member, post_.words(to, h));
  const std::uint64_t words[kVoteWords] = {h[0],
                                           h[1],
                                           h[2],
                                           one.own_bits,
                                           pair_of(one.own_proposal, one.own_slot),
                                           static_cast<std::uint64_t>(one.wish)};
  note_said(team, member, post_.words(to, words));
}

// The parts of a verdict follow each other. If memory ends between them the rest is missing, and
// all come again: so a first part begins anew.
void Agreeing::say_verdict(Team& team, std::uint32_t member, Word word, const Agreement& one) {
  const Verdict& verdict = one.held;
  const Rank to = team.members[member].rank;
  const std::span<const std::uint32_t> places(verdict.places);
  const HeadWords h = encode(head_of(team, member, word, one.sequence));
  for (std::uint32_t first = 0; first < places.size(); first += kPlacesAtOnce) {
    const std::size_t count = std::min<std::size_t>(kPlacesAtOnce, places.size() - first);
    const std::uint64_t words[kVerdictWords] = {
        h[0],
        h[1],
        h[2],
        verdict.bits,
        pair_of(verdict.number, verdict.round),
        first | std::uint64_t{static_cast<std::uint8_t>(verdict.wish)} << 32 |
            std::uint64_t{verdict.differs} << 40};
    const ph_status status = post_.words(to, words, std::as_bytes(places.subspan(first, count)));
    note_said(team, member, status);
    if (status < PH_OK) return;
  }
}

}  // namespace photon::service::coll
