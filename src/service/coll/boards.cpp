// How members of a team come to see each other's lines, and what becomes of pages afterwards.
#include <algorithm>
#include <cstring>
#include <new>

#include "service/coll/lines.hpp"

namespace photon::service::coll {

namespace {

enum Tag : std::uint32_t { kPage = 0, kJudgement = 1 };

}  // namespace

bool Lines::are_shared(const Team& team) const noexcept {
  return port_.config().coll_lines == base::Switch::on && team.size() > 1 &&
         std::ranges::all_of(team.members, [this](const Member& member) {
           return port_.shares_memory(member.rank);
         });
}

Board& Lines::board_of(Team& team, std::uint32_t channel) {
  std::shared_ptr<Board>& place = team.channels.find(channel)->board;
  if (place != nullptr) return *place;
  auto made = std::make_shared<Board>();
  made->others.resize(team.size());
  for (std::uint32_t member = 0; member < team.size(); ++member)
    made->others[member].rank = team.members[member].rank;
  made->own = team.own;
  made->name = ++last_name_;
  made->others[team.own].name = made->name;
  made->pages_missing = made->judgements_missing = team.size() - 1;
  made->others[team.own].has_told = made->others[team.own].has_judged = true;
  retired_.reserve(retired_.size() + boards_ + 1);
  ++boards_;
  place = std::move(made);
  return *place;
}

void Lines::reserve(Operation& op) {
  strays_.reserve(strays_.size() + 1);
  if (op.way == Way::messages) return;
  op.board = &board_of(*op.team, op.channel);
  op.board->queue.make_room();
}

// Everything that can be done now of what makes the board ready. Throws bad_alloc: it is tried
// again.
void Lines::settle(Team& team, std::uint32_t channel, Board& board) {
  using State = Board::State;
  if (board.state == State::fresh) open(team, channel, board);
  if (board.state == State::asking) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(board.page);
    tell(team, channel, board, kPage, address);
    if (board.pages_missing != 0) return;
    see_all(board);
    board.state = State::seeing;
    board.told = 0;
  }
  if (board.state != State::seeing) return;
  tell(team, channel, board, kJudgement, board.sees ? 1 : 0);
  if (board.judgements_missing != 0) return;
  board.state = board.all_see ? State::ready : State::never;
}

void Lines::open(Team& team, std::uint32_t channel, Board& board) {
  board.is_long = channel == 0;
  board.page = team.shares_lines ? take_page(board.is_long) : nullptr;
  const std::uint32_t first =
      board.queue.empty() ? team.channels.find(channel)->begun : board.queue.front().sequence;
  if (board.page != nullptr) board.page->lines.open(board.name, first - 1);
  board.tidied = first - 1;
  for (Board::Other& other : board.others) other.done = first - 1;
  if (board.page != nullptr && !board.queue.empty()) {
    const Operation& op = *board.queue.front().op;
    board.page->lines.show_begun(FlatPage::mark_of(op.sequence, op.plan.digest));
  }
  board.state = Board::State::asking;
}

void Lines::see_all(Board& board) {
  bool sees = board.page != nullptr;
  for (std::uint32_t member = 0; sees && member < board.others.size(); ++member) {
    Board::Other& other = board.others[member];
    if (member == board.own) continue;
    const std::byte* const at =
        other.address % FlatPage::kLineBytes != 0 || other.address == 0
            ? nullptr
            : port_.see(other.rank, other.address, page_bytes(board.is_long));
    other.page = reinterpret_cast<const BoardPage*>(at);
    sees = at != nullptr;
  }
  board.sees = sees;
  board.all_see = board.all_see && sees;
}

// To all; those that are lost are left out.
void Lines::tell(Team& team, std::uint32_t channel, Board& board, std::uint32_t tag,
                 std::uint64_t word) {
  const Operation* const op = board.queue.empty() ? nullptr : board.queue.front().op;
  for (; board.told < team.size(); ++board.told) {
    if (board.told == team.own) continue;
    const Member& to = team.members[board.told];
    Head head;
    head.op = static_cast<std::uint8_t>(Op::lines);
    head.name = {to.slot, team.number, channel, op == nullptr ? 0 : op->sequence, tag};
    head.digest = op == nullptr ? 0 : op->plan.digest;
    const HeadWords words = encode(head);
    static_cast<void>(post_.words(
        to.rank, std::array<std::uint64_t, 5>{words[0], words[1], words[2], word, board.name}));
  }
}

bool Lines::take(Team& team, const Head& head, std::uint32_t member, const Told& what) {
  const std::uint32_t channel = head.name.channel;
  if (team.channels.is_gone(channel)) return true;
  if (team.channels.reach(channel) == nullptr || team.channels.ahead_count() > kMostAhead)
    return false;
  Board& board = board_of(team, channel);
  Board::Other& other = board.others[member];
  if (member == team.own) return false;
  if (head.name.tag == kPage) {
    if (std::exchange(other.has_told, true)) return false;
    other.address = what.word;
    other.name = what.name;
    other.begun = FlatPage::mark_of(head.name.sequence, head.digest);
    --board.pages_missing;
  } else {
    if (head.name.tag != kJudgement || what.word > 1 || !other.has_told ||
        std::exchange(other.has_judged, true))
      return false;
    board.all_see = board.all_see && what.word == 1;
    --board.judgements_missing;
  }
  Operation* const op = team.under_way(channel, head.name.sequence);
  if (op != nullptr && head.digest != 0 && op->plan.digest != head.digest) steps_.ask(*op, member);
  // Where nothing goes by lines the others need not wait for the first that would.
  if (board.state == Board::State::fresh && team.shares_lines) return true;
  settle(team, channel, board);
  if (board.state >= Board::State::ready) go_on(board);
  return true;
}

