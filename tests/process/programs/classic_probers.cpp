// A classic program as task runtimes are: one thread sends, one probes for local ids (EVQ), one for
// remote ones (LEDGER); every payload is checked before its slot is used again, every id is
// counted.
//
//   photonrun -n 2 classic_probers [parcels each way]      (or more pairs)
#include <photon.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kSlots = 64;
constexpr std::uint64_t kSlotBytes = 64 << 10;
constexpr std::uint64_t kAnswer = std::uint64_t{1} << 63;  // an id that says how many were read
constexpr std::uint64_t kAnswerEvery = 16;

[[noreturn]] void die(const char* what, std::uint64_t number) {
  std::printf("classic_probers: %s at %llu\n", what, static_cast<unsigned long long>(number));
  std::fflush(stdout);
  std::_Exit(1);
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Most are small, as in such programs; one in 4096 fills its slot.
std::uint64_t words_of(std::uint64_t parcel) {
  const std::uint64_t drawn = mixed(parcel);
  return drawn % 4096 == 0 ? kSlotBytes / 8 : 1 + (drawn >> 12) % 32;
}

std::uint64_t word_of(std::uint64_t parcel, std::uint64_t i) {
  return parcel * 0x9e3779b97f4a7c15 + i;
}

photon_cid id_of(std::uint64_t value) {
  photon_cid id{};
  id.u64 = value;
  return id;
}

std::uint64_t take(int flags) {
  int flag = 0;
  photon_cid id{};
  while (flag == 0) {
    if (photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, nullptr, nullptr, flags) !=
        PHOTON_OK)
      die("a probe failed", static_cast<std::uint64_t>(flags));
    if (flag == 0) std::this_thread::yield();
  }
  return id.u64;
}

void put(int peer, photonBuffer from, photonBuffer to, std::uint64_t id, int flags) {
  int status = PHOTON_ERROR_RESOURCE;
  while (status == PHOTON_ERROR_RESOURCE)
    status = photon_put_with_completion(peer, from == nullptr ? 0 : from->size, from, to, id_of(id),
                                        id_of(id), flags);
  if (status != PHOTON_OK) die("a put failed", id);
}

class Rank {
 public:
  Rank(int peer, std::uint64_t count)
      : peer_(peer), count_(count), inbox_(kSlots * kSlotBytes / 8), outbox_(inbox_.size()) {
    for (auto& told : told_) told = ~std::uint64_t{0};
    const std::uint64_t size = inbox_.size() * 8;
    photon_rid mine = 0, theirs = 0;
    if (photon_register_buffer(inbox_.data(), size) != PHOTON_OK ||
        photon_post_recv_buffer_rdma(peer, inbox_.data(), size, 1, &mine) != PHOTON_OK ||
        photon_wait_recv_buffer_rdma(peer, size, 1, &theirs) != PHOTON_OK ||
        photon_get_buffer_remote(theirs, &target_) != PHOTON_OK ||
        photon_send_FIN(theirs, peer, PHOTON_REQ_COMPLETED) != PHOTON_OK ||
        photon_wait(mine) != PHOTON_OK)
      die("the buffers did not meet", 0);
  }

  void run() {
    std::thread evq([this] { probe_locals(); });
    std::thread ledger([this] { probe_remotes(); });
    send();
    evq.join();
    ledger.join();
  }

 private:
  void send() {
    for (std::uint64_t i = 0; i < count_; ++i) {
      while (i >= answered_ + kSlots || is_under_way(i)) std::this_thread::yield();
      std::uint64_t* words = &outbox_[i % kSlots * (kSlotBytes / 8)];
      const std::uint64_t count = words_of(i);
      for (std::uint64_t w = 0; w < count; ++w) words[w] = word_of(i, w);
      photon_buffer_t from{reinterpret_cast<std::uintptr_t>(words), count * 8, {0, 0}};
      photon_buffer_t to{target_.addr + i % kSlots * kSlotBytes, count * 8, target_.priv};
      put(peer_, &from, &to, i, 0);
    }
  }

  // Whether the source of the parcel that had this one's slot before is still the library's.
  bool is_under_way(std::uint64_t i) const {
    return i >= kSlots && told_[i % kSlots] != i - kSlots;
  }

  // Of each slot in turn: no id is missing, none comes twice.
  void probe_locals() {
    std::vector<bool> seen(count_);
    for (std::uint64_t taken = 0; taken < count_; ++taken) {
      const std::uint64_t id = take(PHOTON_PROBE_EVQ);
      if (id >= count_ || seen[id]) die("a local id is wrong or doubled", id);
      seen[id] = true;
      told_[id % kSlots] = id;
    }
  }

  void probe_remotes() {
    std::uint64_t read = 0, answered = 0;
    while (read < count_ || answered < count_) {
      const std::uint64_t id = take(PHOTON_PROBE_LEDGER);
      if ((id & kAnswer) != 0) {
        if ((id & ~kAnswer) <= answered) die("an answer is doubled or out of order", id & ~kAnswer);
        answered_ = answered = id & ~kAnswer;
        continue;
      }
      if (id != read) die("a remote id is lost or doubled", id);
      const std::uint64_t* words = &inbox_[read % kSlots * (kSlotBytes / 8)];
      for (std::uint64_t w = 0; w < words_of(read); ++w)
        if (words[w] != word_of(read, w)) die("a payload is wrong", read);
      if (++read % kAnswerEvery == 0 || read == count_)
        put(peer_, nullptr, nullptr, kAnswer | read, PHOTON_REQ_PWC_NO_LCE);
    }
  }

  const int peer_;
  const std::uint64_t count_;
  std::vector<std::uint64_t> inbox_, outbox_;
  photon_buffer_t target_{};
  std::atomic<std::uint64_t> told_[kSlots] = {};
  std::atomic<std::uint64_t> answered_{0};
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  photon_config_t config;
  std::memset(&config, 0, sizeof config);
  if (photon_init(&config) != PHOTON_OK) return 1;
  if (config.nproc % 2 != 0) die("needs pairs of ranks", 0);
  const auto begin = std::chrono::steady_clock::now();
  Rank(config.address ^ 1, count).run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("rank %d: %llu parcels each way in %.1f s, none lost, none doubled\n", config.address,
              static_cast<unsigned long long>(count), took.count());
  return photon_finalize();
}
