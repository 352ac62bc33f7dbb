// An operation by lines: what its member says, whom it reads, and what it makes of that.
#include "service/coll/lines.hpp"

#include <algorithm>
#include <cstring>

namespace photon::service::coll {

namespace {

using schedule::Kind;

constexpr std::uint32_t kMostMembers = 64;

// The members whose lines this one reads, and those that read its own: [first, last).
struct Members {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

Members read_by(const schedule::Call& call) noexcept {
  switch (call.kind) {
    case Kind::bcast: return call.rank == call.root ? Members{} : Members{call.root, call.root + 1};
    case Kind::scatter: return {call.root, call.root + 1};
    case Kind::reduce:
    case Kind::gather: return call.rank == call.root ? Members{0, call.size} : Members{};
    case Kind::scan: return {0, call.rank + 1};
    case Kind::exscan: return {0, call.rank};
    default: return {0, call.size};
  }
}

Members readers_of(const schedule::Call& call) noexcept {
  switch (call.kind) {
    case Kind::bcast:
    case Kind::scatter: return call.rank == call.root ? Members{0, call.size} : Members{};
    case Kind::reduce:
    case Kind::gather: return {call.root, call.root + 1};
    case Kind::scan:
    case Kind::exscan: return {call.rank + 1, call.size};
    default: return {0, call.size};
  }
}

bool speaks(const schedule::Call& call) noexcept {
  const bool is_from_root = call.kind == Kind::bcast || call.kind == Kind::scatter;
  return !is_from_root || call.rank == call.root;
}

bool says_all_blocks(Kind kind) noexcept {
  return kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::reduce_scatter;
}

bool folds(Kind kind) noexcept {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::scan ||
         kind == Kind::exscan;
}

// One member reads and folds the blocks of all: where that is much, members share the work.
std::uint64_t most_folded(std::uint32_t members) noexcept {
  return std::max<std::uint64_t>(BoardPage::kNearBytes, 2 * BoardPage::kRoomBytes / members);
}

// What this member says to all.
std::span<const std::byte> block_of(const Plan& plan) noexcept {
  const schedule::Call& call = plan.call;
  if (call.kind == Kind::barrier) return {};
  const std::uint64_t bytes = call.count * plan.element_bytes;
  const std::uint64_t all = says_all_blocks(call.kind) ? bytes * call.size : bytes;
  if (call.kind == Kind::bcast) return {plan.out, all};
  if (!call.in_place || call.kind == Kind::scatter) return {plan.in, all};
  const bool has_place = call.kind == Kind::gather || call.kind == Kind::allgather;
  return {has_place ? plan.out + call.rank * bytes : plan.out, all};
}

std::size_t words_of(std::size_t bytes) noexcept { return (bytes + 7) / 8; }

}  // namespace

// A prepared operation has a short page, whatever its call is: ph_coll_change() gives it another
// one, and members might have made their pages for different calls.
bool Lines::takes(const Team& team, const Plan& plan, std::uint32_t channel) noexcept {
  const schedule::Call& call = plan.call;
  if (!team.shares_lines || plan.is_v || call.size > kMostMembers ||
      plan.choice.source == schedule::Source::setting)
    return false;
  if (call.kind == Kind::barrier) return true;
  const std::uint64_t blocks = says_all_blocks(call.kind) ? call.size : 1;
  std::uint64_t most = folds(call.kind) ? most_folded(call.size) : BoardPage::kRoomBytes;
  if (channel != 0) most = BoardPage::kNearBytes;
  return call.count <= most && plan.element_bytes <= most &&
         call.count * plan.element_bytes * blocks <= most;
}

void Lines::join(Operation& op) noexcept {
  Board& board = *op.board;
  const Members whom = read_by(op.plan.call);
  op.has_said = false;
  op.doubts = 0;
  op.next_line = whom.first;
  op.lines_end = whom.last;
  board.queue.push({&op, op.sequence});
  if (board.has_passed) tell_passed(board);
  if (board.page != nullptr && board.queue.size() == 1)
    board.page->lines.show_begun(FlatPage::mark_of(op.sequence, op.plan.digest));
}

Lines::Outcome Lines::step(Operation& op) {
  Team& team = *op.team;
  Board& board = *op.board;
  if (op.way == Way::asked) {
    if (has_other(board, op)) return Outcome::waits;
    if (board.state < Board::State::ready) settle(team, op.channel, board);
    if (op.state != OpState::running || board.state < Board::State::ready) return Outcome::waits;
    if (board.state == Board::State::never) {
      ended(op);
      return Outcome::messages;
    }
    op.way = Way::lines;
  }
  activate(board);
  if (board.queue.front().op != &op) return Outcome::waits;
  if (!op.has_said && !say(board, op)) return Outcome::waits;
  while (op.next_line < op.lines_end)
    if (!read(board, op)) return Outcome::waits;
  return Outcome::over;
}

// False: a reader of what stands there has not read it yet.
bool Lines::say(Board& board, Operation& op) {
  const schedule::Call& call = op.plan.call;
  if (!speaks(call)) return op.has_said = true;
  Board::Said& said = board.said[op.sequence & 1];
  if (said.is_there)
    for (std::uint32_t member = said.first; member < said.last; ++member) {
      if (!has_read(board, member, said.sequence)) return false;
      said.first = member + 1;
    }
  const std::span<const std::byte> block = block_of(op.plan);
  FlatPage& lines = board.page->lines;
  if (block.size() <= BoardPage::kLineBytes) {
    std::uint64_t words[FlatPage::kWords] = {};
    if (!block.empty()) std::memcpy(words, block.data(), block.size());
    for (std::size_t i = 0; i < words_of(block.size()); ++i)
      lines.set_word(op.sequence, i, words[i]);
  } else {
    std::memcpy(board.page->room(op.sequence, block.size()), block.data(), block.size());
  }
  lines.say(op.sequence, op.plan.digest);
  const Members readers = readers_of(call);
  said = {true, op.sequence, readers.first, readers.last};
  op.has_said = true;
  wake_others(board, readers.first, readers.last);
  return true;
}

// False: the next member has not said it yet, or something else.
bool Lines::read(Board& board, Operation& op) {
  const std::uint32_t member = op.next_line;
  Board::Other& other = board.others[member];
  const BoardPage& page = member == board.own ? *board.page : *other.page;
  const std::uint64_t mark = page.lines.mark(op.sequence);
  if (!FlatPage::says(mark, op.sequence) || page.lines.name() != other.name) {
    steps_.check(op, port_.state(other.rank), member);
    return false;
  }
  if (FlatPage::digest_of(mark) != op.plan.digest) {
    steps_.ask(op, member);
    return false;
  }
  other.done = page.lines.done_at(op.sequence);
  const std::uint64_t size = block_of(op.plan).size();
  if (size > BoardPage::kLineBytes) {
    use(op, member, page.room(op.sequence, size));
  } else {
    alignas(64) std::uint64_t words[FlatPage::kWords];
    for (std::size_t i = 0; i < words_of(size); ++i) words[i] = page.lines.word(op.sequence, i);
    use(op, member, reinterpret_cast<const std::byte*>(words));
  }
  ++op.next_line;
  return op.state == OpState::running;
}

// `bytes`: all that the member has said.
void Lines::use(Operation& op, std::uint32_t member, const std::byte* bytes) {
  const Plan& plan = op.plan;
  const schedule::Call& call = plan.call;
  const std::uint64_t size = call.count * plan.element_bytes;
  if (size == 0 || call.kind == Kind::barrier) return;
  const std::byte* const own = says_all_blocks(call.kind) ? bytes + call.rank * size : bytes;
  switch (call.kind) {
    case Kind::gather:
    case Kind::allgather:
    case Kind::alltoall: std::memcpy(plan.out + member * size, own, size); return;
    case Kind::bcast: std::memcpy(plan.out, own, size); return;
    case Kind::scatter:
      if (!call.in_place) std::memcpy(plan.out, own, size);
      return;
    default: break;
  }
  if (member == 0)
    std::memcpy(plan.out, own, size);
  else
    steps_.fold_into(op, own, call.count);
}

void Lines::wake_others(Board& board, std::uint32_t first, std::uint32_t last) noexcept {
  for (std::uint32_t member = first; member < last; ++member)
    if (member != board.own) port_.wake_rank(board.others[member].rank);
}

// Whoever waits to write its line again may sleep.
void Lines::ended(Operation& op) noexcept {
  std::erase(strays_, &op);
  if (op.way == Way::messages) {
    if (op.blame.status != PH_OK) pass(op);
    return;
  }
  Board& board = *op.board;
  auto& queue = board.queue;
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (queue.at(queue.begin() + i).op == &op) queue.at(queue.begin() + i).op = nullptr;
  std::uint32_t popped = 0;
  std::uint32_t done = 0;
  for (; !queue.empty() && queue.front().op == nullptr; ++popped) {
    done = queue.front().sequence;
    queue.pop();
  }
  if (popped == 0 || board.page == nullptr) return;
  board.page->lines.end(done);
  if (board.state == Board::State::ready) {
    // Those that failed before their turn have readers of their own.
    const Members whom = popped == 1 ? read_by(op.plan.call) : Members{0, op.plan.call.size};
    wake_others(board, whom.first, whom.last);
    if (done - board.tidied >= kTidyEach) tidy(board, done);
  }
  if (queue.empty()) return;
  if (board.has_passed) tell_passed(board);
  const Operation& next = *queue.front().op;
  board.page->lines.show_begun(FlatPage::mark_of(next.sequence, next.plan.digest));
  port_.wants_turn();  // what it waits for may be there, and nobody else will look
}

// It has failed, for others have called something else: these may have said that by lines, and
// write them again only when this member has read them, or says that it never will.
void Lines::pass(const Operation& op) noexcept {
  const Channel* const channel = op.team->channels.find(op.channel);
  Board* const board = channel == nullptr ? nullptr : channel->board.get();
  if (board == nullptr || board->page == nullptr) return;
  if (!board->has_passed || FlatPage::is_reached(op.sequence, board->passed))
    board->passed = op.sequence;
  board->has_passed = true;
  tell_passed(*board);
}

// This member tells the others that it reads nothing any more of what stands before the first
// operation of the queue.
void Lines::tell_passed(Board& board) noexcept {
  if (board.queue.empty() || board.page == nullptr) return;
  const std::uint32_t first = board.queue.front().sequence;
  board.has_passed = FlatPage::is_reached(board.passed, first);
  board.page->lines.end(first - 1);
  const auto size = static_cast<std::uint32_t>(board.others.size());
  if (board.state == Board::State::ready) wake_others(board, 0, size);
}

// Sequences come again after 2^32: what is far behind is forgotten in time. No member is that far
// behind another, for each line waits for its readers.
void Lines::tidy(Board& board, std::uint32_t done) noexcept {
  board.tidied = done;
  for (Board::Said& said : board.said) {
    if (!said.is_there || done - said.sequence < kTidyEach) continue;
    bool is_read = true;
    for (std::uint32_t member = said.first; member < said.last; ++member)
      is_read = is_read && has_read(board, member, said.sequence);
    if (!is_read) continue;
    board.page->lines.clear(said.sequence);
    said.is_there = false;
  }
  for (Board::Other& other : board.others) {
    if (done - other.done >= kTidyEach) other.done = done - kTidyEach;
    const auto begun = static_cast<std::uint32_t>(other.begun >> 32);
    if (FlatPage::is_reached(done, begun) && done - begun >= kTidyEach) other.begun = 0;
  }
}

void Lines::activate(Board& board) {
  if (board.is_active) return;
  active_.push_back(&board);
  board.is_active = true;
  port_.wants_looks(true);
}

bool Lines::look() {
  bool has = false;
  for (std::size_t at = 0; at < active_.size();) {
    Board& board = *active_[at];
    while (!board.queue.empty()) {
      Operation* const first = board.queue.front().op;
      steps_.advance(*first);
      if (!board.queue.empty() && board.queue.front().op == first) break;
      has = true;
    }
    if (board.queue.empty()) {
      board.is_active = false;
      active_[at] = active_.back();
      active_.pop_back();
    } else {
      ++at;
    }
  }
  if (active_.empty()) port_.wants_looks(false);
  if (!has && ++vain_ % kDoubtEach == 0) doubt();
  return has;
}

bool Lines::waits_for(const Operation& op, std::uint32_t member) const noexcept {
  const Board& board = *op.board;
  if (board.state != Board::State::ready || !op.has_said) return true;
  return member >= op.next_line && member < op.lines_end &&
         !FlatPage::says(board.others[member].page->lines.mark(op.sequence), op.sequence);
}

// Of those that live each is asked whether it still begins the operation. Of a board that is ready
// read() finds what a member that has gone has said, or fails for the lack of it.
void Lines::check_lost(Operation& op) {
  Board& board = *op.board;
  const bool is_ready = board.state == Board::State::ready;
  Members whom =
      is_ready && op.has_said ? Members{op.next_line, op.lines_end} : Members{0, op.plan.call.size};
  for (; whom.first < whom.last && op.state == OpState::running; ++whom.first) {
    const Board::Other& other = board.others[whom.first];
    if (whom.first == board.own) continue;
    if (!is_ready && !other.has_judged) steps_.check(op, port_.state(other.rank), whom.first);
    if (op.state == OpState::running && port_.state(other.rank) == PH_OK)
      steps_.ask_begun(op, whom.first);
  }
}

}  // namespace photon::service::coll
