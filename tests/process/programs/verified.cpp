// Each rank puts to the next one, small and large, to mapped memory and to the heap's, and gets it
// back; every byte is looked at. Rank 0 says at the end how its neighbour is reached:
//   verified by shm
#include <photon/photon.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

namespace {

constexpr std::array<std::size_t, 3> kSizes{8, 1000, 100'000};
constexpr std::size_t kLargest = 100'000;
constexpr std::chrono::seconds kPatience{20};

constexpr std::uint64_t kPut = 1, kTold = 2, kGot = 3, kReadFrom = 4;

class Ring {
 public:
  explicit Ring(photon::Context& context)
      : context_(context),
        next_((context.rank() + 1) % context.size()),
        before_((context.rank() + context.size() - 1) % context.size()) {}

  // True: all went as it should. `mine`: where the one before puts to, as all regions have it.
  bool turn(std::span<const std::byte> mine, const std::vector<photon::Region>& all) {
    for (const std::size_t size_bytes : kSizes) {
      const std::vector<std::byte> sent(size_bytes, mark(context_.rank(), size_bytes));
      std::vector<std::byte> back(size_bytes);
      const photon::Target there = photon::at(all[next_], 0);
      while (!context_.put(next_, sent, there, {.local = kPut, .remote = kTold})) take();
      if (!await(kPut) || !await(kTold)) return false;
      const auto is_right = [&](std::byte one) { return one == mark(before_, size_bytes); };
      if (!std::ranges::all_of(mine.first(size_bytes), is_right)) return wrong("put");
      // Nobody puts anew before all have looked.
      context_.barrier();
      while (!context_.get(next_, back, there, {.local = kGot, .remote = kReadFrom})) take();
      if (!await(kGot) || !await(kReadFrom)) return false;
      if (back != sent) return wrong("got");
      context_.barrier();
    }
    return true;
  }

 private:
  static std::byte mark(photon::Rank rank, std::size_t size_bytes) {
    return static_cast<std::byte>(rank * 7 + size_bytes % 251 + 1);
  }
  static bool wrong(const char* what) {
    std::fprintf(stderr, "the bytes that were %s are wrong\n", what);
    return false;
  }

  void take() {
    std::array<photon::Completion, 4> storage;
    for (const photon::Completion& one : context_.probe(storage)) {
      if (one.status != PH_OK) failed_ = ph_status_text(one.status);
      ++seen_[one.id % seen_.size()];
    }
  }
  bool await(std::uint64_t id) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (seen_[id] == 0 && failed_ == nullptr) {
      if (std::chrono::steady_clock::now() > until) failed_ = "no completion in 20 s";
      take();
      if (seen_[id] == 0) (void)context_.wait_for(std::chrono::milliseconds(5));
    }
    if (failed_ != nullptr) std::fprintf(stderr, "a completion: %s\n", failed_);
    if (failed_ == nullptr) --seen_[id];
    return failed_ == nullptr;
  }

  photon::Context& context_;
  photon::Rank next_;
  photon::Rank before_;
  std::array<int, 8> seen_{};
  const char* failed_ = nullptr;
};

int run() {
  std::vector<std::byte> heap(kLargest);
  photon::Context context;
  const auto mapped = context.allocate<std::byte>(kLargest);
  const auto registered = context.register_memory(heap);
  Ring ring(context);
  if (!ring.turn(mapped.span(), context.allgather(mapped.region()))) return 1;
  if (!ring.turn(heap, context.allgather(registered.region()))) return 1;
  ph_path path{};
  path.size = sizeof path;
  if (ph_path_to(context.c_context(), (context.rank() + 1) % context.size(), &path) != PH_OK)
    return 1;
  context.finalize();
  if (context.rank() == 0) std::printf("verified by %s\n", path.transport);
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const photon::Error& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    return 1;
  }
}
