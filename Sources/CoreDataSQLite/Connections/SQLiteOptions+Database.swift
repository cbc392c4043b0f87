import CoreDataSQL

extension SQLiteOptions {
    /// Converts the driver-independent options.
    package init(_ options: DatabaseOptions) {
        self.init(options.path.map(Location.file(path:)) ?? .memory)
        isReadOnly = options.isReadOnly
        leavesNothing = options.leavesNothing
        isLookedAtFirst = options.isLookedAtFirst
        keepsJournal = options.keepsJournal
        createsFile = options.createsFile
        pragmas = options.pragmas
        clock = options.clock
        if let busyTimeout = options.busyTimeout { self.busyTimeout = busyTimeout }
        if let readerCount = options.readerCount { self.readerCount = readerCount }
        if let stateCount = options.stateCount { self.stateCount = stateCount }
        if let stateLogByteCount = options.stateLogByteCount { self.stateLogByteCount = stateLogByteCount }
    }
}
