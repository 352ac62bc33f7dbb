// What pulls owe their sources, said by the answers of the service. It cannot be put off, so a
// source that cannot be told for want of memory is cut off, and its offers end. Owner: Am, under
// the lane's lock.
#pragma once

#include "service/am/am_answers.hpp"
#include "service/am/am_pulls.hpp"

namespace photon::service::am {

class PullAnswers final : public PullEnds {
 public:
  PullAnswers(Port& port, Answers& answers) noexcept : port_(port), answers_(answers) {}

  void pull_read(const Pull& pull) noexcept override;
  void pull_over(const Pull& pull) noexcept override;

 private:
  Port& port_;
  Answers& answers_;
};

}  // namespace photon::service::am
