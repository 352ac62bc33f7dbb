// What comes for agreements. It is written down here; a turn says what follows from it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "service/coll/agreeing.hpp"

namespace photon::service::coll {

// False: no member that keeps to the rules says so.
bool Agreeing::on_message(const Message& message, Team& team, const Head& head,
                          std::uint32_t member) {
  const auto word = static_cast<Word>(head.name.channel);
  if (word < Word::vote || word > Word::out || head.digest != 0) return false;
  Agreed& all = all_of(team);
  if (static_cast<std::int32_t>(head.name.sequence - all.begun) > 0 && word != Word::out)
    return false;
  wants_turn(team);
  const bool wants_answer = word == Word::vote || word == Word::ask || word == Word::held;
  if (all.lost[member].is_agreed && wants_answer) {
    all.lost[member].asks = true;
    return true;
  }
  if (word == Word::propose || word == Word::held || word == Word::verdict)
    return take_verdict(message, team, head, member);
  if (word == Word::vote) {
    if (message.header.size() != kVoteWords * sizeof(std::uint64_t)) return false;
  } else if (message.header.size() != sizeof(HeadWords)) {
    return false;
  }
  if (!message.payload.empty()) return false;
  if (word == Word::gone && all.lost[member].how == Agreed::Loss::none)
    all.lost[member].how = Agreed::Loss::left;
  if (word == Word::out && all.is_under_way) {
    all.is_out = true;
    tell();
  }
  if (word == Word::gone || word == Word::out) return true;
  Agreement* const one = find(team, head.name.sequence);
  if (one == nullptr) return true;  // it is over everywhere
  if (word == Word::vote) return take_vote(message, *one, member);
  take_word(team, *one, word, member);
  return true;
}

bool Agreeing::take_vote(const Message& message, Agreement& one, std::uint32_t member) {
  std::uint64_t words[kVoteWords];
  std::memcpy(words, message.header.data(), sizeof words);
  const auto slot = static_cast<std::uint32_t>(words[4] >> 32);
  const auto wish = static_cast<Wish>(words[5]);
  if (slot >= kMostSlots || words[5] > static_cast<std::uint64_t>(Wish::shrink) || words[5] == 0)
    return false;
  Voice& voice = one.voices[member];
  if (one.stage == Stage::settled) {
    voice.is_owed = true;
    return true;
  }
  if (voice.is_heard) return false;  // a member votes once for each leader
  voice.is_heard = true;
  voice.slot = slot;
  one.count(wish, words[3], static_cast<std::uint32_t>(words[4]));
  return true;
}

void Agreeing::take_word(Team& team, Agreement& one, Word word, std::uint32_t member) {
  Voice& voice = one.voices[member];
  if (word == Word::ask) {
    voice.asks = true;
    voice.is_owed = voice.is_owed || one.stage == Stage::settled;
  } else if (word == Word::holds)
    voice.holds = voice.holds || voice.is_proposed;
  else if (one.stage == Stage::holding && one.told == member && one.held.round == member)
    settle(team, one);
}

bool Agreeing::take_verdict(const Message& message, Team& team, const Head& head,
                            std::uint32_t member) {
  const auto word = static_cast<Word>(head.name.channel);
  std::uint64_t words[kVerdictWords];
  if (message.header.size() != sizeof words || message.payload.empty() ||
      message.payload.size() % sizeof(std::uint32_t) != 0)
    return false;
  Agreement* const one = find(team, head.name.sequence);
  if (one == nullptr) return true;
  std::memcpy(words, message.header.data(), sizeof words);
  const bool is_first = static_cast<std::uint32_t>(words[5]) == 0;
  auto at = std::find_if(one->coming.begin(), one->coming.end(),
                         [&](const Coming& other) { return other.from == member; });
  if (at == one->coming.end()) {
    if (!is_first) return one->stage == Stage::settled;  // the rest of one that was dropped
    at = one->coming.insert(at, Coming{});
  }
  Coming& coming = *at;
  coming.from = member;
  if (is_first) coming.count = 0;
  if (!take_part(message, team, coming)) return false;
  if (coming.count < team.size()) return true;
  Verdict whole = std::move(coming.verdict);
  std::erase_if(one->coming, [&](const Coming& other) { return other.from == member; });
  take_whole(team, *one, word, member, std::move(whole));
  return true;
}

bool Agreeing::take_part(const Message& message, const Team& team, Coming& coming) {
  std::uint64_t words[kVerdictWords];
  std::memcpy(words, message.header.data(), sizeof words);
  const std::size_t count = message.payload.size() / sizeof(std::uint32_t);
  const auto wish = static_cast<std::uint32_t>(words[5] >> 32 & 0xff);
  Verdict& verdict = coming.verdict;
  verdict.bits = words[3];
  verdict.number = static_cast<std::uint32_t>(words[4]);
  verdict.round = static_cast<std::uint32_t>(words[4] >> 32);
  verdict.wish = static_cast<Wish>(wish);
  verdict.differs = (words[5] >> 40 & 1) != 0;
  const bool is_right = static_cast<std::uint32_t>(words[5]) == coming.count &&
                        count <= team.size() - coming.count && verdict.round < team.size() &&
                        wish >= 1 && wish <= 2 && words[5] >> 41 == 0;
  if (!is_right) return false;
  verdict.places.resize(team.size());
  std::memcpy(verdict.places.data() + coming.count, message.payload.data(),
              count * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t place = verdict.places[coming.count + i];
    if (place > Verdict::kDead && place != Verdict::kLeft) return false;
  }
  coming.count += static_cast<std::uint32_t>(count);
  return true;
}

void Agreeing::take_whole(Team& team, Agreement& one, Word word, std::uint32_t member,
                          Verdict&& verdict) {
  Voice& voice = one.voices[member];
  if (one.stage == Stage::settled) {
    voice.is_owed = voice.is_owed || word == Word::held;
    return;
  }
  const bool is_called = one.stage != Stage::none;
  if (word == Word::held) {
    voice.is_heard = true;
    if (one.heard.is_none() || verdict.round > one.heard.round) one.heard = std::move(verdict);
  } else if (word == Word::verdict && is_called) {
    one.held = std::move(verdict);
    settle(team, one);
  } else if (word == Word::propose && is_called && one.told == member && verdict.round == member) {
    one.held = std::move(verdict);
    one.stage = Stage::holding;
    one.owes_hold = true;
  }
}

void Agreeing::answer_stale(const Message& message, const Head& head) {
  const auto word = static_cast<Word>(head.name.channel);
  if (word != Word::vote && word != Word::ask && word != Word::held) return;
  Head answer = head;
  answer.name.slot = head.name.tag & (kMostSlots - 1);
  answer.name.tag = 0;
  answer.name.channel = static_cast<std::uint32_t>(Word::gone);
  static_cast<void>(post_.words(message.from, encode(answer)));
}

}  // namespace photon::service::coll
