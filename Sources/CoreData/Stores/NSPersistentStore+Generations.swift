extension NSPersistentStore {
    /// Option, Int: how many query generations a store keeps at once, each with a connection to the file; 16 without it.
    ///
    /// Contexts that are pinned while nobody saves share one. Where there are as many, the read that would pin another one throws
    /// 134070. Apple's framework has no such option.
    public static let queryGenerationCountOption = "OpenCoreDataQueryGenerationCount"

    /// Option, Int: how many bytes the write-ahead log may have before query generations are given up; 268,435,456 without it.
    ///
    /// As long as one is kept the log only grows, for whoever writes. Beyond the limit all are given up, for it can begin anew only
    /// when nobody reads any of it: at the next save of this process, or within seconds of another one's. To read from one
    /// throws 134070 then, until the context is given another generation. Apple's framework has no such option.
    public static let queryGenerationLogSizeOption = "OpenCoreDataQueryGenerationLogSize"
}
