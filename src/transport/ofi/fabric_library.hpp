// Getting at libfabric without linking it. Included by what is built with libfabric's headers only.
// Owner: none (values).
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <signal.h>

#include "base/result.hpp"

namespace photon::transport::ofi {

// The library itself is loaded when the transport is asked for: some of its providers put handlers
// of their own in the place of the application's (psm3: for SIGTERM, SIGABRT and others) as soon as
// it is there, and that is no business of a job that uses none of it. It stays loaded: what
// providers leave behind may still run. Everything but these functions goes through its tables.
struct Library {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_getparams) getparams = nullptr;
  decltype(&::fi_freeparams) freeparams = nullptr;

  bool is_whole() const noexcept {
    return getinfo != nullptr && freeinfo != nullptr && dupinfo != nullptr && fabric != nullptr &&
           strerror != nullptr && getparams != nullptr && freeparams != nullptr;
  }
  // Whether the environment sets this variable of libfabric's.
  bool is_told(const char* variable) const noexcept;
};

// PH_ERR_CONFIG: there is none here, or one that is too old.
base::Result<Library> load_library();

// What the application wants done at signals is as it was when this ends.
class KeptSignals {
 public:
  KeptSignals() noexcept {
    for (int number = 1; number < kCount; ++number)
      is_known_[number] = ::sigaction(number, nullptr, &before_[number]) == 0;
  }
  ~KeptSignals() {
    for (int number = 1; number < kCount; ++number)
      if (is_known_[number]) ::sigaction(number, &before_[number], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr int kCount = 32;
  struct sigaction before_[kCount] = {};
  bool is_known_[kCount] = {};
};

}  // namespace photon::transport::ofi
