// The calls on reductions and quiescence.
#include <new>

#include "converse/collect/collect.hpp"

using photon::converse::Over;

void CmiReduce(void* message, int size, CmiReduceMergeFn merge) {
  photon::converse::reduce_message(__func__, Over::pes, message, size, merge);
}

void CmiNodeReduce(void* message, int size, CmiReduceMergeFn merge) {
  photon::converse::reduce_message(__func__, Over::processes, message, size, merge);
}

void CmiReduceStruct(void* data, CmiReducePupFn pup, CmiReduceMergeFn merge, CmiHandler destination,
                     CmiReduceDeleteFn remove) {
  photon::converse::reduce_structure(__func__, Over::pes, data, {pup, merge, destination, remove});
}

void CmiNodeReduceStruct(void* data, CmiReducePupFn pup, CmiReduceMergeFn merge,
                         CmiHandler destination, CmiReduceDeleteFn remove) {
  photon::converse::reduce_structure(__func__, Over::processes, data,
                                     {pup, merge, destination, remove});
}

void CmiStartQD(CmiQdFn function, void* user) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  try {
    static_cast<photon::converse::Collect*>(pe.parts.collect)->ask_quiescence(function, user);
  } catch (const std::bad_alloc&) {
    photon::converse::refuse(__func__, "no memory for the request");
  }
}
