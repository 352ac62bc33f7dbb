// The orders of operations of a team: the one-shot ones, and the starts of each prepared operation,
// found by indexing. What is freed gives its memory back by the page.
//
//   unknown -- a message, or prepare --> known -- free() --> freed, for ever
//
// Invariant: numbers are given in order, so that a page whose numbers are all freed never comes
// back. Owner: a Team, under the lane's lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/coll/early.hpp"

namespace photon::service::coll {

struct Operation;

struct Channel {
  std::uint32_t begun = 0;                    // operations; the next one's sequence
  Operation* prepared = nullptr;              // of channels from 1 on
  base::RingQueue<EarlyPool::List, 1> early;  // of sequences `begun`, begun + 1 ...
};

class Channels {
 public:
  // 0: the one-shot operations. Null: it is freed, or unknown.
  Channel* find(std::uint32_t number) noexcept {
    if (number == 0) return &one_shot_;
    Page* const page = page_of(number);
    return page == nullptr || page->is_freed[place_of(number)] ? nullptr
                                                               : &page->all[place_of(number)];
  }
  const Channel* find(std::uint32_t number) const noexcept {
    return const_cast<Channels*>(this)->find(number);
  }
  Channel& one_shot() noexcept { return one_shot_; }
  const Channel& one_shot() const noexcept { return one_shot_; }

  // Of a number that was not freed. Throws bad_alloc.
  Channel& make(std::uint32_t number) {
    if (Channel* const known = find(number); known != nullptr) return *known;
    const std::uint32_t at = index_of(number);
    if (at >= pages_.size()) pages_.resize(at + 1);
    pages_[at].page = std::make_unique<Page>();
    return pages_[at].page->all[place_of(number)];
  }
  void free(std::uint32_t number) noexcept {
    Page* const page = page_of(number);
    if (page == nullptr || page->is_freed[place_of(number)]) return;
    page->all[place_of(number)] = {};
    page->is_freed[place_of(number)] = true;
    if (++page->freed_count < kPage) return;
    pages_[index_of(number)] = {nullptr, true};
    std::size_t gone = 0;
    while (gone < pages_.size() && pages_[gone].is_over) ++gone;
    pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(gone));
    first_ += static_cast<std::uint32_t>(gone);
  }
  // Whether memory of pages in front was given back: all numbers in them were freed.
  bool is_behind(std::uint32_t number) const noexcept { return (number - 1) / kPage < first_; }

  template <class Use>
  void for_each(Use use) {
    use(0U, one_shot_);
    for (std::size_t at = 0; at < pages_.size(); ++at)
      for (std::uint32_t i = 0; pages_[at].page != nullptr && i < kPage; ++i)
        if (!pages_[at].page->is_freed[i])
          use((first_ + static_cast<std::uint32_t>(at)) * kPage + i + 1, pages_[at].page->all[i]);
  }
  std::size_t pages_count() const noexcept { return pages_.size(); }

 private:
  static constexpr std::uint32_t kPage = 32;
  struct Page {
    std::array<Channel, kPage> all;
    std::array<bool, kPage> is_freed{};
    std::uint32_t freed_count = 0;
  };
  struct Place {
    std::unique_ptr<Page> page;  // null: unknown, or
    bool is_over = false;        // all its numbers are freed
  };

  std::uint32_t index_of(std::uint32_t number) const noexcept {
    return (number - 1) / kPage - first_;
  }
  static std::uint32_t place_of(std::uint32_t number) noexcept { return (number - 1) % kPage; }
  Page* page_of(std::uint32_t number) const noexcept {
    if (is_behind(number)) return nullptr;
    const std::uint32_t at = index_of(number);
    return at < pages_.size() ? pages_[at].page.get() : nullptr;
  }

  Channel one_shot_;
  std::vector<Place> pages_;
  std::uint32_t first_ = 0;  // pages in front of these, which are over
};

}  // namespace photon::service::coll
