#include "transport/ofi/ofi_shown_memory.hpp"

#include <sys/mman.h>

#include <string>

namespace photon::transport::ofi {

base::Result<ShownMemory> ShownMemory::make(Fabric& fabric, std::size_t size_bytes,
                                            const char* purpose) {
  void* memory = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    base::Error error = base::system_error(std::string("ofi: memory ") + purpose);
    error.status = PH_ERR_MEMORY;
    return error;
  }
  ShownMemory made;
  made.fabric_ = &fabric;
  made.all_.bytes = {static_cast<std::byte*>(memory), size_bytes};
  auto shown = fabric.show(made.all_.bytes, Fabric::Use::messages);
  if (!shown) return std::move(shown.error());
  made.all_.handle = *shown;
  return made;
}

ShownMemory::~ShownMemory() {
  if (all_.bytes.empty()) return;
  if (all_.handle != 0) fabric_->hide(all_.handle);
  ::munmap(all_.bytes.data(), all_.bytes.size());
}

}  // namespace photon::transport::ofi
