import CoreData
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Turns Swift predicates over model classes into trees of the predicate language.
///
///     #Predicate<Trip> { $0.mood == .calm && $0.address.city == "Oslo" }
///     // mood.mood == "calm" AND address.city == "Oslo"
struct PredicateCompiler {
    /// Entity names and their classes, for casts to subclasses.
    var types: [String: any PersistentModel.Type] = [:]
    /// Returns the managed object ID of an identifier; `nil` if no store of the container has it.
    var objectID: (PersistentIdentifier) -> NSManagedObjectID? = { _ in nil }

    /// - Throws: `SwiftDataError.unsupportedPredicate` that names the part which a store cannot evaluate.
    func node<T: PersistentModel>(_ predicate: Predicate<T>) throws -> PredicateNode {
        let conversion = SwiftPredicateConversion(
            name: { Self.name(of: $0) }, constant: { constant($0) }, entities: { entityNames(of: $0, $1) })
        do {
            let node = try conversion.node(predicate)
            return PathResolver(root: T.self).resolved(node)
        } catch {
            throw SwiftDataError(
                .unsupportedPredicate,
                "#Predicate<\(T.self)>: \(error.reason)")
        }
    }

    // MARK: Names

    /// The key of a property of a model class or of a stored property of a value type, and of the identifier.
    static func name(of keyPath: AnyKeyPath) -> String? {
        let root = type(of: keyPath).rootType
        if let model = (unwrapped(root) as? any PersistentModel.Type) {
            if let name = ModelLayout.of(model).name(of: keyPath) { return name }
            return unwrapped(type(of: keyPath).valueType) is PersistentIdentifier.Type ? "objectID" : nil
        }
        if isRawValue(keyPath, unwrapped(root)) { return PathResolver.rawValue }
        return CoreData.KeyPathNames.printedName(of: keyPath)
    }

    private static func unwrapped(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalType.Type)?.wrappedType ?? type
    }

    /// Whether a key path of an enumeration is that to its raw value: tried on two of its values. A key path of a
    /// concrete type is not equal to the protocol's.
    private static func isRawValue(_ keyPath: AnyKeyPath, _ root: Any.Type) -> Bool {
        guard root is any RawRepresentable.Type,
            let form = try? AttributeForm(of: root, at: AttributeForm.Place(name: "")), !form.samples.isEmpty
        else { return false }
        return form.samples.allSatisfy { sample in
            guard let value = sample as? any RawRepresentable, let found = sample[keyPath: keyPath] else {
                return false
            }
            return String(reflecting: found) == String(reflecting: value.rawValue)
        }
    }

    // MARK: Constants

    private func constant(_ value: Any?) -> Constant {
        guard let value, let unwrapped = Self.content(of: value) else { return .value(.null) }
        switch unwrapped {
        case let id as PersistentIdentifier:
            return objectID(id).map { OperandBridging.constant($0) } ?? .key(nil)
        case let model as any PersistentModel:
            guard let object = model.modelObject else { return .key(nil) }
            return OperandBridging.constant(object)
        case let members as [Any]:
            return .collection(members.map(constant), isOrdered: true)
        case let members as any MemberSet:
            return .collection(members.members.map(constant), isOrdered: false)
        default:
            let plain = OperandBridging.constant(unwrapped)
            guard case .value(.opaque) = plain else { return plain }
            return ComposedConstant.constant(unwrapped) { constant($0) } ?? plain
        }
    }

    private static func content(of value: Any) -> Any? {
        guard let optional = value as? any OptionalType else { return value }
        return optional.wrapped.flatMap(content)
    }

    // MARK: Classes

    private func entityNames(of type: Any.Type, _ isBelow: (Any.Type) -> Bool) -> [String]? {
        guard type is any PersistentModel.Type else { return nil }
        return types.filter { isBelow($0.value) }.map(\.key)
    }
}

/// A set, whatever its members are.
private protocol MemberSet {
    var members: [Any] { get }
}

extension Set: MemberSet {
    fileprivate var members: [Any] { Array(self) }
}
