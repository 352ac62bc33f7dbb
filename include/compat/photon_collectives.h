/**
 * Kinds, operations and types of the classic collectives.
 */
#ifndef PHOTON_COMPAT_PHOTON_COLLECTIVES_H
#define PHOTON_COMPAT_PHOTON_COLLECTIVES_H

#include "photon_attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_BARRIER = 1,
  PHOTON_COLL_REDUCE,
  PHOTON_COLL_ALLREDUCE,
  PHOTON_COLL_SCAN,
  PHOTON_COLL_IBARRIER,
  PHOTON_COLL_IALLREDUCE,
  PHOTON_COLL_ISCAN,
  PHOTON_COLL_MAXVAL
} photon_coll;

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_OP_SUM = 1,
  PHOTON_COLL_OP_MIN,
  PHOTON_COLL_OP_MAX,
  PHOTON_COLL_OP_PROD,
  PHOTON_COLL_TYPE
} photon_coll_op;

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_ALGO_RING = 1,
  PHOTON_COLL_ALGO_TREE,
  PHOTON_COLL_ALGO_REC_DOUBLING
} photon_coll_algo;

/*
 * By these libphoton chose an algorithm; nothing here reads them. Known of them are the prefixes
 * PHOTON_COLL_NODE_, PHOTON_COLL_MSG_ and PHOTON_COLL_DATA_: the rest of their names is ours.
 */
typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_NODE_ROOT = 1,
  PHOTON_COLL_NODE_INNER,
  PHOTON_COLL_NODE_LEAF
} photon_coll_node;

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_MSG_SMALL = 1,
  PHOTON_COLL_MSG_LARGE
} photon_coll_msg;

typedef enum PHOTON_ENUM_OF_INT { PHOTON_COLL_DATA_IN = 1, PHOTON_COLL_DATA_OUT } photon_coll_data;

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_INT8 = 0,
  PHOTON_UINT8,
  PHOTON_INT16,
  PHOTON_UINT16,
  PHOTON_INT32,
  PHOTON_UINT32,
  PHOTON_INT64,
  PHOTON_UINT64,
  PHOTON_FLOAT,
  PHOTON_DOUBLE,
  PHOTON_FLOAT_COMPLEX,
  PHOTON_DOUBLE_COMPLEX,
  PHOTON_LONG_DOUBLE,
  PHOTON_LONG_DOUBLE_COMPLEX,
  PHOTON_DATATYPE_LAST
} photon_datatype;

/**
 * What photon_collective_run() is told: the buffers, elements and operation that
 * photon_collective_join() takes one by one. Of a barrier nothing is read, and it may be null.
 */
typedef struct photon_coll_parameters {
  void *sendbuf;
  void *recvbuf;
  int count;
  photon_datatype datatype;
  int op; /**< A photon_coll_op. */
} photon_coll_parameters;

/** A communicator made by photon_collective_comm_create(). */
typedef void *photon_coll_comm;

#ifdef __cplusplus
}
#endif
#endif
