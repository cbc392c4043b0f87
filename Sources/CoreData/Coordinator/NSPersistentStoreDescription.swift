import Foundation

/// The settings with which a container or coordinator adds a store.
///
///     let description = NSPersistentStoreDescription(url: url)
///     description.isReadOnly = true
///     description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The store's type; `NSSQLiteStoreType` unless set.
    open var type = NSSQLiteStoreType
    /// The configuration whose entities the store has; `nil` for all.
    open var configuration: String?
    /// The file.
    open var url: URL?
    /// Everything that is set, by option key.
    open var options: [String: NSObject] {
        guard !sqlitePragmas.isEmpty else { return otherOptions }
        var options = otherOptions
        options[NSSQLitePragmasOption] = sqlitePragmas as NSDictionary
        return options
    }
    /// The options with unconverted pragmas, which takes a quarter of the time of making and reading one of
    /// Foundation's dictionaries. If a subclass overrides the options, those.
    final var openingOptions: [AnyHashable: Any] {
        guard Swift.type(of: self) == NSPersistentStoreDescription.self else { return options }
        var opening: [AnyHashable: Any] = [:]
        opening.reserveCapacity(otherOptions.count + 1)
        for (key, value) in otherOptions { opening[key] = value }
        if !sqlitePragmas.isEmpty { opening[NSSQLitePragmasOption] = sqlitePragmas }
        return opening
    }
    private var otherOptions: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]
    /// The cloud container that the store synchronises with, if an ``NSPersistentCloudKitContainer`` loads it; `nil`
    /// for a local store.
    ///
    ///     description.cloudKitContainerOptions = nil          // the container's default store does not synchronise
    open var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions?
    /// Whether the store is added on a queue of its own.
    open var shouldAddStoreAsynchronously = false

    /// A description of an SQLite store at the URL.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// A description of an SQLite store in memory, until a URL is set.
    public override init() {
        url = URL(fileURLWithPath: "/dev/null")
        super.init()
    }

    /// Sets an option; `nil` removes it.
    open func setOption(_ option: NSObject?, forKey key: String) {
        guard key == NSSQLitePragmasOption else { return otherOptions[key] = option }
        // Pragmas are kept as Swift values: making a dictionary of Foundation's for each one costs more than setting
        // it. Values that are no pragmas are kept, too: opening the store reports them.
        let pragmas = option as? [String: NSObject]
        sqlitePragmas = pragmas ?? [:]
        otherOptions[key] = pragmas == nil ? option : nil
    }

    /// Whether the store is not written to; false unless set.
    open var isReadOnly: Bool {
        get { (otherOptions[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// The number of seconds to wait for a store that another client is writing to; 240 by default.
    open var timeout: TimeInterval {
        get { (otherOptions[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// The pragmas for every connection.
    open private(set) var sqlitePragmas: [String: NSObject] = [:]

    /// Sets a pragma; `nil` removes it.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        sqlitePragmas[name] = value
    }

    /// Whether a store of another model version is migrated when it is added; true unless set.
    open var shouldMigrateStoreAutomatically: Bool {
        get { (otherOptions[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether the mapping of a migration is inferred from the two models; true unless set.
    open var shouldInferMappingModelAutomatically: Bool {
        get { (otherOptions[NSInferMappingModelAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.otherOptions = otherOptions
        copy.sqlitePragmas = sqlitePragmas
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.cloudKitContainerOptions = cloudKitContainerOptions
        return copy
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return type == other.type && configuration == other.configuration && url == other.url
            && cloudKitContainerOptions == other.cloudKitContainerOptions && options == other.options
            && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    open override var hash: Int { url.hashValue ^ type.hashValue }

    open override var description: String { "<NSPersistentStoreDescription: \(type) \(url?.path ?? "")>" }
}
