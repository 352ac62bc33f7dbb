# The layers of photon_task, lowest first (docs/tasks.md, "Files"). Of src/ they have the atomics
# alone. Read by the build and by the check alone.
photon_layer(task/pool  OUTSIDE LIBRARY task USES sync)
photon_layer(task/queue OUTSIDE LIBRARY task USES task/pool sync)
photon_layer(task/machine OUTSIDE LIBRARY task USES task/pool)
photon_layer(task/run   OUTSIDE LIBRARY task USES task/pool task/queue task/machine sync)
# Threads, reductions and buffers have layers of their own, above task/run, beside each other.
photon_layer(task/thread OUTSIDE LIBRARY task
  USES task/pool task/queue task/machine task/run sync)
photon_layer(task/collect OUTSIDE LIBRARY task USES task/pool task/queue task/machine task/run sync)
photon_layer(task/buffer OUTSIDE LIBRARY task USES task/pool task/machine task/run sync)
photon_layer(task/start OUTSIDE LIBRARY task
  USES task/pool task/queue task/machine task/run task/thread task/collect task/buffer sync)
photon_layer(task/api   OUTSIDE LIBRARY task
  USES task/pool task/queue task/machine task/run task/thread task/collect task/buffer task/start
  sync)
