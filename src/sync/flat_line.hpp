// What a member of a team says to all others at once, in memory that they all see: a page of its
// own, which it alone writes and they read.
//
//   line of one parity: free -- write(s) --> said s -- every reader has read s --> free
//
// Two lines in turn, by the parity of the sequence: so whoever says s + 1 needs only know that s -
// 1 was read, and that stands in the lines of s that it has read itself. A line is written again
// when has_read() of each of its readers says so, and never because something else came to pass.
//
// Writer:  (has_read(s - 2) of all readers); words; done; mark = s [said]
// Reader:  mark == s [said]; words; ... ; end(s) [read]
// Argument: the words are plain memory. Whoever sees mark == s by an acquiring load sees the words
// that were written before it; and the writer, who saw the reader's end at s - 2 by an acquiring
// load, writes after that reader's last look. A page that serves something else by now has another
// name, which is stored after its owner has read all it ever will under the old one. [read]
// Whoever sleeps meanwhile: sleep_gate.hpp; its owner looks at the lines once more after
// arm(). Owner: one member writes; others read. It is zeroed memory at first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
class FlatPage {
 public:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kWords = 6;
  static constexpr std::uint64_t kNoName = 0;

  // A sequence and a digest that is not 0.
  static constexpr std::uint64_t mark_of(std::uint32_t sequence, std::uint32_t digest) noexcept {
    return std::uint64_t{sequence} << 32 | digest;
  }
  static constexpr std::uint32_t digest_of(std::uint64_t mark) noexcept {
    return static_cast<std::uint32_t>(mark);
  }
  static constexpr bool says(std::uint64_t mark, std::uint32_t sequence) noexcept {
    return digest_of(mark) != 0 && mark >> 32 == sequence;
  }
  static constexpr bool is_reached(std::uint32_t done, std::uint32_t sequence) noexcept {
    return static_cast<std::int32_t>(done - sequence) >= 0;
  }

  // ---- its owner
  // From here on it is the page of `name`; nothing up to `before` will be read. Nobody reads it
  // under another name any more.
  void open(std::uint64_t name, std::uint32_t before) noexcept {
    for (Line& line : lines_) line.mark.store(0, std::memory_order_relaxed);
    done_.store(before, std::memory_order_release);  // [read]: whoever still sees the old name
    begun_.store(0, std::memory_order_relaxed);
    is_closed_.store(0, std::memory_order_relaxed);
    name_.store(name, std::memory_order_release);  // [read]
  }
  // This member reads nothing under that name any more.
  void close() noexcept { is_closed_.store(1, std::memory_order_release); }  // [read]
  // What this line says was read by all, long ago: sequences come again.
  void clear(std::uint32_t sequence) noexcept {
    line(sequence).mark.store(0, std::memory_order_relaxed);
  }
  // What says where it is, for those who do not come.
  void show_begun(std::uint64_t mark) noexcept {
    begun_.store(mark, std::memory_order_release);
  }  // [read]
  // Each reader of the line has read what it said last.
  void set_word(std::uint32_t sequence, std::size_t at, std::uint64_t word) noexcept {
    line(sequence).words[at].set(word);
  }
  void say(std::uint32_t sequence, std::uint32_t digest) noexcept {
    Line& own = line(sequence);
    own.done.set(done_.load(std::memory_order_relaxed));
    own.mark.store(mark_of(sequence, digest), std::memory_order_release);  // [said]
  }
  // All that others have said up to there was read.
  void end(std::uint32_t sequence) noexcept {
    done_.store(sequence, std::memory_order_release);  // [read]
  }

  // ---- others
  std::uint64_t mark(std::uint32_t sequence) const noexcept {
    return line(sequence).mark.load(std::memory_order_acquire);  // [said]
  }
  // After a mark: whose it is. A mark of ours that we have not read keeps the page ours.
  std::uint64_t name() const noexcept {
    return name_.load(std::memory_order_acquire);  // [read]
  }
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_acquire); }  // [read]
  // After mark(sequence) said so.
  std::uint64_t word(std::uint32_t sequence, std::size_t at) const noexcept {
    return line(sequence).words[at].get();
  }
  // How far its owner had read when it said that.
  std::uint32_t done_at(std::uint32_t sequence) const noexcept {
    return static_cast<std::uint32_t>(line(sequence).done.get());
  }
  // Its owner, as a member of what that name stands for, reads nothing up to there any more.
  bool has_read(std::uint64_t name, std::uint32_t sequence) const noexcept {
    if (name_.load(std::memory_order_acquire) != name) return true;    // [read]
    if (is_closed_.load(std::memory_order_acquire) != 0) return true;  // [read]
    const std::uint64_t done = done_.load(std::memory_order_acquire);  // [read]
    return is_reached(static_cast<std::uint32_t>(done), sequence);
  }
  // How far its owner says that it has read.
  std::uint32_t done() const noexcept {
    return static_cast<std::uint32_t>(done_.load(std::memory_order_acquire));  // [read]
  }

 private:
  template <class T>
  using Atomic = typename Policy::template Atomic<T>;
  template <class T>
  using Cell = typename Policy::template Cell<T>;

  struct alignas(kLineBytes) Line {
    Atomic<std::uint64_t> mark;
    Cell<std::uint64_t> done;
    std::array<Cell<std::uint64_t>, kWords> words;
  };
  Line& line(std::uint32_t sequence) noexcept { return lines_[sequence & 1]; }
  const Line& line(std::uint32_t sequence) const noexcept { return lines_[sequence & 1]; }

  std::array<Line, 2> lines_;
  alignas(kLineBytes) Atomic<std::uint64_t> done_;
  Atomic<std::uint64_t> begun_;
  // Apart from what is written each time: all who read a line look here.
  alignas(kLineBytes) Atomic<std::uint64_t> name_;
  Atomic<std::uint64_t> is_closed_;
};

}  // namespace photon::sync
