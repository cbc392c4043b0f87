/// The names of Foundation and Core Data, and the modules that provide them here.
enum FoundationModules {
    /// Names that Foundation has on Apple's platforms and that separate modules have here, by module.
    static let parts: [(module: String, names: Set<String>)] = [
        ("FoundationNetworking", networking), ("FoundationXML", xml),
    ]

    /// Returns the module that provides a name here instead of Foundation.
    static func part(with name: String) -> String? { parts.first { $0.names.contains(name) }?.module }

    static func isPart(_ module: String) -> Bool { parts.contains { $0.module == module } }

    private static let networking: Set<String> = [
        "CachedURLResponse", "HTTPCookie", "HTTPCookiePropertyKey", "HTTPCookieStorage", "HTTPURLResponse",
        "NSMutableURLRequest", "NSURLRequest", "URLAuthenticationChallenge", "URLAuthenticationChallengeSender",
        "URLCache", "URLCredential", "URLCredentialStorage", "URLProtectionSpace", "URLProtocol", "URLProtocolClient",
        "URLRequest", "URLResponse", "URLSession", "URLSessionConfiguration", "URLSessionDataDelegate",
        "URLSessionDataTask", "URLSessionDelegate", "URLSessionDownloadDelegate", "URLSessionDownloadTask",
        "URLSessionStreamDelegate", "URLSessionStreamTask", "URLSessionTask", "URLSessionTaskDelegate",
        "URLSessionTaskMetrics", "URLSessionTaskTransactionMetrics", "URLSessionUploadTask",
        "URLSessionWebSocketDelegate", "URLSessionWebSocketTask",
    ]

    private static let xml: Set<String> = [
        "XMLDTD", "XMLDTDNode", "XMLDocument", "XMLElement", "XMLNode", "XMLParser", "XMLParserDelegate",
    ]

    /// Returns whether `CoreData` provides the name here: Core Data's own names, and its additions to Foundation.
    static func isOfCoreData(_ name: String) -> Bool {
        completed.contains(name) || coreData.contains(name) || coreDataPrefixes.contains(where: name.hasPrefix)
    }

    private static let completed: Set<String> = [
        "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSFastEnumeration", "NSPredicate",
        "NSKeyValueChange", "NSKeyValueObservation", "NSKeyValueObservedChange", "NSKeyValueObservingOptions",
        "NSKeyValueSetMutationKind", "NSSecureUnarchiveFromDataTransformer", "NSSelectorFromString",
        "NSSortDescriptor", "NSStringFromSelector", "NSValueTransformerName", "Selector", "UndoManager",
        "ValueTransformer", "autoreleasepool",
    ]

    private static let coreDataPrefixes = [
        "NSManagedObject", "NSPersistentContainer", "NSPersistentHistory", "NSPersistentStore", "NSFetchRequest",
        "NSFetchedResults", "NSFetchedProperty", "NSFetchIndex", "NSAsynchronousFetch", "NSBatchDelete",
        "NSBatchInsert", "NSBatchUpdate", "NSCoreData",
    ]

    private static let coreData: Set<String> = [
        "NSAtomicStore", "NSAtomicStoreCacheNode", "NSAttributeDescription", "NSAttributeType",
        "NSCompositeAttributeDescription", "NSConstraintConflict", "NSDeleteRule", "NSDeletedObjectsKey",
        "NSDerivedAttributeDescription", "NSEntityDescription", "NSEntityMapping", "NSEntityMigrationPolicy",
        "NSErrorMergePolicy", "NSExpressionDescription", "NSInMemoryStoreType", "NSIncrementalStore",
        "NSInferMappingModelAutomaticallyOption", "NSInsertedObjectsKey", "NSMappingModel",
        "NSMergeByPropertyObjectTrumpMergePolicy", "NSMergeByPropertyStoreTrumpMergePolicy", "NSMergeConflict",
        "NSMergePolicy", "NSMigratePersistentStoresAutomaticallyOption", "NSMigrationManager",
        "NSOverwriteMergePolicy", "NSPropertyDescription", "NSPropertyMapping", "NSQueryGenerationToken",
        "NSRefreshedObjectsKey", "NSRelationshipDescription", "NSRollbackMergePolicy", "NSSQLiteStoreType",
        "NSSaveChangesRequest", "NSUpdatedObjectsKey",
    ]

    /// Returns whether another module provides a name of Apple's Foundation here, so that `Foundation.Name` does not
    /// compile.
    static func isElsewhere(_ name: String) -> Bool { supplied.contains(name) || part(with: name) != nil }

    private static let supplied: Set<String> = [
        "NSFastEnumeration", "NSKeyValueChange", "NSKeyValueObservation", "NSKeyValueObservedChange",
        "NSKeyValueObservingOptions", "NSKeyValueSetMutationKind", "NSSecureUnarchiveFromDataTransformer",
        "NSSelectorFromString", "NSStringFromSelector", "NSValueTransformerName", "Selector", "UndoManager",
        "ValueTransformer",
    ]

    /// Returns whether Foundation has the name: the common ones, for sources that get Foundation from a bridging
    /// header.
    static func isOfFoundation(_ name: String) -> Bool { foundation.contains(name) }

    private static let foundation: Set<String> = [
        "AttributedString", "Bundle", "ByteCountFormatter", "CGFloat", "CGPoint", "CGRect", "CGSize", "Calendar",
        "CharacterSet", "CocoaError", "Data", "Date", "DateComponents", "DateFormatter", "DateInterval", "Decimal",
        "DispatchGroup", "DispatchQueue", "DispatchSemaphore", "FileHandle", "FileManager", "Formatter",
        "ISO8601DateFormatter", "IndexPath", "IndexSet", "JSONDecoder", "JSONEncoder", "JSONSerialization", "Locale",
        "LocalizedError", "Measurement", "NSArray", "NSAttributedString", "NSCache", "NSClassFromString", "NSCoder",
        "NSCoding", "NSCopying", "NSData", "NSDate", "NSDecimalNumber", "NSDictionary", "NSError", "NSKeyedArchiver",
        "NSKeyedUnarchiver", "NSLocalizedString", "NSLock", "NSLog", "NSMutableArray", "NSMutableDictionary",
        "NSMutableOrderedSet", "NSMutableSet", "NSNotification", "NSNull", "NSNumber", "NSObject", "NSObjectProtocol",
        "NSOrderedSet", "NSRange", "NSRecursiveLock", "NSRegularExpression", "NSSecureCoding", "NSSet", "NSString",
        "NSStringFromClass", "NSURL", "NSUUID", "NSValue", "Notification", "NotificationCenter", "NumberFormatter",
        "Operation", "OperationQueue", "PersonNameComponents", "Process", "ProcessInfo", "Progress",
        "PropertyListDecoder", "PropertyListEncoder", "PropertyListSerialization", "RunLoop", "Scanner", "Thread",
        "TimeInterval", "TimeZone", "Timer", "URL", "URLComponents", "URLError", "URLQueryItem", "UUID", "UnitLength",
        "UserDefaults",
    ]
}
