#include "engine/parts/stores.hpp"

#include <cstdio>
#include <cstring>

#include "sync/streamed_copy.hpp"

namespace photon::engine {

namespace {

constexpr const char* text_of(Way way) noexcept {
  return way == Way::plain ? "stored" : way == Way::streamed ? "streamed" : "staged";
}

// Goes on where the words of a path end, as far as there is room.
class Words {
 public:
  explicit Words(ph_path& path) noexcept
      : at_(path.reason + std::strlen(path.reason)), end_(path.reason + sizeof path.reason - 1) {}

  Words& add(const char* words) noexcept {
    while (at_ != end_ && *words != '\0') *at_++ = *words++;
    *at_ = '\0';
    return *this;
  }
  Words& add(std::uint64_t number) noexcept {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(number));
    return add(digits);
  }

 private:
  char* at_;
  char* const end_;
};

}  // namespace

Way Stores::forced(bool may_stage) const noexcept {
  if (setting_ == base::ShmCopies::streamed) return Way::streamed;
  return setting_ == base::ShmCopies::staged && may_stage ? Way::ring : Way::plain;
}

Way Stores::for_mapped(std::uint64_t bytes, bool may_stage, service::LineProducer& tx) noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  if (setting_ != base::ShmCopies::automatic) return forced(may_stage);
  const bool is_pending = pending_bytes_ == bytes && (may_stage || pending_ != Way::ring);
  take_pending();
  if (is_pending) return pending_;
  if (watch_.is_due()) watch(tx);
  return (may_stage ? either_ : mapped_).next(bytes, bytes, sync::core_ticks);
}

Way Stores::for_ring(std::uint64_t whole_bytes, std::uint64_t bytes,
                     service::LineProducer& tx) noexcept {
  if (whole_bytes < StoreChoice::kLeastBytes) return Way::plain;
  if (setting_ != base::ShmCopies::automatic) return forced(false);
  if (watch_.is_due()) watch(tx);
  return ring_.next(whole_bytes, bytes, sync::core_ticks);
}

void Stores::copy(Way way, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (way == Way::streamed)
    sync::copy_streamed(to, from, bytes);
  else
    std::memmove(to, from, bytes);
}

// Stores to the next line, as a claim of it does (line_prefetch.hpp), and waits until it has come.
void Stores::watch(service::LineProducer& tx) noexcept {
  if (!tx.has_room(1)) return watch_.put_off();
  const auto begun = sync::core_ticks();
  tx.claim(1);
  transport::Policy::full_fence();
  if (!watch_.saw(sync::core_ticks() - begun)) return;
  either_.stir();
  mapped_.stir();
  ring_.stir();
}

void Stores::describe(ph_path& path) const noexcept {
  Words words(path);
  for (const bool is_ring : {false, true}) {
    words.add(is_ring ? "; into the bulk ring" : "; puts to mapped memory");
    Way last = Way::plain;
    for (unsigned i = 0; i < StoreChoice::kClasses; ++i) {
      const std::uint64_t bytes = StoreChoice::kLeastBytes << i;
      const Way best = is_ring ? best_for_ring(bytes) : best_for_mapped(bytes);
      if (i != 0 && best != last) words.add(", from ").add(bytes >> 10).add("K");
      if (i == 0 || best != last) words.add(" ").add(text_of(best));
      last = best;
    }
  }
}

Way Stores::best_for_mapped(std::uint64_t bytes) const noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  return setting_ == base::ShmCopies::automatic ? either_.best(bytes) : forced(true);
}

Way Stores::best_for_ring(std::uint64_t bytes) const noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  return setting_ == base::ShmCopies::automatic ? ring_.best(bytes) : forced(false);
}

}  // namespace photon::engine
