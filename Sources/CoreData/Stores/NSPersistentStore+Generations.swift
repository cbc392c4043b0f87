extension NSPersistentStore {
    /// Option, Int: the maximum number of query generations that a store keeps, each with a connection to the file; 16
    /// by default.
    ///
    /// Contexts that are pinned without a save in between share one. If the maximum is reached, the read that would pin
    /// another one throws 134070. Apple's framework has no such option.
    public static let queryGenerationCountOption = "OpenCoreDataQueryGenerationCount"

    /// Option, Int: the size of the write-ahead log, in bytes, at which query generations are discarded; 268,435,456 by
    /// default.
    ///
    /// As long as a generation is kept, the log only grows, for every writer. Beyond the limit all are discarded,
    /// because the log can be reset only when no reader uses it: at the next save of this process, or within seconds of
    /// a save of another one. Reading from a discarded generation throws 134070, until the context gets another
    /// generation. Apple's framework has no such option.
    public static let queryGenerationLogSizeOption = "OpenCoreDataQueryGenerationLogSize"
}
