/// How a context is confined.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// To whatever thread its user chooses; nothing is checked. Deprecated on Apple's platforms.
    case confinementConcurrencyType = 0
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
    /// The type of a context, as an overlay of its raw type.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The type in the long spelling.
        public let rawValue: NSManagedObjectContextConcurrencyType

        /// The short spelling of a type.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

        /// The context has a private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The context works on the main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// Makes a context without a coordinator.
    public nonisolated convenience init(_ type: ConcurrencyType) {
        self.init(concurrencyType: type.rawValue)
    }
}
