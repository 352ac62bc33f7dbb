// The payload of one message at its target, from its header handler to its last part.
//
//   named -- the payload is here --> the parts are told one after the other --> over
//         -- it is to be read --> straight into the landing, or by way of a ring --> parts --> over
//   any -- the completion handler fails, the sender dies --> told once more, with is_last --> over
//
// Straight: where the landing is one run, or has few long ones and is told of once. Else the parts
// come into a ring of four places, and are copied out while the next ones come: the runs of a type
// may be many and short, and each would be a read of its own.
// Owner: itself, until it is over. Threads: handlers, one at a time.
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interop/mpi/message/am_server.hpp"
#include "interop/mpi/message/circle.hpp"
#include "interop/mpi/type/walk.hpp"

namespace photon::mpi {

class Landing {
 public:
  // A message whose header handler has named a landing.
  struct Message {
    std::shared_ptr<Circle> circle;
    ph_rank source = 0;
    std::uint64_t bytes = 0;
    const std::byte* payload = nullptr;  // null: it is not here
  };
  // Lands the payload, or has the library read it: then `landing` names what to do with it, and
  // the message ends with that. Else how it ends; of a landing that is wrong the completion handler
  // has been told.
  static Fault land(AmServer& server, const Message& message, const MPIX_Am_landing& named,
                    ph_am_landing& landing);

 private:
  static constexpr std::size_t kRingPlaces = 4;
  static constexpr std::size_t kPlaceBytes = 64 << 10;
  static constexpr std::size_t kRunBytes = 4 << 10;  // of a run that is worth a read of its own

  Landing(AmServer& server, const Message& message, const MPIX_Am_landing& named,
          std::shared_ptr<const Layout> layout);
  Fault take();
  void offer(ph_am_landing& landing);

  static ph_status on_part(void* landing, const ph_am_message* message, const ph_am_part* part);
  ph_status came(const ph_am_part& part);
  bool list_blocks();  // false: the runs of the payload are too many, or too short
  void copy_out(const std::byte* from, std::size_t bytes) noexcept;
  bool tell_parts(std::uint64_t landed);
  int tell(std::uint64_t bytes, int error, bool is_last);
  void end(Fault fault);

  AmServer& server_;
  Message message_;
  MPIX_Am_landing named_;
  std::shared_ptr<const Layout> layout_;
  std::byte* place_;  // of the first byte, where the landing is one run; else null
  Cursor next_;       // where the next byte of a ring goes
  std::vector<std::byte> ring_;
  std::vector<ph_block> blocks_;
  std::uint64_t told_ = 0;
  int failure_ = MPI_SUCCESS;  // of the completion handler
};

}  // namespace photon::mpi