void Lines::go_on(Board& board) {
  while (!board.queue.empty()) {
    Operation* const first = board.queue.front().op;
    steps_.advance(*first);
    if (!board.queue.empty() && board.queue.front().op == first) return;
  }
}

// One that is lost reads nothing, and who has left has read all that it wanted.
bool Lines::has_read(Board& board, std::uint32_t member, std::uint32_t sequence) const noexcept {
  Board::Other& other = board.others[member];
  if (member == board.own || FlatPage::is_reached(other.done, sequence)) return true;
  if (port_.state(other.rank) != PH_OK) return true;
  if (!other.page->lines.has_read(other.name, sequence)) return false;
  other.done = sequence;
  return true;
}

// Its page may serve another board.
bool Lines::is_over(const Board& board) const noexcept {
  for (const Board::Said& said : board.said) {
    if (!said.is_there || board.state != Board::State::ready) continue;
    for (std::uint32_t member = said.first; member < said.last; ++member)
      if (!has_read(const_cast<Board&>(board), member, said.sequence)) return false;
  }
  return true;
}

BoardPage* Lines::take_page(bool is_long) {
  for (std::size_t i = std::min(kSwept, retired_.size()); i > 0 && !retired_.empty(); --i) {
    if (next_swept_ >= retired_.size()) next_swept_ = 0;
    std::shared_ptr<Board>& one = retired_[next_swept_];
    if (!is_over(*one)) {
      ++next_swept_;
      continue;
    }
    pages_[one->is_long ? 1 : 0].push_back(one->page);
    one = std::move(retired_.back());
    retired_.pop_back();
  }
  std::vector<BoardPage*>& free = pages_[is_long ? 1 : 0];
  if (!free.empty()) {
    BoardPage* const page = free.back();
    free.pop_back();
    return page;
  }
  const std::span<std::byte> memory = port_.share(page_bytes(is_long));
  if (memory.empty()) return nullptr;
  // Not the whole page, which may have no room for what is long: that is bytes alone.
  static_cast<void>(new (memory.data()) FlatPage);
  return reinterpret_cast<BoardPage*>(memory.data());
}

void Lines::drop(Channel& channel) noexcept {
  std::shared_ptr<Board> board = std::move(channel.board);
  if (board == nullptr) return;
  --boards_;
  std::erase(active_, board.get());
  if (active_.empty()) port_.wants_looks(false);
  if (board->page == nullptr) return;
  board->page->lines.close();
  retired_.push_back(std::move(board));  // board_of() has made room
}

// ---- operations by messages in a team that has lines

void Lines::watch(Operation& op) {
  const std::shared_ptr<Board>& board = op.team->channels.find(op.channel)->board;
  if (board == nullptr || board->state == Board::State::never || has_other(*board, op)) return;
  if (strays_.empty()) due_ns_ = port_.now_ns() + kWatchNs;
  strays_.push_back(&op);  // reserve() has made room
  port_.wants_turn();      // who sleeps chooses anew how long
}

// A member has asked for lines for another operation than ours at the same place in the order.
bool Lines::has_other(const Board& board, Operation& op) {
  for (std::uint32_t member = 0; member < board.others.size(); ++member) {
    const std::uint64_t begun = board.others[member].begun;
    if (!FlatPage::says(begun, op.sequence) || FlatPage::digest_of(begun) == op.plan.digest)
      continue;
    steps_.ask(op, member);
    return true;
  }
  return false;
}

void Lines::turn() {
  if (strays_.empty() || port_.now_ns() < due_ns_) return;
  due_ns_ = port_.now_ns() + kWatchNs;
  for (std::size_t i = strays_.size(); i > 0; --i) {
    if (i > strays_.size()) continue;
    Operation& op = *strays_[i - 1];
    if (op.way == Way::messages)
      look_for(op);
    else
      doubt_again(op);
  }
}

// Members that go by lines at the same place in the order have begun another operation.
void Lines::look_for(Operation& op) {
  const Board& board = *op.team->channels.find(op.channel)->board;
  if (board.state != Board::State::ready) return;
  for (std::uint32_t member = 0; member < board.others.size(); ++member) {
    if (member == board.own || op.state != OpState::running) continue;
    const Board::Other& other = board.others[member];
    for (const std::uint64_t mark :
         {other.page->lines.mark(op.sequence), other.page->lines.begun()})
      if (FlatPage::says(mark, op.sequence) && FlatPage::digest_of(mark) != op.plan.digest &&
          other.page->lines.name() == other.name)
        return steps_.ask(op, member);
  }
}

}  // namespace photon::service::coll
