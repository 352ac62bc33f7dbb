#include "interop/mpi/window/making.hpp"

#include <photon/map.h>
#include <photon/memory.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include "interop/mpi/window/reach.hpp"

namespace photon::mpi {

bool Making::begin() noexcept {
  const Real& mpi = real();
  int has_two_groups = 0;
  if (mpi.Comm_test_inter(wish_.comm, &has_two_groups) != MPI_SUCCESS || has_two_groups != 0)
    return false;
  if (mpi.Comm_dup(wish_.comm, &comm_) != MPI_SUCCESS) return false;
  mpi.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  return mpi.Comm_rank(comm_, &own_) == MPI_SUCCESS && mpi.Comm_size(comm_, &size_) == MPI_SUCCESS;
}

// All say yes.
bool Making::agree(bool mine) noexcept {
  int own = mine ? 1 : 0;
  int all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (real().Iallreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm_, &request) != MPI_SUCCESS)
    return false;
  for (int is_over = 0; is_over == 0;) {
    job_.serve();
    if (real().Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
  }
  return all == 1;
}

// The info of the wish says so.
bool Making::is_said(char* name, const char* value) const noexcept {
  if (wish_.info == MPI_INFO_NULL) return false;
  char found[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  return real().Info_get(wish_.info, name, MPI_MAX_INFO_VAL, found, &is_there) == MPI_SUCCESS &&
         is_there != 0 && std::string_view(found) == value;
}

// Our rank in the job. False: a member is not of it; another job has ranks of the same numbers.
bool Making::find_ranks() {
  const auto count = static_cast<std::size_t>(size_);
  std::vector<int> own(count);
  std::vector<int> ranks(count, MPI_UNDEFINED);
  std::iota(own.begin(), own.end(), 0);
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  const Real& mpi = real();
  if (mpi.Comm_group(comm_, &members) == MPI_SUCCESS &&
      mpi.Comm_group(job_.comm(), &all) == MPI_SUCCESS)
    mpi.Group_translate_ranks(members, size_, own.data(), all, ranks.data());
  if (members != MPI_GROUP_NULL) mpi.Group_free(&members);
  if (all != MPI_GROUP_NULL) mpi.Group_free(&all);
  card_.rank = static_cast<ph_rank>(ranks[static_cast<std::size_t>(own_)]);
  return std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end() &&
         card_.rank == job_.rank();
}

// The block, and the memory of the window.
bool Making::provide() {
  constexpr std::size_t kLine = 64;
  holding_ = std::make_unique<Holding>(job_);
  const auto members = static_cast<std::uint32_t>(size_);
  const std::uint64_t in_front =
      wish_.allocates ? (wish_.size_bytes + kLine - 1) / kLine * kLine : 0;
  const std::uint64_t bytes = in_front + Board::bytes_of(members);
  if (bytes < in_front) return false;
  holding_->memory = job_.allocate(bytes);
  if (holding_->memory == nullptr) return false;
  if (!job_.find(holding_->memory, bytes, card_.block)) return false;
  base_ = wish_.allocates ? holding_->memory : wish_.base;
  card_.unit = static_cast<std::uint32_t>(wish_.unit);
  card_.number = job_.next_number();
  card_.size_bytes = wish_.size_bytes;
  card_.base = reinterpret_cast<std::uint64_t>(base_);
  if (!provide_memory()) return false;
  card_.block.address += in_front;
  card_.block.size_bytes -= in_front;
  return true;
}

bool Making::provide_memory() {
  if (wish_.size_bytes == 0 || job_.find(base_, wish_.size_bytes, card_.memory)) return true;
  card_.way = Way::copied;
  if (ph_register(job_.context(), base_, wish_.size_bytes, PH_ACCESS_ALL, &card_.memory) != PH_OK)
    return false;
  holding_->key = card_.memory.key;
  return true;
}

// PH_ERR_NOT_FOUND: its host is another.
ph_status Making::map(ph_rank rank, const ph_region& region, void*& local) {
  for (;;) {
    const ph_status status = ph_map(job_.context(), rank, &region, &local);
    if (status == PH_OK) holding_->mapped.push_back(local);
    if (status != PH_AGAIN) return status;
    if (const ph_status met = ph_contact(job_.context(), rank); met != PH_OK) return met;
    job_.serve();
  }
}

// The kernel moves bytes between these two processes.
bool Making::is_copied(const Target& target) noexcept {
  std::byte first{};
  return target.size_bytes == 0 || read_copied(job_, target, 0, &first, 1);
}

// That member's thread takes part in what is done to it.
bool Making::be_asked(Target& target) noexcept {
  target.way = Way::served;
  asks_ = true;
  return true;
}

// Where one member has to ask another, all have their servers. False: not all can.
bool Making::be_served() noexcept {
  if (agree(!asks_)) return true;
  Server* const server = job_.server();
  if (!agree(server != nullptr)) return false;
  bool is_entered = false;
  try {
    holding_->window->be_served(*server);
    is_entered = server->enter(holding_->window->number(), *holding_->window);
  } catch (const std::bad_alloc&) {
  }
  return agree(is_entered);
}

bool Making::reach(std::uint32_t member) {
  const Card& card = cards_[member];
  Target& target = holding_->window->target(member);
  target.size_bytes = card.size_bytes;
  target.unit = card.unit;
  target.rank = card.rank;
  target.way = card.way;
  target.region = card.memory;
  target.region.address = card.base;
  // An allocated window's memory and block are one allocation, and one of the regions that a rank
  // can map.
  const bool is_one = card.memory.key == card.block.key;
  void* block = nullptr;
  const ph_status mapped = map(card.rank, is_one ? card.memory : card.block, block);
  if (mapped == PH_ERR_NOT_FOUND) return be_asked(target);
  if (mapped != PH_OK) return false;
  auto* const memory = static_cast<std::byte*>(block);
  if (is_one) block = memory + (card.block.address - card.memory.address);
  target.board.emplace(block, static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(own_));
  if (card.rank == job_.rank()) {
    target.base = static_cast<std::byte*>(base_);
    return true;
  }
  if (card.way == Way::copied) return is_copied(target) || be_asked(target);
  if (card.size_bytes == 0) return true;
  void* window = memory;
  if (!is_one && map(card.rank, card.memory, window) != PH_OK) return false;
  target.base = static_cast<std::byte*>(window) + (card.base - card.memory.address);
  return true;
}

// Null: MPI has to make it.
std::unique_ptr<Holding> Making::run() noexcept {
  if (!agree(prepare())) return nullptr;
  constexpr int kBytes = sizeof(Card);
  if (real().Allgather(&card_, kBytes, MPI_BYTE, cards_.data(), kBytes, MPI_BYTE, comm_) !=
      MPI_SUCCESS)
    return nullptr;
  holding_->window->name(cards_.front().number);
  bool can = true;
  for (std::uint32_t i = 0; can && i < cards_.size(); ++i) can = reach(i);
  if (!can) say("it cannot reach the memory of a member");
  if (!agree(can) || !be_served()) return nullptr;
  if (!make_real()) return nullptr;
  holding_->base = base_;
  holding_->size_bytes = static_cast<MPI_Aint>(wish_.size_bytes);
  holding_->unit = wish_.unit;
  holding_->flavour = wish_.allocates ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE;
  return std::move(holding_);
}

// Open MPI 4.1 refuses a window of one rank that has memory of its own.
bool Making::make_real() noexcept {
  const Real& mpi = real();
  MPI_Win& win = holding_->handle;
  if (agree(mpi.Win_create(base_, static_cast<MPI_Aint>(wish_.size_bytes), wish_.unit, wish_.info,
                           comm_, &win) == MPI_SUCCESS))
    return true;
  void* nothing = nullptr;
  if (agree(mpi.Win_allocate(0, wish_.unit, wish_.info, comm_, &nothing, &win) == MPI_SUCCESS))
    return true;
  return say("MPI refuses to make the real window");
}

// All that can run out of memory, so that a member without any is no riddle to the others.
bool Making::prepare() noexcept {
  try {
    char async[] = "photon_async";
    char at_target[] = "photon_op_at_target";
    if (is_said(async, "false")) return say("its info says photon_async = false");
    if (!wish_.fits) return say("its displacement unit is more than an int holds");
    if (!find_ranks()) return say("not all of its members are of MPI_COMM_WORLD");
    if (!provide()) return say_error();
    const auto count = static_cast<std::uint32_t>(size_);
    cards_.resize(count);
    holding_->mapped.reserve(2 * std::size_t{count});
    holding_->window = std::make_unique<Window>(job_, static_cast<std::uint32_t>(own_), count);
    if (is_said(at_target, "true")) {
      holding_->window->have_ops_at_target();
      asks_ = true;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return say("there is no memory for it");
  }
}

// The words are those of the library's last error.
bool Making::say_error() noexcept {
  ph_error error{};
  ph_last_error(job_.context(), &error);
  return say(error.text);
}

bool Making::say(const char* why) noexcept {
  job_.say("a window of %llu bytes stays MPI's: %s",
           static_cast<unsigned long long>(wish_.size_bytes), why);
  return false;
}

}  // namespace photon::mpi
