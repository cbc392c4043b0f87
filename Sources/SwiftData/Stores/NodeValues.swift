import CoreData
import Foundation

/// The values of a snapshot as nodes of the engine have them.
struct NodeValues {
    private let bridge: DataStoreBridge
    private let id: NSManagedObjectID
    private let entityName: String

    init(_ bridge: DataStoreBridge, _ id: NSManagedObjectID) {
        self.bridge = bridge
        self.id = id
        entityName = id.entity.name ?? ""
    }

    /// - Throws: ``SwiftDataError/modelValidationFailure`` for a value that is none of its property, by entity and
    ///   property.
    func values(of row: DataStoreRow) throws -> [String: Any] {
        guard let type = bridge.adapter.modelTypes[entityName] else { return [:] }
        var values: [String: Any] = [:]
        for property in ModelLayout.of(type).allProperties {
            let given = row.values[property.name].flatMap(Self.unwrapped)
            switch property.form {
            case .attribute(let form):
                guard let given else { continue }
                do { values[property.name] = try form.encode(given) } catch {
                    throw mistaken(property, given, error)
                }
            case .toOne:
                guard let given else {
                    values[property.name] = NSNull()
                    continue
                }
                guard let identifier = given as? PersistentIdentifier else { throw mistaken(property, given, nil) }
                values[property.name] = objectID(of: identifier) ?? NSNull()
            case .toMany:
                guard let given else {
                    values[property.name] = [NSManagedObjectID]()
                    continue
                }
                guard let identifiers = given as? [PersistentIdentifier] else {
                    throw mistaken(property, given, nil)
                }
                values[property.name] = identifiers.compactMap { objectID(of: $0) as? NSManagedObjectID }
            }
        }
        return values
    }

    private func objectID(of identifier: PersistentIdentifier) -> Any? {
        bridge.persistentStoreCoordinator.flatMap { identifier.objectID(in: $0) }
    }

    private func mistaken(_ property: ModelProperty, _ given: Any, _ cause: (any Error)?) -> SwiftDataError {
        SwiftDataError(
            .modelValidationFailure,
            "A snapshot of \(type(of: bridge.dataStore)) has a \(type(of: given)) for '\(entityName).\(property.name)', "
                + "which is a \(property.valueType).", underlying: cause)
    }

    /// The value itself, of one that is optional; nil for nil.
    private static func unwrapped(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalType else { return value }
        return optional.wrapped.flatMap(unwrapped)
    }

    // MARK: Comparing

    static func areEqual(_ one: [String: Any], _ other: [String: Any]) -> Bool {
        one.count == other.count
            && one.allSatisfy { name, value in other[name].map { areEqual(value, $0) } ?? false }
    }

    /// Values that cannot be compared are different.
    private static func areEqual(_ one: Any, _ other: Any) -> Bool {
        if let one = one as? [String: Any], let other = other as? [String: Any] { return areEqual(one, other) }
        guard let one = one as? AnyHashable, let other = other as? AnyHashable else { return false }
        return one == other
    }
}
