#include "interop/mpi/window/windows.hpp"

#include <photon/map.h>
#include <photon/memory.h>

#include <list>
#include <utility>

namespace photon::mpi {

namespace {

// Windows that exist, and those whose real window was deleted, until their memory may go.
struct Known {
  std::mutex mutex;
  std::list<std::unique_ptr<Holding>> live;
  std::list<std::unique_ptr<Holding>> parting;
};
Known& known() noexcept {
  static Known all;
  return all;
}

}  // namespace

Holding::~Holding() {
  window.reset();
  for (void* const one : mapped) ph_unmap(job.context(), one);
  if (key != 0) ph_revoke(job.context(), key);
  if (memory != nullptr) job.free(memory);
}

Windows::Table& Windows::table() noexcept {
  static constinit Table all;
  return all;
}

std::uint64_t Windows::key_of(MPI_Win win) noexcept {
  if constexpr (std::is_pointer_v<MPI_Win>)
    return reinterpret_cast<std::uint64_t>(win);
  else
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(win));
}

int Windows::keyval() noexcept {
  static const int made = [] {
    int value = MPI_KEYVAL_INVALID;
    real().Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_deletion, &value, nullptr);
    return value;
  }();
  return made;
}

// The real window goes. Ours is not found any more; its memory stays until the real one has gone.
int Windows::on_deletion(MPI_Win, int, void* value, void*) noexcept {
  auto* const holding = static_cast<Holding*>(value);
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  table().erase(key_of(holding->handle));
  for (auto at = all.live.begin(); at != all.live.end(); ++at) {
    if (at->get() != holding) continue;
    all.parting.splice(all.parting.end(), all.live, at);
    break;
  }
  return MPI_SUCCESS;
}

// Whoever is the first to set an attribute of a window has his callback called last.
bool Windows::enter(Holding& holding) noexcept {
  const std::lock_guard guard(known().mutex);
  return keyval() != MPI_KEYVAL_INVALID &&
         real().Win_set_attr(holding.handle, keyval(), &holding) == MPI_SUCCESS &&
         table().set(key_of(holding.handle), &holding);
}

int Windows::free(Holding& holding, MPI_Win* win) noexcept {
  static_cast<void>(holding);
  const int result = real().Win_free(win);
  std::list<std::unique_ptr<Holding>> parting;
  const std::lock_guard guard(known().mutex);
  parting.swap(known().parting);
  return result;
}

void Windows::end() noexcept {
  Known& all = known();
  const std::lock_guard guard(all.mutex);
  for (const auto& one : all.live) table().erase(key_of(one->handle));
  all.live.clear();
  all.parting.clear();
}

