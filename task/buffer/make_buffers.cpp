#include "task/buffer/make_buffers.hpp"

#include <vector>

#include "task/buffer/dones.hpp"
#include "task/buffer/issue.hpp"
#include "task/buffer/run_done.hpp"
#include "task/buffer/spread.hpp"
#include "task/buffer/turns.hpp"

namespace photon::task {

namespace {

void take_end(void* user, const ph_u64_completion& end) noexcept {
  Buffers& buffers = *static_cast<Buffers*>(user);
  if (end.kind == PH_LOCAL)
    end_issued(buffers, end);
  else
    pass_on(buffers, end.peer, end.id_size_bytes == sizeof end.id ? end.id : 0);
}

// Operations that wait for a process which is lost. A busy PE asks about one process a look.
bool end_lost(Buffers& buffers, bool is_busy) noexcept {
  return buffers.awaited.look(buffers.pe.machine(), !is_busy,
                              [&](std::uint32_t process, ph_status status) {
                                end_asked_of(buffers, process, status);
                                end_fed_by(buffers, process);
                              });
}

bool look_after(void* user, bool found) noexcept {
  Buffers& buffers = *static_cast<Buffers*>(user);
  bool moved = issue_waiting(buffers);
  if (buffers.awaited.any()) moved |= end_lost(buffers, found || moved);
  buffers.watch();
  return moved;
}

void leave(Pe& pe) noexcept { buffers_of(pe).leave(); }

}  // namespace

std::shared_ptr<void> make_buffers(Crew& crew) {
  Shared& shared = crew.shared();
  auto parts = std::make_shared<std::vector<std::unique_ptr<Buffers>>>();
  parts->reserve(shared.pes);
  for (Pe* pe : shared.all) {
    parts->push_back(std::make_unique<Buffers>(*pe, shared.cache_bytes));
    Buffers& own = *parts->back();
    pe->set_part(Part::buffer, &own);
    Rdma& rdma = pe->machine().rdma();
    rdma.taken = take_end;
    rdma.looked = look_after;
    rdma.user = &own;
  }
  shared.on(Kind::done) = run_done;
  shared.on(Kind::turn) = run_turn;
  shared.on(Kind::spread) = run_offer;
  shared.on_leave[static_cast<std::size_t>(Part::buffer)] = leave;
  return parts;
}

}  // namespace photon::task
