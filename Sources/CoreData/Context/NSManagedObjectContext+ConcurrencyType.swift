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
        public let rawValue: NSManagedObjectContextConcurrencyType

        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }
}