namespace {

// What a member says of itself.
struct Card {
  std::int32_t can = 0;
  std::uint32_t unit = 1;
  ph_rank rank = 0;
  Way way = Way::mapped;
  std::uint64_t size_bytes = 0;
  std::uint64_t base = 0;  // in its own address space
  ph_region memory{};      // that the base lies in
  ph_region block{};
};

// One making of a window. The communicator is a duplicate of the program's, on which errors are
// returned.
class Making {
 public:
  Making(Job& job, const Wish& wish) : job_(job), wish_(wish) {}
  ~Making() {
    if (comm_ != MPI_COMM_NULL) real().Comm_free(&comm_);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  bool begin() noexcept;  // false: MPI cannot even give us a communicator
  std::unique_ptr<Holding> run();
  void* base() const noexcept { return base_; }

 private:
  bool agree(bool mine) noexcept;
  bool is_wanted() const noexcept;
  bool find_ranks();
  bool provide();
  bool provide_memory();
  bool reach(std::uint32_t member);
  bool map(ph_rank rank, const ph_region& region, void*& local);
  bool has_way(const Card& card) noexcept;

  Job& job_;
  const Wish& wish_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int own_ = 0;
  int size_ = 0;
  std::unique_ptr<Holding> holding_;
  Card card_;
  std::vector<Card> cards_;
  void* base_ = nullptr;
};

bool Making::begin() noexcept {
  const Real& mpi = real();
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

bool Making::is_wanted() const noexcept {
  if (wish_.info == MPI_INFO_NULL) return true;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int is_there = 0;
  char name[] = "photon_async";
  return real().Info_get(wish_.info, name, MPI_MAX_INFO_VAL, value, &is_there) != MPI_SUCCESS ||
         is_there == 0 || std::string_view(value) != "false";
}

// The members' ranks in the job. False: one is not of it.
bool Making::find_ranks() {
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  const Real& mpi = real();
  int rank = MPI_UNDEFINED;
  if (mpi.Comm_group(comm_, &members) == MPI_SUCCESS &&
      mpi.Comm_group(job_.comm(), &all) == MPI_SUCCESS)
    mpi.Group_translate_ranks(members, 1, &own_, all, &rank);
  if (members != MPI_GROUP_NULL) mpi.Group_free(&members);
  if (all != MPI_GROUP_NULL) mpi.Group_free(&all);
  card_.rank = static_cast<ph_rank>(rank);
  return rank != MPI_UNDEFINED && card_.rank == job_.rank();
}

// The block, and the memory of the window.
bool Making::provide() {
  constexpr std::size_t kLine = 64;
  holding_ = std::make_unique<Holding>(job_);
  const auto members = static_cast<std::uint32_t>(size_);
  const std::uint64_t in_front =
      wish_.allocates ? (wish_.size_bytes + kLine - 1) / kLine * kLine : 0;
  const std::uint64_t bytes = in_front + Board::bytes_of(members);
  if (bytes < wish_.size_bytes) return false;
  holding_->memory = job_.allocate(bytes);
  if (holding_->memory == nullptr) {
    job_.say("a window of %llu bytes stays MPI's: Photon has no memory for it",
             static_cast<unsigned long long>(wish_.size_bytes));
    return false;
  }
  if (!job_.find(holding_->memory, bytes, card_.block)) return false;
  base_ = wish_.allocates ? holding_->memory : wish_.base;
  card_.unit = static_cast<std::uint32_t>(wish_.unit);
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

bool Making::map(ph_rank rank, const ph_region& region, void*& local) {
  for (;;) {
    const ph_status status = ph_map(job_.context(), rank, &region, &local);
    if (status == PH_OK) {
      holding_->mapped.push_back(local);
      return true;
    }
    if (status != PH_AGAIN) return false;
    if (ph_contact(job_.context(), rank) != PH_OK) return false;
    job_.serve();
  }
}

// The kernel moves bytes between these two processes, in both directions.
bool Making::has_way(const Card& card) noexcept {
  if (card.size_bytes == 0 || card.rank == job_.rank()) return true;
  std::byte first{};
  ph_get_args get{};
  get.size = sizeof get;
  get.destination = &first;
  get.size_bytes = 1;
  get.source = {card.base, card.memory.key};
  get.flags = PH_ALONE | PH_NO_RCE;
  for (;;) {
    ph_request request = PH_REQUEST_NONE;
    get.request = &request;
    const ph_status status = ph_get(job_.context(), card.rank, &get);
    if (status == PH_OK)
      return ph_wait_request(job_.context(), &request, nullptr, PH_FOREVER) == PH_OK;
    if (status != PH_AGAIN) return false;
    job_.serve();
  }
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
  void* block = nullptr;
  if (!map(card.rank, card.block, block)) return false;
  target.board.emplace(block, static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(own_));
  if (card.rank == job_.rank()) {
    target.base = static_cast<std::byte*>(base_);
    return true;
  }
  if (card.way == Way::copied) return has_way(card);
  if (card.size_bytes == 0) return true;
  void* memory = nullptr;
  if (!map(card.rank, card.memory, memory)) return false;
  target.base = static_cast<std::byte*>(memory) + (card.base - card.memory.address);
  return true;
}

// Null: MPI has to make it.
std::unique_ptr<Holding> Making::run() {
  card_.can = is_wanted() && find_ranks() && provide() ? 1 : 0;
  cards_.resize(static_cast<std::size_t>(size_));
  constexpr int kBytes = sizeof(Card);
  if (!agree(card_.can != 0)) return nullptr;
  if (real().Allgather(&card_, kBytes, MPI_BYTE, cards_.data(), kBytes, MPI_BYTE, comm_) !=
      MPI_SUCCESS)
    return nullptr;
  bool can = true;
  holding_->window = std::make_unique<Window>(job_, static_cast<std::uint32_t>(own_),
                                              static_cast<std::uint32_t>(size_));
  for (std::uint32_t i = 0; can && i < cards_.size(); ++i) can = reach(i);
  if (!agree(can)) return nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const int made = real().Win_create(base_, static_cast<MPI_Aint>(wish_.size_bytes), wish_.unit,
                                     wish_.info, comm_, &win);
  if (!agree(made == MPI_SUCCESS)) return nullptr;
  holding_->handle = win;
  holding_->flavour = wish_.allocates ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE;
  return std::move(holding_);
}

}  // namespace

std::optional<int> Windows::make(Job& job, const Wish& wish, void*& base, MPI_Win& win) noexcept {
  try {
    Making making(job, wish);
    if (!making.begin()) return std::nullopt;
    std::unique_ptr<Holding> holding = making.run();
    if (holding == nullptr) {
      job.say("a window stays MPI's: not all of its members can serve it");
      return std::nullopt;
    }
    if (!enter(*holding)) return MPI_ERR_NO_MEM;
    base = making.base();
    win = holding->handle;
    const std::lock_guard guard(known().mutex);
    known().live.push_back(std::move(holding));
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace photon::mpi
