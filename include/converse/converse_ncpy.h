/**
 * Zero-copy buffers: a part of converse.h. Memory of the program that other PEs read and write
 * where it is kept. Figures 1 to 3 of Bhat, White and Kalé, and what came of them later, are one
 * class; docs/converse.md, "Zero-copy buffers", has both lives of an object.
 *
 *   the PE of the source                           the PE of the destination
 *   CmiNcpyBuffer source(ptr, size, done) -------> CmiNcpyBuffer destination(ptr, size, done)
 *                          in a message, by value  destination.get(source)
 *   done: the source may change or be freed <----> done: the bytes are there
 *
 * An object is plain data that any copy replaces. What is alive is a buffer of the PE that made the
 * object, which all copies name: it begins with the constructor and ends with deregisterMem(), or
 * by CMK_BUFFER_DEREG when an operation on it is over. No copy learns anything.
 *
 * Order:   each operation has one done at the PE of the source and one at that of the destination,
 *          also for zero bytes, and none of them runs inside a call. Where both are the same PE,
 *          that of the source comes first; between PEs there is no order. An ack of rdmaGet() and
 *          its like runs behind the done of its side.
 * Errors:  end the job with words: a destination that is smaller than its source, one that another
 *          operation lands in, a buffer that was deregistered, or is CMK_BUFFER_NOREG.
 * Threads: what is made by one PE is used and deregistered by it; copies may be read by all.
 */
#ifndef CONVERSE_NCPY_H
#define CONVERSE_NCPY_H

#include "converse.h"
#include "converse_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** When the memory of a buffer is registered; ph_task_buffer_args has the same. */
typedef enum CmiNcpyRegMode {
  CMK_BUFFER_REG = 0,    /**< At once. */
  CMK_BUFFER_UNREG = 1,  /**< When it has to be. */
  CMK_BUFFER_PREREG = 2, /**< It lies in memory of CmiAlloc(); what does not is registered. */
  CMK_BUFFER_NOREG = 3   /**< Never: no operation takes it. */
} CmiNcpyRegMode;

/** When a buffer ends. */
typedef enum CmiNcpyDeregMode {
  CMK_BUFFER_DEREG = 4,  /**< When an operation on it is over, before its done. */
  CMK_BUFFER_NODEREG = 5 /**< By deregisterMem(). */
} CmiNcpyDeregMode;

/** Bytes of what LrtsSetRdmaBufferInfo() fills. */
#define CMK_NOCOPY_DIRECT_BYTES        64
#define CMK_COMMON_NOCOPY_DIRECT_BYTES 0

/** NcpyOperationInfo: which sides have an ack; in an ack which side this is. */
typedef enum ncpyAckMode { CMK_SRC_DEST_ACK = 0, CMK_SRC_ACK = 1, CMK_DEST_ACK = 2 } ncpyAckMode;
typedef enum ncpyOperationMode { CMK_DIRECT_API = 0, CMK_DIRECT_API_REVERSE = 1 } ncpyOperationMode;
/** Whether the one who has had the ack frees the NcpyOperationInfo. */
typedef enum ncpyFreeNcpyOpInfoMode {
  CMK_FREE_NCPYOPINFO = 0,
  CMK_DONT_FREE_NCPYOPINFO = 1
} ncpyFreeNcpyOpInfoMode;

/** An operation: both sides of it. */
typedef struct NcpyOperationInfo {
  const void* srcPtr;
  char* srcLayerInfo; /**< What LrtsSetRdmaBufferInfo() filled there. */
  char* srcAck;       /**< Bytes that reach the PE of the source with its ack. */
  const void* srcRef;
  size_t srcSize;
  int srcPe;
  int srcLayerSize;
  int srcAckSize;
  unsigned short srcRegMode;
  unsigned short srcDeregMode;
  const void* destPtr;
  char* destLayerInfo;
  char* destAck;
  const void* destRef;
  size_t destSize;
  int destPe;
  int destLayerSize;
  int destAckSize;
  unsigned short destRegMode;
  unsigned short destDeregMode;
  unsigned char isSrcRegistered;
  unsigned char isDestRegistered;
  short opMode;
  short freeMe;
  short ackMode;
  int ncpyOpInfoSize; /**< Of all of it, where the library has made it. */
  int rootNode;       /**< -1 */
  void* refPtr;       /**< The program's; null in what came from another PE. */
} NcpyOperationInfo;

/**
 * The body of a done-message, behind the header of Converse.
 * A handler that is named by its index owns it. A function has it for the call: it may free it,
 * send it with a call that frees it, or enqueue it, and else it is freed behind the call.
 */
typedef struct CmiNcpyDone {
  char header[CmiMsgHeaderSizeBytes];
  const void* ptr; /**< Of the own side. */
  size_t size;     /**< Bytes that were moved. */
  int pe;          /**< That of the other side. */
  int isSource;    /**< 1: the own side is the source. */
} CmiNcpyDone;

/** Gets the NcpyOperationInfo of an operation that is over at its side. */
typedef void (*CmiNcpyAckFn)(void* info);
/**
 * Who gets the acks of rdmaGet(), rdmaPut(), LrtsIssueRget() and LrtsIssueRput(); one of the
 * process. Set it before the first of them.
 */
CMI_API void CmiSetDirectNcpyAckHandler(CmiNcpyAckFn handler);

/** Make memory of this PE reachable; `info` has room for CMK_NOCOPY_DIRECT_BYTES. */
CMI_API void LrtsSetRdmaBufferInfo(void* info, const void* ptr, int size, int mode);
/** End that, on the PE that made it. */
CMI_API void LrtsDeregisterMem(const void* ptr, void* info, int pe, int mode);
/**
 * Read the source, on the PE of the destination; write the destination, on the PE of the source.
 * Needs the LayerInfo of both sides, and has all else for the acks.
 * Ownership: the library has *info until the ack of the own side, which gets it back. Where
 *            ackMode names the other side alone, CMK_FREE_NCPYOPINFO has it freed by CmiFree().
 *            The other side gets a copy, as it gets done-messages of functions.
 *            The ack finds its side in ackMode: who issues *info again sets ackMode again.
 */
