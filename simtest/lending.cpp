#include "simtest/lending.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace photon::simtest {

namespace {

constexpr std::size_t kGuard = 16;
constexpr std::uint64_t kMark = 0x4c454e44'00000000;  // no other id has that
constexpr std::uint64_t kOfLoan = std::uint64_t{1} << 28;
constexpr std::uint64_t kOfRemote = std::uint64_t{1} << 29;
constexpr std::uint64_t kNumber = kOfLoan - 1;

// Patterns of loans and transfers, apart from those of operations.
Pattern lent(std::uint32_t number) { return {Purpose::library, kMark | number}; }
Pattern put(std::uint32_t number) { return {Purpose::source, kMark | number}; }
Pattern landing(std::uint32_t number) { return {Purpose::landing, kMark | number}; }
Pattern junk(std::uint32_t number) { return {Purpose::junk, kMark | number}; }

}  // namespace

std::span<std::byte> Loan::bytes() noexcept {
  return memory.subspan(kGuard, memory.size() - 2 * kGuard);
}

std::span<std::byte> Transfer::bytes() noexcept {
  return is_put() ? std::span(memory) : std::span(memory).subspan(kGuard, size_bytes);
}

Lending::Lending(Oracle& oracle, const Program& program)
    : oracle_(oracle), lanes_(program.lanes_count()), gone_(std::size_t{program.ranks} * lanes_) {
  std::size_t all = 0;
  for (const auto& steps : program.steps)
    for (const Step& step : steps)
      if (step.verb == Verb::announce) all += step.size_bytes + 2 * kGuard;
  slab_.reset(new std::byte[all]);
}

std::string Lending::text_of(const Loan& loan) const {
  return "loan " + std::to_string(loan.number) + " of rank " + std::to_string(loan.owner) + " (" +
         simtest::text_of(*loan.step) + ")";
}

void Lending::wrong(const Loan& loan, const std::string& what) {
  oracle_.report("lent", text_of(loan) + " " + what);
}

Loan& Lending::begin(const Endpoint& from, const Step& step) {
  Loan& loan = loans_.emplace_back();
  loan.number = static_cast<std::uint32_t>(loans_.size());
  loan.owner = from.rank;
  loan.lane = from.lane;
  loan.peer = step.peer;
  loan.step = &step;
  const bool has_bytes = loan.kind() != PH_SEND_REQUEST;
  loan.memory = {slab_.get() + used_, (has_bytes ? step.size_bytes : 0) + 2 * kGuard};
  used_ += loan.memory.size();
  lent(loan.number).fill(loan.memory);
  loan.accepted = true;  // others may take it before the call returns
  return loan;
}

// A rank may be refused what concerns one that leaves or died.
bool Lending::is_excused(const Loan& loan, ph_status status) {
  return oracle_.may_be_gone({loan.peer, loan.lane}, status) ||
         oracle_.may_be_gone({loan.owner, loan.lane}, status);
}

void Lending::announced(Loan& loan, ph_status status) {
  note_owner(loan, "announce " + text_of(loan) + " = " + std::to_string(status));
  if (status != PH_OK) {
    loan.accepted = false;
    if (status != PH_AGAIN && !is_excused(loan, status))
      wrong(loan, "was refused with " + std::to_string(status));
    if (loan.taken) wrong(loan, "was taken, though it was refused");
    return;
  }
  oracle_.also_under_way({loan.owner, loan.lane}, loan.peer);
  loan.came_along = loan.request == PH_REQUEST_NONE && loan.step->requested && !loan.over;
  if (loan.came_along && !loan.finished) {
    const bool may_come = loan.kind() != PH_RECV_BUFFER;
    if (!may_come) wrong(loan, "is over at once, and nobody has finished it");
  }
  if (!loan.step->requested) loan.over = true;
  if (loan.came_along) {
    loan.over = true;
    if (loan.kind() == PH_SEND_BUFFER) junk(loan.number).fill(loan.bytes());
  }
}

bool Lending::fits(const Loan& loan, const ph_match& match) noexcept {
  return loan.kind() == match.kind && (match.rank == PH_ANY_RANK || match.rank == loan.owner) &&
         (match.tag == PH_ANY_TAG || match.tag == loan.step->operand) &&
         (match.size_bytes == PH_ANY_SIZE || match.size_bytes == loan.size_bytes());
}

