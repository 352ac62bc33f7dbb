#include "coll_calls.hpp"

namespace photon::perf {

CollOperation::CollOperation(const Job& job, const CollData& data, CollCall call)
    : job_(&job), call_(call), args_(data.args()) {
  job.check(ph_team_world(job.context(), &team_), "asking for the team of all ranks");
  if (call != CollCall::run) args_.request = &request_;
  if (call == CollCall::start)
    job.check(ph_coll_prepare(team_, &args_, &prepared_), "preparing a collective operation");
}

}  // namespace photon::perf
