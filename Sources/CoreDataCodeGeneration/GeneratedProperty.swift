import CoreDataModel

/// A property in its class declaration.
struct GeneratedProperty {
    /// The way in which the accessor accesses the value.
    enum Access {
        /// `self[key]`: for types with a conversion of their own.
        case typed
        /// `self[object: key]`: as an object, cast to the type.
        case object
        /// `self[fetched: key]`, which cannot be set.
        case fetched
    }

    /// The to-many accessors of the property.
    enum Members {
        case unordered
        case ordered
    }

    let name: String
    /// The Swift type that Xcode declares.
    let type: String
    let access: Access
    /// The class of a relationship's destination; `nil` for attributes and for a destination without a class of its
    /// own.
    var destinationClass: String?
    var members: Members?
    var isToOne = false

    /// The generic argument of the key.
    var keyType: String { access == .object && type.hasSuffix("?") ? String(type.dropLast()) : type }
}

extension GeneratedProperty {
    /// - Parameter classNames: the class of each entity that has one of its own.
    init(_ property: PropertyElement, classNames: [String: String]) {
        name = property.name
        func destination(_ entity: String?) -> String? { entity.flatMap { classNames[$0] } }
        switch property.kind {
        case .attribute(let attribute):
            (type, access) = Self.declaration(of: attribute, avoiding: Set(classNames.values))
        case .relationship(let relationship):
            destinationClass = destination(relationship.destinationName)
            access = .typed
            if relationship.maxCount == 1 {
                type = SwiftNames.identifier(destinationClass ?? SwiftNames.baseClass) + "?"
                isToOne = true
            } else {
                type = relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
                members = relationship.isOrdered ? .ordered : .unordered
            }
        case .fetched(let request):
            destinationClass = destination(request.entityName)
            type = "[\(SwiftNames.identifier(destinationClass ?? SwiftNames.baseClass))]"
            access = .fetched
        }
    }

    /// Returns the type as Xcode chooses it: types that can be nil in Objective-C are optional, even if the model
    /// requires a value, because a new object has none.
    private static func declaration(
        of attribute: AttributeElement, avoiding classNames: Set<String>
    ) -> (type: String, access: Access) {
        /// Returns the name of a library type, qualified if a class of the model has the same name.
        func named(_ name: String, in module: String?) -> String {
            module.map { classNames.contains(name) ? "\($0).\(name)" : name } ?? name
        }
        let traits = attribute.type.traits
        let declared = traits.declared
        if attribute.usesScalarValueType ?? false, let scalar = declared.scalar {
            return (named(scalar, in: declared.scalarModule), .typed)
        }
        let name = named(declared.name, in: declared.module)
        switch traits.kind {
        case .object: return ((SwiftNames.customType(attribute.customClassName) ?? name) + "?", .object)
        case .reference: return (name + "?", .object)
        case .composite: return ("[\(name): Any]?", .object)
        default: return (name + "?", .typed)
        }
    }
}
