#include "transport/ofi/fabric_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace photon::transport::ofi {

namespace {

// The version of the functions that take a fi_info as our headers describe it.
const char* info_version() noexcept {
  constexpr auto kHeaders = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  if (kHeaders < FI_VERSION(1, 20)) return "FABRIC_1.3";
  return kHeaders < FI_VERSION(2, 0) ? "FABRIC_1.7" : "FABRIC_1.8";
}

template <class Function>
void find(void* from, const char* name, Function*& function) noexcept {
  void* found = ::dlvsym(from, name, info_version());
  function = reinterpret_cast<Function*>(found != nullptr ? found : ::dlsym(from, name));
}

// The C library of a program that is linked statically lacks what libfabric's providers are loaded
// by: they end the process by a signal. Such a program names no interpreter; the program is the
// first object that is looked at.
bool is_static_program() noexcept {
  const auto names_interpreter = [](dl_phdr_info* program, std::size_t, void*) {
    const std::span headers(program->dlpi_phdr, program->dlpi_phnum);
    return std::ranges::any_of(headers, [](const auto& it) { return it.p_type == PT_INTERP; }) ? 1
                                                                                               : 2;
  };
  return ::dl_iterate_phdr(names_interpreter, nullptr) == 2;
}

}  // namespace

bool Library::is_told(const char* variable) const noexcept {
  fi_param* params = nullptr;
  int count = 0;
  if (getparams(&params, &count) != 0) return false;
  bool is_set = false;
  for (int i = 0; i < count; ++i)
    if (std::strcmp(params[i].name, variable) == 0) is_set = params[i].value != nullptr;
  freeparams(params);
  return is_set;
}

base::Result<Library> load_library() {
  if (is_static_program())
    return base::Error{PH_ERR_CONFIG, 0,
                       "transport ofi: libfabric cannot be loaded by a program that is linked "
                       "statically (-static); link the program dynamically (libphoton.a may stay "
                       "in it), or choose another transport"};
  void* loaded = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (loaded == nullptr) {
    const char* why = ::dlerror();
    return base::Error{PH_ERR_CONFIG, 0,
                       std::string("transport ofi: libfabric cannot be loaded: ") +
                           (why != nullptr ? why : "no reason was given")};
  }
  Library library;
  find(loaded, "fi_getinfo", library.getinfo);
  find(loaded, "fi_freeinfo", library.freeinfo);
  find(loaded, "fi_dupinfo", library.dupinfo);
  find(loaded, "fi_fabric", library.fabric);
  find(loaded, "fi_strerror", library.strerror);
  find(loaded, "fi_getparams", library.getparams);
  find(loaded, "fi_freeparams", library.freeparams);
  if (!library.is_whole())
    return base::Error{PH_ERR_CONFIG, 0, "transport ofi: this libfabric is not 1.17 or later"};
  return library;
}

}  // namespace photon::transport::ofi
