// Where the handler of one active message lets its payload land, and what its completion handler
// has to be told of it.
//
//   made -- name() --> named -- told() of each part --> over
//
//   memory: | guard | landing | guard |    or, as a list: | guard | block | guard | block | guard |
//
// Invariant: the guards, and from its end on the landing too, are not written to.
// Owner: the model of active messages. Threads: one.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "simtest/program.hpp"

namespace photon::simtest {

class AmLanded {
 public:
  AmLanded(std::uint32_t number, const AmPlace& place, std::uint64_t payload_bytes, bool is_pulled);

  void name(ph_am_landing& landing, ph_am_done done, void* argument) noexcept;
  // With what error a message ends whose handler names such a landing; PH_OK: with none.
  ph_status error() const noexcept { return error_; }
  // Whether its completion handler is called at all.
  bool is_told() const noexcept { return is_told_; }
  bool is_over() const noexcept { return is_over_; }
  // Its header handler has said an error, too: nothing lands.
  void ignore() noexcept;
  // The list is read when the header handler has returned: it may change from now on.
  void spoil_list() noexcept;
  // What comes next if nothing goes wrong.
  ph_am_part next() const noexcept;
  // What it has returned for a part behind which others were to come; PH_OK: no error.
  ph_status failure() const noexcept { return failure_; }
  // What the completion handler returns for that part.
  ph_status answer(const ph_am_part& part) const noexcept;
  // The bytes of a part, one behind the other.
  std::vector<std::byte> bytes(const ph_am_part& part) const;
  void told(const ph_am_part& part, ph_status returned) noexcept;
  bool is_damaged() const;

 private:
  void end() noexcept;
  std::span<std::byte> span_of(std::size_t block) noexcept;
  std::uint64_t offset_of(std::uint64_t byte) const noexcept;

  const std::uint32_t number_;
  const AmPlace place_;
  const std::uint64_t payload_bytes_;
  std::uint64_t part_bytes_ = 1;
  std::array<std::uint64_t, 2> sizes_{};  // of the blocks; the second one of a list alone
  std::vector<std::byte> memory_;
  std::array<ph_block, 3> list_{};
  ph_status error_ = PH_OK;
  ph_status failure_ = PH_OK;
  bool is_told_ = false;
  bool is_over_ = false;
  std::uint64_t told_ = 0;   // bytes
  std::uint32_t parts_ = 0;  // that were told
};

}  // namespace photon::simtest
