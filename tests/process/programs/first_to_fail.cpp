// A job whose last rank fails, and whose other ranks fail because of that: each of them with
// status 9 at the first error that it is told. Arguments: how the last rank ends, and when.
//
//   first_to_fail exit|abort|kill|well  early|gather|traffic|chain
//
// early: before it has a context; the others wait for it in ph_allgather(), as with gather.
// traffic: in the middle of puts; each of the others puts to it and to its neighbour.
// chain: the same, but only the neighbour of the last rank puts to that: the others lose each
// other.
#include <photon/photon.h>

#include <signal.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kConsequence = 9;
constexpr std::size_t kBytes = 4096;  // of each rank, for each other one

[[noreturn]] void end(const std::string& how) {
  if (how == "exit") std::exit(42);
  if (how == "abort") std::abort();
  if (how == "kill") ::raise(SIGKILL);
  std::exit(0);
}

void require(ph_status status) {
  if (status != PH_OK) std::exit(kConsequence);
}

class Rank {
 public:
  Rank(ph_context* context, std::string how)
      : context_(context),
        how_(std::move(how)),
        rank_(ph_rank_of(context)),
        size_(ph_size_of(context)),
        memory_(kBytes * size_),
        regions_(size_) {}

  [[noreturn]] void gather() {
    if (is_last()) end(how_);
    for (std::vector<char> all(size_);;) {
      const char mine = 1;
      require(ph_allgather(context_, &mine, all.data(), sizeof mine));
    }
  }

  [[noreturn]] void put(bool is_chain) {
    ph_region mine;
    require(ph_register(context_, memory_.data(), memory_.size(), PH_ACCESS_ALL, &mine));
    require(ph_allgather(context_, &mine, regions_.data(), sizeof mine));
    const ph_rank next = (rank_ + 1) % size_;
    for (int round = 0;; ++round) {
      if (is_last() && round == 100) end(how_);
      if (!is_chain && !is_last()) put_to(size_ - 1);
      if (!is_last()) put_to(next);
      take_some();
    }
  }

 private:
  bool is_last() const { return rank_ + 1 == size_; }

  void put_to(ph_rank target) {
    const std::uint64_t id = 1;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = memory_.data();
    args.size_bytes = round_++ % 2 == 0 ? 8 : kBytes;
    args.target = ph_at(&regions_[target], rank_ * kBytes);
    args.local = args.remote = ph_id{&id, sizeof id};
    const ph_status status = ph_put(context_, target, &args);
    if (status != PH_AGAIN) require(status);
  }

  // Not all that is there: 63 ranks can put faster than one takes.
  void take_some() {
    ph_completion found[16];
    std::size_t count = 16;
    for (int calls = 0; calls < 2 && count == 16; ++calls) {
      require(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 16, &count));
      for (std::size_t i = 0; i < count; ++i) require(static_cast<ph_status>(found[i].status));
    }
  }

  ph_context* context_;
  const std::string how_;
  const ph_rank rank_;
  const std::uint32_t size_;
  std::vector<std::byte> memory_;
  std::vector<ph_region> regions_;
  unsigned round_ = 0;
};

}  // namespace

int main(int arguments_count, char** arguments) {
  if (arguments_count != 3) return 2;
  const std::string how = arguments[1];
  const std::string when = arguments[2];
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // For scripts; there is no context yet.
  const char* const rank = std::getenv("PHOTON_RANK");
  const char* const size = std::getenv("PHOTON_SIZE");
  if (rank == nullptr || size == nullptr) return 2;
  if (when == "early" && std::atoi(rank) + 1 == std::atoi(size)) end(how);
  ph_context* context = nullptr;
  require(ph_context_create(nullptr, &context, nullptr));
  Rank self(context, how);
  if (when == "early" || when == "gather") self.gather();
  self.put(when == "chain");
}
