/// Names that Apple's Foundation has and this platform has not, for want of Objective-C or of a service of Apple's systems.
enum AbsentNames {
    /// Why a name is not there, and what to do instead.
    struct Absence {
        var message: String
        var hint: String
    }

    /// What to say of a type, function or constant of that name; `nil` where it is there, or nobody's.
    static func absence(of name: String) -> Absence? {
        foundation[name].map { Absence(message: "'\(name)' does not exist here", hint: $0) }
    }

    /// What to do in place of a name that a missing module has.
    static func substitute(for name: String, in module: String) -> String? {
        if module == "Combine" {
            return "OpenCoreData's product Combine has it, where its package is asked for with the trait OpenCombine; "
                + "or put its uses in #if canImport(Combine)"
        }
        if AppleModules.swiftDataInterface.contains(name), module == "SwiftUI" {
            return
                "ModelQuery of the module SwiftData replaces it outside of views: ModelQuery(filter:sort:in:) has the "
                + "results of the same fetch, and follows changes"
        }
        return switch name {
        case "NSPersistentCloudKitContainer":
            "use NSPersistentContainer here, its superclass, which opens the same stores without synchronising them"
        case "NSPersistentCloudKitContainerOptions":
            "put what is about CloudKit in #if canImport(CloudKit); the store opens without it"
        case "Logger", "os_log", "OSLog", "OSSignposter":
            "Logger(label:) of the package swift-log, 'import Logging', takes its place here; or put its uses in "
                + "#if canImport(os)"
        default: nil
        }
    }

    // MARK: Foundation

    private static let foundation: [String: String] = {
        let observing =
            "there is key-value observing by key path only, of managed objects, migration managers and progress objects"
        let runtime = "it asks the Objective-C runtime: call methods directly, or put it in #if canImport(ObjectiveC)"
        let service = "put its uses in #if canImport(ObjectiveC)"
        let byReason: [(String, [String])] = [
            (
                observing,
                [
                    "NSKeyValueChangeKey", "NSKeyValueObservingCustomization",
                ]
            ),
            (
                runtime,
                [
                    "NSInvocation", "NSMethodSignature", "NSProxy", "NSException", "NSProtocolFromString",
                    "NSStringFromProtocol", "Protocol", "objc_getAssociatedObject", "objc_setAssociatedObject",
                    "method_exchangeImplementations", "class_getInstanceMethod", "class_getName", "object_getClass",
                    "sel_registerName",
                ]
            ),
            (
                "a dictionary with weak values of your own takes its place",
                ["NSMapTable", "NSHashTable", "NSPointerArray"]
            ),
            (
                service,
                [
                    "NSUserActivity", "NSUbiquitousKeyValueStore", "NSFileCoordinator", "NSFilePresenter",
                    "NSMetadataQuery", "NSItemProvider", "NSXPCConnection", "NSBackgroundActivityScheduler",
                    "DistributedNotificationCenter", "NSLinguisticTagger", "NSDataDetector", "NSFileWrapper",
                    "NSFileVersion", "RelativeDateTimeFormatter", "ListFormatter", "NSErrorPointer",
                    "CFAbsoluteTimeGetCurrent", "NSPurgeableData",
                ]
            ),
        ]
        var reasons: [String: String] = [:]
        for (reason, names) in byReason { for name in names { reasons[name] = reason } }
        return reasons
    }()
}
