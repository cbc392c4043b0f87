import Foundation

/// A generation of the data in a coordinator's stores: what was committed at one moment.
///
/// A context that is pinned to one reads what was there then, whatever others save meanwhile:
///
///     try view.setQueryGenerationFrom(.current)
///     let items = try view.fetch(request)             // BEGIN; SELECT …: this is the generation from now on
///     // … another process saves a thousand times
///     items[0].unit?.name                             // as it was when the items were fetched
///     try view.setQueryGenerationFrom(.current)       // the next read moves on to what is there now
///     view.refreshAllObjects()                        // and objects that were read show it
///
/// A token keeps its generation, for as long as somebody holds the token or a context is pinned to it. A generation is a connection with an
/// open transaction: a store keeps ``NSPersistentStore/queryGenerationCountOption`` at most, and gives them up
/// when its write-ahead log, which only grows as long as there is one, becomes longer than
/// ``NSPersistentStore/queryGenerationLogSizeOption``. To read from one that was given up is an error (134070), never newer data.
///
/// Differs from Apple: a token is of use in the process that has it and while it keeps the generation; an archive of one leads to
/// the generation where that is so, and is else a token of none.
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

    /// Makes a stand-in, where one is wanted: a token of no generation, which no context can be pinned to.
    public convenience override init() { self.init(identifier: UUID(), nil) }

    convenience init(_ generation: QueryGeneration) { self.init(identifier: generation.identifier, generation) }

    public class var supportsSecureCoding: Bool { true }

    private static let codingKey = "generation"

    /// The token of an archive, `nil` where there is none in it.
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
