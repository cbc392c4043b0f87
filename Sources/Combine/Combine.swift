// Apple's name for what the package OpenCombine has, so that `import Combine` compiles where Apple's framework is not.
//
// Of Foundation it brings publishers of notifications and timers, and the schedulers of run loops, queues and operation
// queues.
#if OpenCombine
    @_exported import CoreDataCombine
    @_exported import OpenCombine
    @_exported import OpenCombineDispatch
    @_exported import OpenCombineFoundation
#endif
