import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// The positions of the histories of some stores: later transactions are after the token.
///
/// Keep one across launches by archiving it:
///
///     let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
///     let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
///
/// Tokens are equal if they name the same positions of the same stores.
///
/// Differs from Apple: archives of tokens cannot be exchanged with Apple's platforms.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Safe because it is set once.

    /// The number of the last transaction, by the store's UUID.
    package let positions: [String: Int64]

    package init(_ positions: [String: Int64]) { self.positions = positions }

    /// Makes a token of the beginning: it names no store.
    public convenience override init() { self.init([:]) }

    public class var supportsSecureCoding: Bool { true }

    private static let codingKey = "positions"

    /// Decodes a token; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.codingKey) as String? else { return nil }
        var positions: [String: Int64] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 2, let number = Int64(fields[1]), number >= 0 else { return nil }
            positions[String(fields[0])] = number
        }
        self.positions = positions
    }

    open func encode(with coder: NSCoder) {
        let lines = positions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        coder.encode(lines.joined(separator: "\n") as NSString, forKey: Self.codingKey)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken).map { $0 === self || $0.positions == positions } ?? false
    }

    open override var hash: Int { positions.hashValue }

    open override var description: String {
        let texts = positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<NSPersistentHistoryToken: \(texts.joined(separator: ", "))>"
    }
}

extension NSPersistentHistoryToken: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        guard key == "self" else {
            throw PredicateFailure(.evaluation, Diagnostic(.error, "a history token has no key '\(key)'"))
        }
        return .object(self)
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool { isEqual(other) }
    package var predicateHash: Int { hash }
    package var predicateDescription: String { description }
    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