// The loan that this is: by its place; what came along, and wishes, by the order promised.
Loan* Lending::meant(const Endpoint& at, const ph_buffer& buffer) {
  for (Loan& loan : loans_) {
    if (!loan.accepted || loan.taken || loan.owner != buffer.rank || loan.peer != at.rank) continue;
    if (loan.lane != at.lane) continue;
    if (loan.kind() != buffer.kind || loan.step->operand != buffer.tag ||
        loan.size_bytes() != buffer.size_bytes)
      continue;
    const auto address = reinterpret_cast<std::uint64_t>(loan.bytes().data());
    if (buffer.target.key != 0 && buffer.target.address != address) continue;
    return &loan;
  }
  return nullptr;
}

void Lending::took(const Endpoint& at, const ph_match& match, const ph_buffer& buffer) {
  if (oracle_.failed()) return;
  Loan* loan = meant(at, buffer);
  if (loan == nullptr || !fits(*loan, match))
    return oracle_.report("lent", "rank " + std::to_string(at.rank) +
                                      " has taken what nobody announced, or what it did not ask "
                                      "for: kind " +
                                      std::to_string(buffer.kind) + " of rank " +
                                      std::to_string(buffer.rank) + ", tag " +
                                      std::to_string(buffer.tag) + ", " +
                                      std::to_string(buffer.size_bytes) + " bytes");
  oracle_.note(at, "took loan " + std::to_string(loan->number));
  for (const Loan& older : loans_) {
    if (&older == loan) break;
    if (older.owner != loan->owner || older.peer != at.rank || older.lane != at.lane) continue;
    if (!older.accepted || older.taken) continue;
    const bool went_with_its_owner = owner_gone(older) && !older.came_along;
    if (fits(older, match) && !older.recalled && !went_with_its_owner)
      return wrong(*loan, "overtakes " + text_of(older));
  }
  loan->taken = true;
  loan->buffer = buffer;
  loan->finished = loan->kind() == PH_SEND_REQUEST;
  if (buffer.data == nullptr) return;
  const std::span came(static_cast<const std::byte*>(buffer.data), buffer.size_bytes);
  if (lent(loan->number).difference(came, kGuard)) wrong(*loan, "came along with other bytes");
}

void Lending::finished(Loan& loan, ph_status status) {
  if (status == PH_AGAIN) {
    loan.finished = false;
    return;
  }
  note_peer(loan, "finish loan " + std::to_string(loan.number) + " = " + std::to_string(status));
  if (status != PH_OK && !is_excused(loan, status))
    wrong(loan, "cannot be finished: " + std::to_string(status));
}

void Lending::recalled(Loan& loan, ph_outcome outcome) {
  note_owner(loan, "recall loan " + std::to_string(loan.number) + " = " + std::to_string(outcome));
  if (outcome == PH_CANCELLED) {
    if (loan.taken) wrong(loan, "was cancelled, though it was taken");
    loan.accepted = false;
    loan.over = true;
    check_bytes(loan);
    seal(loan);
  }
}

// All that was put is there, and nothing else.
void Lending::check_bytes(Loan& loan) {
  const Pattern before = lent(loan.number);
  std::vector<std::byte> right(loan.memory.size());
  before.fill(right);
  for (Transfer& one : transfers_)
    if (one.loan == &loan && one.is_put() && one.accepted)
      put(one.number).fill(std::span(right).subspan(kGuard + one.offset, one.size_bytes));
  const auto at = std::mismatch(right.begin(), right.end(), loan.memory.begin());
  if (at.first != right.end())
    wrong(loan, "is over, and its byte " + std::to_string(at.first - right.begin()) + " (of " +
                    std::to_string(kGuard) + " guards first) is not what was put there");
}

void Lending::seal(Loan& loan) { junk(loan.number).fill(loan.memory); }

void Lending::over(Loan& loan, ph_status status) {
  note_owner(loan, "loan " + std::to_string(loan.number) + " over = " + std::to_string(status));
  if (oracle_.failed()) return;
  if (loan.over) return wrong(loan, "is over twice");
  loan.over = true;
  if (status == PH_ERR_NOT_FOUND) {
    if (!loan.recalled || loan.taken) return wrong(loan, "was given back, and was not to be");
    loan.finished = true;  // nobody will
  } else if (status != PH_OK) {
    if (!is_excused(loan, status)) wrong(loan, "ended with " + std::to_string(status));
    return;
  } else if (!loan.finished) {
    return wrong(loan, "is over, though nobody has finished it");
  }
  check_bytes(loan);
  seal(loan);
}

