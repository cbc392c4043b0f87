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
    /// The managed object ID of an identifier; `nil` where no store of the container has it.
    var objectID: (PersistentIdentifier) -> NSManagedObjectID? = { _ in nil }

    /// - Throws: `SwiftDataError.unsupportedPredicate` that names the part which a store cannot evaluate.
    func node<T: PersistentModel>(_ predicate: Predicate<T>) throws -> PredicateNode {
        let conversion = SwiftPredicateConversion(
            name: { Self.name(of: $0) }, constant: { constant($0) }, entities: { entityNames(of: $0, $1) })
        do {
            let node = try conversion.node(predicate)
            return PathResolver(root: T.self).resolved(node)
        } catch {
            throw SwiftDataError(.unsupportedPredicate, 
                "#Predicate<\(T.self)>: \((error as? SwiftPredicateConversion.Failure)?.reason ?? "\(error)")")
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
        return KeyPathNames.printedName(of: keyPath)
    }

    private static func unwrapped(_ type: Any.Type) -> Any.Type {
        (type as? any WrappingType.Type)?.wrappedType ?? type
    }

    private static func isRawValue(_ keyPath: AnyKeyPath, _ root: Any.Type) -> Bool {
        func matches<R: RawRepresentable>(_ type: R.Type) -> Bool { keyPath == \R.rawValue }
        guard let type = root as? any RawRepresentable.Type else { return false }
        return matches(type)
    }

    // MARK: Constants

    private func constant(_ value: Any?) -> Constant {
        guard let value, let unwrapped = Self.content(of: value) else { return .value(.null) }
        switch unwrapped {
        case let id as PersistentIdentifier:
            return objectID(id).map { OperandBridging.constant($0) } ?? .key(nil)
        case let model as any PersistentModel:
            guard let object = managedObject(of: model) else { return .key(nil) }
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
        guard let optional = value as? any WrappingType else { return value }
        return optional.wrapped.flatMap(content)
    }

    // MARK: Classes

    private func entityNames(of type: Any.Type, _ isBelow: (Any.Type) -> Bool) -> [String]? {
        guard type is any PersistentModel.Type else { return nil }
        return types.filter { isBelow($0.value) }.map(\.key)
    }
}

/// Optional, whatever it wraps.
protocol WrappingType {
    static var wrappedType: Any.Type { get }
    var wrapped: Any? { get }
}

extension Optional: WrappingType {
    static var wrappedType: Any.Type { Wrapped.self }
    var wrapped: Any? { self }
}

/// A set, whatever its members are.
private protocol MemberSet {
    var members: [Any] { get }
}

extension Set: MemberSet {
    fileprivate var members: [Any] { Array(self) }
}
