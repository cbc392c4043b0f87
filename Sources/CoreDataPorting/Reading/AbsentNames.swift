/// Names of Apple's Foundation that do not exist on this platform, because they need Objective-C or a service of
/// Apple's systems.
enum AbsentNames {
    /// The reason why a name does not exist, and the alternative.
    struct Absence {
        var message: String
        var hint: String
    }

    /// Returns the absence of a type, function or constant with the name; `nil` if it exists or is unknown.
    static func absence(of name: String) -> Absence? {
        foundation[name].map { Absence(message: "'\(name)' does not exist here", hint: $0) }
    }

    /// Returns the alternative to a name of a missing module.
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
