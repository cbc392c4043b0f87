import CoreData
import Foundation

/// The access plan of an entity's class in one context's model: its layout, by slot.
final class EntityPlan {
    /// One property of the class, and where objects keep it.
    final class Property {
        let declaration: ModelProperty
        let name: String
        /// The property's place in its class.
        let index: Int
        let slot: Int
        /// The slot of an enumeration's raw value, if that is read as its own type; -1 otherwise.
        let rawSlot: Int
        /// Writes a value of the property's type without checking its form; `nil` if the form must be checked.
        let plainWriter: ((Any, ModelObject) -> Void)?
        /// The models in a value of the relationship; `nil` for an attribute.
        let targets: ((Any) -> [any PersistentModel])?

        /// Whether values are read and written as their own type.
        var isPlain: Bool { plainWriter != nil }
        let isToMany: Bool

        init(
            _ declaration: ModelProperty, _ slot: Int, rawSlot: Int, plainWriter: ((Any, ModelObject) -> Void)?,
            targets: ((Any) -> [any PersistentModel])?
        ) {
            self.declaration = declaration
            name = declaration.name
            index = declaration.index
            self.slot = slot
            self.rawSlot = rawSlot
            self.plainWriter = plainWriter
            self.targets = targets
            isToMany = if case .toMany = declaration.form { true } else { false }
        }
    }

    /// What an insertion does with a property: a value without references, which costs nothing to go through.
    struct Step {
        enum Kind { case plain, toOne, other }
        let kind: Kind
        let index: Int
        let slot: Int

        init(_ property: Property) {
            kind = property.isPlain ? .plain : property.targets != nil && !property.isToMany ? .toOne : .other
            index = property.index
            slot = property.slot
        }
    }

    /// The properties that one class of the hierarchy itself declares.
    final class Level {
        let type: ObjectIdentifier
        let properties: [Property]
        let steps: [Step]

        init(_ type: any PersistentModel.Type, _ properties: [Property]) {
            self.type = ObjectIdentifier(type)
            self.properties = properties
            steps = properties.map { Step($0) }
        }
    }

    let type: any PersistentModel.Type
    let layout: ModelLayout
    /// The properties, including inherited ones.
    let properties: [Property]
    private let positions: [Int]
    private let levels: [Level]
    /// Whether the entity has uniqueness constraints, including inherited ones.
    let hasUniqueProperties: Bool

    init(_ type: any PersistentModel.Type, of object: ModelObject) {
        self.type = type
        layout = ModelLayout.of(type)
        var properties: [Property] = []
        var positions: [Int] = []
        for declaration in layout.allProperties {
            guard let slot = object.propertySlot(named: declaration.name) else { continue }
            while positions.count <= slot { positions.append(-1) }
            positions[slot] = properties.count
            properties.append(
                Property(
                    declaration, slot, rawSlot: Self.rawSlot(declaration, slot, object),
                    plainWriter: Self.writer(declaration, slot, object),
                    targets: declaration.destination.map { Self.targets($0) }))
        }
        var levels: [Level] = []
        var level: ModelLayout? = layout
        while let own = level {
            let names = Set(own.properties.map(\.name))
            levels.append(Level(own.type, properties.filter { names.contains($0.declaration.name) }))
            level = own.superclass
        }
        self.levels = levels
        hasUniqueProperties = !object.entity.allUniquenessConstraints.isEmpty
        self.properties = properties
        self.positions = positions
    }

    /// Returns the property of a slot; `nil` if the class has none.
    func property(at slot: Int) -> Property? {
        guard positions.indices.contains(slot), positions[slot] >= 0 else { return nil }
        return properties[positions[slot]]
    }

    /// Returns the properties that one class of the hierarchy itself declares.
    func level(_ type: any PersistentModel.Type) -> Level {
        levels.first { $0.type == ObjectIdentifier(type) } ?? Level(type, [])
    }

    private static func targets<Target: PersistentModel>(_ type: Target.Type) -> (Any) -> [any PersistentModel] {
        { value in
            if let model = value as? Target { return [model] }
            return value as? [Target] ?? []
        }
    }

    private static func writer(
        _ declaration: ModelProperty, _ slot: Int, _ object: ModelObject
    ) -> ((Any, ModelObject) -> Void)? {
        guard let form = declaration.attributeForm, case .scalar(let type) = form.kind, object.hasPlainValues(slot),
            isOwn(form.valueType, type), let value = declaration.valueType as? any ManagedPropertyValue.Type
        else { return nil }
        return writer(value, slot)
    }

    private static func writer<Value: ManagedPropertyValue>(
        _ type: Value.Type, _ slot: Int
    ) -> (Any, ModelObject) -> Void {
        { value, object in
            // The type itself, by far most often; a cast asks the runtime.
            func write<Own>(_ value: Own) {
                if Own.self == Value.self {
                    Value._write(unsafeBitCast(value, to: Value.self), object, slot)
                } else if let value = value as? Value {
                    Value._write(value, object, slot)
                }
            }
            _openExistential(value, do: write)
        }
    }

    /// Returns the slot of the raw value, if a column has it as its own type.
    private static func rawSlot(_ declaration: ModelProperty, _ slot: Int, _ object: ModelObject) -> Int {
        guard let form = declaration.attributeForm, case .composite(let elements) = form.kind, elements.count == 1,
            case .scalar(let type) = elements[0].form.kind, let value = form.valueType as? any RawRepresentable.Type,
            isOwn(rawType(value), type), slot <= 0x7FFF
        else { return -1 }
        let element = object.plainElementSlot(slot)
        return element <= 0x7FFF ? element : -1
    }

    private static func rawType<Value: RawRepresentable>(_ type: Value.Type) -> Any.Type { Value.RawValue.self }

    /// Whether the engine's way to read the Swift type is that of the column.
    private static func isOwn(_ type: Any.Type, _ column: NSAttributeType) -> Bool {
        switch column {
        case .integer16AttributeType: type == Int16.self
        case .integer32AttributeType: type == Int32.self
        case .integer64AttributeType: type == Int.self || type == Int64.self
        case .booleanAttributeType: type == Bool.self
        case .doubleAttributeType: type == Double.self || type == CGFloat.self
        case .floatAttributeType: type == Float.self
        case .stringAttributeType: type == String.self
        case .dateAttributeType: type == Date.self
        case .binaryDataAttributeType: type == Data.self
        case .UUIDAttributeType: type == UUID.self
        case .URIAttributeType: type == URL.self
        case .decimalAttributeType: type == Decimal.self
        default: false
        }
    }
}

extension NSEntityDescription {
    /// The uniqueness constraints of the entity and its ancestors.
    fileprivate var allUniquenessConstraints: [[Any]] {
        uniquenessConstraints + (superentity?.allUniquenessConstraints ?? [])
    }
}
