// Pages that make no sense. A member compares the marks, names and counters of other pages, and
// reads from them blocks of the size that its own call gives, and nothing else: so garbage leads
// it nowhere. But it may say for ever that an operation has to wait:
//
//   waits -- the page cannot be its owner's, as it stands --> in doubt -- 50 times in a row, 20 ms
//   apart --> failed with PH_ERR_PROTOCOL, which names the owner
//   in doubt -- it makes sense --> waits
//
// The 50 times are for owners that keep to the rules: one whose operation has failed, or who has
// freed it, may say nothing any more, or something else; and then word of that is on its way, and
// ends the operation before. It is looked at before a sleep, and after many looks that found
// nothing, so that no operation that ends soon pays for it.
#include <algorithm>
#include <new>

#include "service/coll/lines.hpp"

namespace photon::service::coll {

// The member whose page makes no sense, of those that the operation waits for; the number of all if
// there is none.
std::uint32_t Lines::nonsense_of(const Operation& op) const noexcept {
  const Board& board = *op.board;
  const auto none = static_cast<std::uint32_t>(board.others.size());
  const auto is_other = [&](std::uint32_t member) {
    return member != board.own && port_.state(board.others[member].rank) == PH_OK;
  };
  const bool is_own = op.next_line == board.own;  // others may have written into ours
  if (!op.has_said || op.next_line >= op.lines_end || (!is_own && !is_other(op.next_line)))
    return none;
  const Board::Other& other = board.others[op.next_line];
  const FlatPage& lines = is_own ? board.page->lines : other.page->lines;
  const std::uint32_t done = lines.done();  // before the mark, which is older if it is there
  const bool says = FlatPage::says(lines.mark(op.sequence), op.sequence);
  const bool is_its = lines.name() == other.name;
  // Under another name it is there; or its owner is beyond it, and has not said it. Who goes by
  // messages alone for long does not count on.
  const bool is_beyond = is_own || done - op.sequence < kTidyEach;
  return says != is_its && (says || is_beyond) ? op.next_line : none;
}

void Lines::doubt() noexcept {
  for (const Board* const board : active_) {
    if (board->queue.empty() || board->queue.front().op == nullptr) continue;
    Operation& op = *board->queue.front().op;
    if (op.way != Way::lines || op.state != OpState::running) continue;
    if (std::ranges::find(strays_, &op) != strays_.end() || nonsense_of(op) == board->others.size())
      continue;
    try {
      strays_.push_back(&op);
    } catch (const std::bad_alloc&) {  // the next look finds it again
      return;
    }
    if (strays_.size() == 1) due_ns_ = port_.now_ns() + kWatchNs;
    port_.wants_turn();  // who sleeps chooses anew how long
  }
}

void Lines::doubt_again(Operation& op) {
  const std::uint32_t member = nonsense_of(op);
  if (op.state != OpState::running || member == op.board->others.size()) {
    op.doubts = 0;
    std::erase(strays_, &op);
  } else if (++op.doubts >= kMostDoubts) {
    steps_.check(op, PH_ERR_PROTOCOL, member);
  }
}

}  // namespace photon::service::coll