Transfer* Lending::begin(Loan& loan, const Step& step) {
  const std::uint64_t size = std::min(step.size_bytes, loan.size_bytes() - loan.used);
  if (size == 0 && loan.size_bytes() != 0) return nullptr;
  Transfer& one = transfers_.emplace_back();
  one.number = static_cast<std::uint32_t>(transfers_.size());
  one.loan = &loan;
  one.offset = loan.used;
  one.size_bytes = size;
  one.requested = step.requested;
  one.flags = step.flags;
  if (!one.is_put()) {
    one.flags &= ~std::uint32_t{PH_NO_LCE | PH_DELIVERED};
    one.memory.resize(size + 2 * kGuard);
    landing(one.number).fill(one.memory);
  } else {
    one.flags &= ~std::uint32_t{PH_NOTICE_ACCEPTED};
    one.memory.resize(size);
    put(one.number).fill(one.memory);
  }
  if (one.requested) one.flags &= ~std::uint32_t{PH_NO_LCE};
  loan.used += size;
  one.accepted = true;  // others run before the call returns
  return &one;
}

void Lending::posted(Transfer& one, ph_status status) {
  Loan& loan = *one.loan;
  note_peer(loan, std::string(one.is_put() ? "put" : "get") + " transfer " +
                      std::to_string(one.number) + " of loan " + std::to_string(loan.number) +
                      ", " + std::to_string(one.size_bytes) + " bytes at " +
                      std::to_string(one.offset) + " = " + std::to_string(status));
  if (status == PH_OK) {
    oracle_.also_under_way({loan.peer, loan.lane}, loan.owner);
    if (one.requested && one.request == PH_REQUEST_NONE) done(one, PH_OK);
    return;
  }
  one.accepted = false;
  const bool is_stale =
      status == PH_ERR_KEY && oracle_.may_be_gone({loan.owner, loan.lane}, PH_ERR_DEPARTED);
  if (status != PH_AGAIN && !is_excused(loan, status) && !is_stale)
    wrong(loan, "refuses a transfer with " + std::to_string(status));
}

void Lending::done(Transfer& one, ph_status status) {
  if (oracle_.failed()) return;
  Loan& loan = *one.loan;
  note_peer(loan, "transfer " + std::to_string(one.number) + " done = " + std::to_string(status));
  if (status != PH_OK) {
    const bool is_stale =
        status == PH_ERR_KEY && oracle_.may_be_gone({loan.owner, loan.lane}, PH_ERR_DEPARTED);
    if (!is_excused(loan, status) && !is_stale)
      wrong(loan, "has a transfer that ended with " + std::to_string(status));
    one.failed = one.local_seen = true;
    return;
  }
  if (one.local_seen) return wrong(loan, "has a transfer that ended twice");
  one.local_seen = true;
  if (one.is_put()) return junk(one.number).fill(one.memory);
  if (lent(loan.number).difference(one.bytes(), kGuard + one.offset))
    return wrong(loan, "was read, and the bytes are not its own");
  const Pattern around = landing(one.number);
  const std::span<const std::byte> all(one.memory);
  if (around.difference(all.first(kGuard)) ||
      around.difference(all.last(kGuard), kGuard + one.size_bytes))
    wrong(loan, "was read, and bytes beside the destination were written");
}

std::uint64_t Lending::local_id(const Loan& loan) noexcept { return kMark | kOfLoan | loan.number; }
std::uint64_t Lending::local_id(const Transfer& one) noexcept { return kMark | one.number; }
std::uint64_t Lending::remote_id(const Transfer& one) noexcept {
  return kMark | kOfRemote | one.number;
}

bool Lending::completed(const Endpoint& at, const ph_completion& one) {
  if (one.id_size_bytes != 8 || one.id >> 32 != kMark >> 32) return false;
  if (oracle_.failed()) return true;
  const std::uint64_t number = (one.id & kNumber) - 1;
  const ph_rank rank = at.rank;
  const auto stray = [&] {
    oracle_.report("lent", "rank " + std::to_string(rank) + " probed a " + simtest::text_of(one) +
                               ", which nobody gave it");
    return true;
  };
  if ((one.id & kOfLoan) != 0) {  // of one that was over at once
    if (number >= loans_.size() || loans_[number].owner != rank || one.status == PH_OK ||
        !is_excused(loans_[number], one.status))
      return stray();
    return true;
  }
  if (number >= transfers_.size()) return stray();
  Transfer& transfer = transfers_[number];
  Loan& loan = *transfer.loan;
  if (loan.lane != at.lane) {
    oracle_.report("lane", "rank " + std::to_string(rank) + " probed a " + simtest::text_of(one) +
                               " on " + name_of_lane(at.lane) + ", it is of " + text_of(loan));
    return true;
  }
  if ((one.id & kOfRemote) == 0) {
    if (one.kind != PH_LOCAL || rank != loan.peer || one.peer != loan.owner) return stray();
    done(transfer, one.status);
    return true;
  }
  if (one.kind != PH_REMOTE || rank != loan.owner || one.peer != loan.peer || !transfer.accepted ||
      transfer.remote_seen || (transfer.flags & PH_NO_RCE) != 0)
    return stray();
  transfer.remote_seen = true;
  oracle_.note(at, "remote id of transfer " + std::to_string(transfer.number));
  if (!transfer.is_put() || (loan.over && loan.step->requested)) return true;  // maybe junk
  if (put(transfer.number).difference(loan.bytes().subspan(transfer.offset, transfer.size_bytes)))
    wrong(loan, "lacks bytes of a transfer whose remote id was probed");
  return true;
}

