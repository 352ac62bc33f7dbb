// The kernel copies from one process to the other, called by the sender or by the receiver.
#include "failure.hpp"
#include "means.hpp"

namespace photon::perf {
void add_kernel_copies(std::vector<Means>& all) {
  Means write;
  write.name = write.family = "process_vm_writev";
  write.send = [](Channel& channel, std::uint64_t number) {
    if (!cma_write(channel.buffers(), channel.slot_of(number)))
      throw Failure("process_vm_writev stopped working");
    raise_flag(channel, number);
  };
  write.await = await_flag;
  all.push_back(std::move(write));

  Means read;
  read.name = read.family = "process_vm_readv";
  read.send = raise_flag;
  read.await = await_flag;
  read.fetch = [](Channel& channel, std::uint64_t number) {
    if (!cma_read(channel.buffers(), channel.slot_of(number)))
      throw Failure("process_vm_readv stopped working");
  };
  read.is_fetched = true;
  all.push_back(std::move(read));
}

}  // namespace photon::perf
