// In the place of fabric.cpp where the build has found no libfabric.
#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

base::Result<> has_fabric() {
  return base::Error{PH_ERR_CONFIG, 0,
                     "transport ofi: this library was built without libfabric; install "
                     "libfabric-dev (1.17 or later) and build again, or choose another transport"};
}

base::Result<std::unique_ptr<Fabric>> open_fabric(const FabricWants& /*wants*/) {
  return std::move(has_fabric().error());
}

}  // namespace photon::transport::ofi