CMI_API void LrtsIssueRget(NcpyOperationInfo* info);
CMI_API void LrtsIssueRput(NcpyOperationInfo* info);

#ifdef __cplusplus
}

#include <type_traits>

/** The way between two PEs. CMA is a part of RDMA here: the library takes what the host has. */
enum class CmiNcpyMode : char { MEMCPY, CMA, RDMA };
enum class CmiNcpyStatus : char { incomplete, complete };

class CMI_API CmiNcpyBuffer {
 public:
  const void* ptr = nullptr;
  size_t cnt = 0;
  int pe = -1; /**< That made it. */
  unsigned short regMode = CMK_BUFFER_REG;
  unsigned short deregMode = CMK_BUFFER_DEREG;
  bool isRegistered = false; /**< As this copy knows; no call goes by it. */
  alignas(8) char layerInfo[CMK_NOCOPY_DIRECT_BYTES] = {};
  const void* ref = nullptr;
  void* refAckInfo = nullptr;

  CmiNcpyBuffer() = default;
  CmiNcpyBuffer(const void* address, size_t size) { init(address, size); }
  CmiNcpyBuffer(const void* address, size_t size, unsigned short registration,
                unsigned short deregistration) {
    init(address, size, registration, deregistration);
  }
  /**
   * The third argument by its type: a mode of registration (CmiNcpyRegMode, or an unsigned short,
   * as newer programs keep it) or of deregistration. Else who gets the dones, with CMK_BUFFER_REG
   * and CMK_BUFFER_NODEREG: a function of one pointer, a handler's index of any other integer type,
   * or nullptr for nobody.
   */
  template <class Third>
  CmiNcpyBuffer(const void* address, size_t size, Third third) {
    static_assert(!std::is_same_v<Third, bool>,
                  "CmiNcpyBuffer: the third argument is a function, a handler or a mode");
    if constexpr (std::is_same_v<Third, CmiNcpyRegMode> || std::is_same_v<Third, unsigned short>)
      init(address, size, third);
    else if constexpr (std::is_same_v<Third, CmiNcpyDeregMode>)
      init(address, size, CMK_BUFFER_REG, third);
    else if constexpr (std::is_null_pointer_v<Third>)
      initDone(address, size, nullptr, -1);
    else if constexpr (std::is_integral_v<Third> || std::is_enum_v<Third>)
      initHandler(address, size, static_cast<long long>(third));
    else
      initDone(address, size, functionOf(+third), -1);
  }

  /** What the constructors do. The object names a new buffer, and the old one is as it was. */
  void init(const void* address, size_t size, unsigned short registration = CMK_BUFFER_REG,
            unsigned short deregistration = CMK_BUFFER_DEREG);
  void setRef(const void* value) { ref = value; }
  const void* getRef() const { return ref; }
  /** The buffer begins anew with this mode of registration. */
  void setMode(unsigned short registration);
  unsigned short getMode() const { return regMode; }

  /** Register it, if it is not; one that has ended begins anew, and its older copies are stale. */
  void registerMem();
  /** End the buffer. The object, and each copy, may do so again without effect. */
  void deregisterMem();

  /** Read all of the source; write all of it into the destination. The dones say when. */
  void get(const CmiNcpyBuffer& source);
  void put(const CmiNcpyBuffer& destination);

  /** Copies within the process, over on return, without a done and without an ack. */
  void memcpyGet(const CmiNcpyBuffer& source);
  void memcpyPut(const CmiNcpyBuffer& destination);
  /**
   * The same. Between processes they end the job with words: findTransferMode() never asks for
   * them, since rdmaGet() and rdmaPut() take the kernel's copy by themselves where there is one.
   */
  void cmaGet(const CmiNcpyBuffer& source);
  void cmaPut(const CmiNcpyBuffer& destination);
  /** get() and put() whose sides have acks as well, each with its own `ackSize` bytes. */
  void rdmaGet(const CmiNcpyBuffer& source, int ackSize, const char* srcAck, const char* destAck);
  void rdmaPut(const CmiNcpyBuffer& destination, int ackSize, const char* srcAck,
               const char* destAck);

  /* The paper's figure 2 takes an object for a pointer to it. It is no condition. */
  operator CmiNcpyBuffer*() noexcept { return this; }
  explicit operator bool() = delete;

 private:
  CmiHandler function_ = nullptr;
  int handler_ = -1;

  template <class Result, class Argument>
  static CmiHandler functionOf(Result (*function)(Argument*)) {
    return reinterpret_cast<CmiHandler>(reinterpret_cast<void (*)()>(function));
  }
  void initHandler(const void* address, size_t size, long long handler);
  void initDone(const void* address, size_t size, CmiHandler function, int handler);
  void begin(const char* call);
  void* used(const char* call, void* pe);
};

static_assert(std::is_trivially_copyable_v<CmiNcpyBuffer>);

inline CmiNcpyMode findTransferModeWithNodes(int node, int other) {
  return node == other ? CmiNcpyMode::MEMCPY : CmiNcpyMode::RDMA;
}
inline CmiNcpyMode findTransferMode(int pe, int other) {
  return findTransferModeWithNodes(CmiNodeOf(pe), CmiNodeOf(other));
}
inline CmiNcpyMode findTransferMode(int pe) { return findTransferMode(CmiMyPe(), pe); }

#endif
#endif
