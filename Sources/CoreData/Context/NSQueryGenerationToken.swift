import Foundation

/// A generation of the data in a coordinator's stores: the data committed at one moment.
///
/// A context that is pinned to a generation reads the data of that moment, whatever other writers save meanwhile:
///
///     try view.setQueryGenerationFrom(.current)
///     let items = try view.fetch(request)             // BEGIN; SELECT …: this is the generation from now on
///     // … another process saves a thousand times
///     items[0].unit?.name                             // the value when the items were fetched
///     try view.setQueryGenerationFrom(.current)       // the next read uses the newest data
///     view.refreshAllObjects()                        // and objects that were read show it
///
/// A generation exists as long as a token of it exists or a context is pinned to it. It is a connection with an open
/// transaction: a store keeps at most ``NSPersistentStore/queryGenerationCountOption`` of them. It discards them when
/// its write-ahead log, which cannot shrink meanwhile, becomes longer than
/// ``NSPersistentStore/queryGenerationLogSizeOption``. Reading from a discarded generation is an error (134070), and
/// never returns newer data.
///
/// Differs from Apple: a token is useful only in its process and while it keeps the generation. A decoded token refers
/// to the generation under this condition, otherwise to none.
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Safe because it is set once.

    /// Has a context pin itself to the generation that is the newest when it next reads.
    public class var current: NSQueryGenerationToken { newest }

    private static let newest = NSQueryGenerationToken(identifier: nil, nil)

    /// `nil` for the newest generation.
    let identifier: UUID?
    /// `nil` for the newest one, and for one that an archive names.
    let generation: QueryGeneration?

    private init(identifier: UUID?, _ generation: QueryGeneration?) {
        self.identifier = identifier
        self.generation = generation
    }

    /// Creates a placeholder: a token of no generation, to which no context can be pinned.
    public convenience override init() { self.init(identifier: UUID(), nil) }

    convenience init(_ generation: QueryGeneration) { self.init(identifier: generation.identifier, generation) }

    public class var supportsSecureCoding: Bool { true }

    private static let codingKey = "generation"

    /// Decodes a token; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.codingKey) as String? else { return nil }
        identifier = UUID(uuidString: text)
        generation = nil
        if identifier == nil, !text.isEmpty { return nil }
    }

    open func encode(with coder: NSCoder) {
        coder.encode((identifier?.uuidString ?? "") as NSString, forKey: Self.codingKey)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Tokens of one generation are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSQueryGenerationToken).map { $0.identifier == identifier } ?? false
    }

    open override var hash: Int { identifier.hashValue }

    open override var description: String {
        "<NSQueryGenerationToken: \(identifier?.uuidString ?? "current")>"
    }
}