bool Lending::explains(const Endpoint& end, ph_status status) {
  return std::any_of(loans_.begin(), loans_.end(), [&](const Loan& loan) {
    const bool is_its = loan.owner == end.rank || loan.peer == end.rank;
    return loan.accepted && is_its && (end.lane == 0 || loan.lane == end.lane) &&
           is_excused(loan, status);
  });
}

bool Lending::is_settled() const {
  const auto is_open = [this](const Loan& loan) {
    if (!loan.accepted || owner_gone(loan)) return false;
    return !loan.over || (!loan.finished && !peer_gone(loan));
  };
  const auto is_under_way = [this](const Transfer& one) {
    if (!one.accepted || one.failed || peer_gone(*one.loan)) return false;
    if (!one.local_seen && (one.flags & PH_NO_LCE) == 0) return true;
    return !one.remote_seen && (one.flags & PH_NO_RCE) == 0 && !owner_gone(*one.loan);
  };
  return std::none_of(loans_.begin(), loans_.end(), is_open) &&
         std::none_of(transfers_.begin(), transfers_.end(), is_under_way);
}

void Lending::report_pending() {
  if (is_settled()) return;
  for (const Loan& loan : loans_)
    if (loan.accepted && !owner_gone(loan) && (!loan.over || !loan.finished))
      return wrong(loan, std::string("does not end: taken ") + (loan.taken ? "yes" : "no") +
                             ", finished " + (loan.finished ? "yes" : "no"));
  for (const Transfer& one : transfers_)
    if (one.accepted && !one.failed && (!one.local_seen || !one.remote_seen))
      return wrong(*one.loan, "has a transfer that does not end");
}

// Nobody has written since its owner had it back; and what nobody was asked about is whole.
void Lending::check_memory() {
  for (Loan& loan : loans_) {
    if (oracle_.failed() || !loan.accepted || owner_gone(loan) || peer_gone(loan)) continue;
    if (!loan.step->requested) {
      check_bytes(loan);
    } else if (loan.kind() != PH_SEND_REQUEST && !loan.came_along &&
               junk(loan.number).difference(loan.memory)) {
      wrong(loan, "was written after it was over");
    }
  }
}

std::vector<Loan*> Lending::lent_by(const Endpoint& at) {
  std::vector<Loan*> found;
  for (Loan& loan : loans_)
    if (loan.owner == at.rank && loan.lane == at.lane && loan.accepted && !loan.over &&
        loan.request != PH_REQUEST_NONE)
      found.push_back(&loan);
  return found;
}

std::vector<Loan*> Lending::taken_by(const Endpoint& at) {
  std::vector<Loan*> found;
  for (Loan& loan : loans_)
    if (loan.peer == at.rank && loan.lane == at.lane && loan.taken && !loan.finished)
      found.push_back(&loan);
  return found;
}

std::vector<Transfer*> Lending::asked_by(const Endpoint& at) {
  std::vector<Transfer*> found;
  for (Transfer& one : transfers_)
    if (one.loan->peer == at.rank && one.loan->lane == at.lane && one.request != PH_REQUEST_NONE)
      found.push_back(&one);
  return found;
}

std::uint32_t Lending::pending_of(ph_rank rank) const {
  return static_cast<std::uint32_t>(
      std::count_if(loans_.begin(), loans_.end(),
                    [rank](const Loan& loan) { return loan.owner == rank && loan.is_pending(); }));
}

bool Lending::awaits_loans(const Endpoint& end) const {
  return std::any_of(loans_.begin(), loans_.end(), [&](const Loan& loan) {
    return loan.owner == end.rank && (end.lane == 0 || loan.lane == end.lane) &&
           !owner_gone(loan) && loan.accepted &&
           (!loan.over || (!loan.finished && !peer_gone(loan)));
  });
}

}  // namespace photon::simtest
