import CoreDataModel

/// A property as its class declares it.
struct GeneratedProperty {
    /// How the accessor reaches the value.
    enum Access {
        /// `self[key]`: the type itself knows how.
        case typed
        /// `self[object: key]`: as an object, cast to the type.
        case object
        /// `self[fetched: key]`, which cannot be set.
        case fetched
    }

    /// The to-many accessors that go with it.
    enum Members {
        case unordered
        case ordered
    }

    let name: String
    /// The Swift type that Xcode declares.
    let type: String
    let access: Access
    /// Of a relationship, the class of its destination; `nil` for attributes and where that has no class of its own.
    var destinationClass: String?
    var members: Members?
    var isToOne = false

    /// What the key is generic over.
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

    /// The type as Xcode chooses it: whatever can be nil in Objective-C is optional, also where the model says that
    /// a value is required, because a new object has none.
    private static func declaration(
        of attribute: AttributeElement, avoiding classNames: Set<String>
    ) -> (type: String, access: Access) {
        /// A type of the library, told from a class of the model that has its name.
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
