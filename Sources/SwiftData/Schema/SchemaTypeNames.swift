import CoreData
import Foundation

/// Names of value types in encoded schemas.
enum SchemaTypeNames {
    private static let types: [String: (bare: any Any.Type, optional: any Any.Type)] = [
        "Bool": (Bool.self, Bool?.self), "Int": (Int.self, Int?.self), "Int8": (Int8.self, Int8?.self),
        "Int16": (Int16.self, Int16?.self), "Int32": (Int32.self, Int32?.self), "Int64": (Int64.self, Int64?.self),
        "UInt": (UInt.self, UInt?.self), "UInt8": (UInt8.self, UInt8?.self), "UInt16": (UInt16.self, UInt16?.self),
        "UInt32": (UInt32.self, UInt32?.self), "UInt64": (UInt64.self, UInt64?.self),
        "Double": (Double.self, Double?.self), "Float": (Float.self, Float?.self),
        "String": (String.self, String?.self), "Date": (Date.self, Date?.self), "Data": (Data.self, Data?.self),
        "UUID": (UUID.self, UUID?.self), "URL": (URL.self, URL?.self), "Decimal": (Decimal.self, Decimal?.self),
    ]

    /// The name of a type, without optionality.
    static func name(of type: any Any.Type) -> String {
        "\((type as? any OptionalType.Type)?.wrappedType ?? type)"
    }

    /// The type of that name; `Any` for one that is not a plain value's.
    static func type(named name: String, isOptional: Bool) -> any Any.Type {
        guard let found = types[name] else { return isOptional ? Any?.self : Any.self }
        return isOptional ? found.optional : found.bare
    }
}

/// Stands for model classes that an encoded schema only names.
final class UnknownModel: PersistentModel {
    var persistentBackingData: any BackingData<UnknownModel>
    static var schemaMetadata: [Schema.PropertyMetadata] { [] }

    init(backingData: any BackingData<UnknownModel>) { persistentBackingData = backingData }

    func _attach(_ object: ModelObject, _ context: ModelContext) {}
    func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void) { mutation() }

    /// The type of a relationship to it.
    static func type(isToOne: Bool, isOptional: Bool) -> any Any.Type {
        switch (isToOne, isOptional) {
        case (true, true): UnknownModel?.self
        case (true, false): UnknownModel.self
        case (false, true): [UnknownModel]?.self
        case (false, false): [UnknownModel].self
        }
    }
}

/// Finds value transformers that attributes name by their class.
enum TransformerNames {
    /// The name under which a transformer of the class is registered: the class's, with its module or without.
    ///
    /// A class cannot be asked to make an instance here, so the app registers one.
    static func name(of type: ValueTransformer.Type) -> String {
        let short = "\(type)"
        return [NSStringFromClass(type), short].first { ValueTransformer.registered(forName: $0) != nil } ?? short
    }
}
