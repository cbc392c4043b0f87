import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Entities and properties in predicates: `entity == %@`, `entity.name`, `$FETCHED_PROPERTY.userInfo.key`.

extension NSEntityDescription: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        switch key {
        case "self": .object(self)
        case "name": OperandBridging.operand(from: name)
        case "managedObjectClassName": OperandBridging.operand(from: managedObjectClassName)
        case "renamingIdentifier": OperandBridging.operand(from: renamingIdentifier)
        case "isAbstract", "abstract": .value(.integer(isAbstract ? 1 : 0))
        case "superentity": superentity.map { .object($0) } ?? .null
        case "userInfo": OperandBridging.operand(from: userInfo)
        default: throw unknownKey(key, of: "entity '\(name ?? "")'")
        }
    }

    /// Entities are equal if their names are: those of equal models are.
    package func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        (other as? NSEntityDescription).map { $0 === self || $0.name == name } ?? false
    }

    package var predicateHash: Int { name.hashValue }

    package var predicateDescription: String { name ?? "" }

    package var predicateName: String? { name }

    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}

extension NSPropertyDescription: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        switch key {
        case "self": .object(self)
        case "name": .value(.string(name))
        case "renamingIdentifier": OperandBridging.operand(from: renamingIdentifier)
        case "isOptional", "optional": .value(.integer(isOptional ? 1 : 0))
        case "isTransient", "transient": .value(.integer(isTransient ? 1 : 0))
        case "entity": declaringEntity.map { .object($0) } ?? .null
        case "userInfo": OperandBridging.operand(from: userInfo)
        default: throw unknownKey(key, of: "property '\(name)'")
        }
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool { other === self }

    package var predicateHash: Int { hash }

    package var predicateDescription: String { name }

    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}

private func unknownKey(_ key: String, of owner: String) -> PredicateFailure {
    PredicateFailure(
        .evaluation, Diagnostic(.error, "the description of \(owner) has no key '\(key)'"), subexpression: key)
}
