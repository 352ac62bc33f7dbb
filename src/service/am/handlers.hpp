// Which handler an id names (docs/active-messages.md, "Registering"): filled under the lane's lock,
// followed without it by the thread that runs handlers.
//
//   free -- add() --> shown -- retire() --> retired -- no run that may have found it, no pull of
//   its --> is_over(): freed
//
// Argument: only a run that began before retire() can have loaded the pointer, for the next one
// takes the lock first (collect()), and then finds null. A completion handler does not look the id
// up: its pull carries the node, which counts it.
// Invariant: a node that a run or a pull may still follow is not freed.
// Owner: Am.
#pragma once

#include <photon/am.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sync/policy.hpp"
#include "sync/published.hpp"

namespace photon::service::am {

struct HandlerNode {
  ph_am_handler handler = nullptr;
  void* user = nullptr;
  std::uint64_t pulls = 0;  // under the lock: payloads that its messages still wait for
};

class HandlerTable {
 public:
  // False: the id is taken. Throws bad_alloc, and then nothing was done.
  bool add(std::uint32_t id, ph_am_handler handler, void* user);
  // Null: nobody is registered. Any thread, inside a run.
  [[gnu::always_inline]] HandlerNode* find(std::uint32_t id) const noexcept {
    const Page* const page = pages_[id / kPageIds].get();
    return page == nullptr ? nullptr : page->shown[id % kPageIds].get();
  }
  // From the next run on nobody finds it. `runs`: those that have begun, ever. Null: nobody is
  // registered. It needs no memory, for who unregisters frees what the handler uses.
  const HandlerNode* retire(std::uint32_t id, std::uint64_t runs) noexcept;
  // True: so many runs are over that nothing follows it any more, and it was freed.
  bool is_over(const HandlerNode* retired, std::uint64_t runs_over) noexcept;

  std::size_t retired() const noexcept { return retired_.size(); }

 private:
  static constexpr std::uint32_t kPageIds = 256;
  struct Page {
    std::array<sync::Published<sync::HardwarePolicy, HandlerNode>, kPageIds> shown;
    std::array<std::unique_ptr<HandlerNode>, kPageIds> nodes;
  };
  struct Retired {
    std::unique_ptr<HandlerNode> node;
    std::uint64_t runs = 0;  // that had begun when it was retired
  };

  std::array<sync::Published<sync::HardwarePolicy, Page>, (PH_AM_MAX_ID + 1) / kPageIds> pages_;
  std::vector<std::unique_ptr<Page>> owned_;
  std::vector<Retired> retired_;  // has room for all that are shown as well
  std::size_t shown_ = 0;
};

}  // namespace photon::service::am
