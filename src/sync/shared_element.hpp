// An element of plain memory that several threads or processes change at once, each change in one
// indivisible step: of 1, 2, 4 or 8 bytes, at a multiple of its size. Those who have mapped the
// memory at other addresses are among them, for the processor's atomics are lock-free.
//
// Order: all steps are sequentially consistent. So there is one order of all steps on all elements,
// in which those of each thread stand as it made them. What this gives: changes of one origin to
// one element are made in the order of its calls; and of two that each change an element and then
// look at the other's, one sees the other's change, without a fence between. On x86-64 it costs
// nothing over relaxed steps: what changes memory here is a locked instruction, which is a full
// fence, and a load is a plain one. A plain store would need a fence, so replacing is an exchange.
// Invariant: nobody touches the element in another way meanwhile, nor with another size.
// Owner: whoever owns the memory; a SharedElement is a view of it. Threads: any.
#pragma once

#include <atomic>
#include <concepts>

namespace photon::sync {

template <std::unsigned_integral Word>
class SharedElement {
 public:
  explicit SharedElement(void* at) noexcept : word_(*static_cast<Word*>(at)) {}

  // Each gives what stood there before.
  Word load() const noexcept { return word_.load(kOrder); }
  Word exchange(Word value) const noexcept { return word_.exchange(value, kOrder); }
  Word fetch_add(Word value) const noexcept { return word_.fetch_add(value, kOrder); }
  Word fetch_and(Word value) const noexcept { return word_.fetch_and(value, kOrder); }
  Word fetch_or(Word value) const noexcept { return word_.fetch_or(value, kOrder); }
  Word fetch_xor(Word value) const noexcept { return word_.fetch_xor(value, kOrder); }
  // Puts `value` there if `expected` stands there.
  Word compare_exchange(Word expected, Word value) const noexcept {
    word_.compare_exchange_strong(expected, value, kOrder);
    return expected;
  }
  // Puts choose(before) there. `choose` is a pure function, and may be called several times. If it
  // chooses what is there already, the step is the load that saw it.
  template <class Choose>
  Word change(Choose choose) const noexcept {
    Word before = word_.load(kOrder);
    for (;;) {
      const Word after = choose(before);
      if (after == before || word_.compare_exchange_weak(before, after, kOrder)) return before;
    }
  }

 private:
  static constexpr auto kOrder = std::memory_order_seq_cst;
  static_assert(std::atomic_ref<Word>::is_always_lock_free &&
                std::atomic_ref<Word>::required_alignment == sizeof(Word));

  std::atomic_ref<Word> word_;
};

}  // namespace photon::sync
