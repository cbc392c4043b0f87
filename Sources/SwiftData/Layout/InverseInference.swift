import Foundation

/// Finds the inverse of a relationship.
///
///     Recipe.parts: [Part]   Part.recipe: Recipe?     // each other's inverse, without an annotation
///
/// A side that names its inverse decides for both. Otherwise two relationships are each other's inverse if there is
/// exactly one candidate on either side. A non-optional to-one relationship is never inferred: removing its destination
/// would leave it without a value.
enum InverseInference {
    /// The name of the inverse, in the destination; `nil` for none.
    static func inverse(of property: ModelDeclaration.Property, in declaration: ModelDeclaration) -> String? {
        guard let destinationType = destination(of: property) else { return nil }
        let destination = ModelDeclaration.of(destinationType)
        if let keyPath = property.inverseKeyPath { return name(of: keyPath, in: destination) }
        let claiming = relationships(of: destination).filter { other in
            other.inverseKeyPath.map { matches($0, property, of: declaration) } == true
        }
        if claiming.count == 1 { return claiming[0].name }
        guard claiming.isEmpty, canBeInferred(property) else { return nil }
        let there = candidates(in: destination, for: declaration, excluding: property)
        guard there.count == 1 else { return nil }
        let here = candidates(in: declaration, for: destination, excluding: there[0])
        return here.count == 1 && here[0].name == property.name ? there[0].name : nil
    }

    /// The relationships from one class to another that have no inverse yet.
    private static func candidates(
        in declaration: ModelDeclaration, for other: ModelDeclaration, excluding excluded: ModelDeclaration.Property
    ) -> [ModelDeclaration.Property] {
        relationships(of: declaration).filter { property in
            guard canBeInferred(property), property.inverseKeyPath == nil, let type = destination(of: property),
                declares(type, other), property.keyPath != excluded.keyPath
            else { return false }
            // Named as an inverse by a relationship of the destination.
            return !relationships(of: ModelDeclaration.of(type)).contains {
                $0.inverseKeyPath.map { matches($0, property, of: declaration) } == true
            }
        }
    }

    /// Returns whether the class declares the relationship.
    private static func declares(_ type: any PersistentModel.Type, _ declaration: ModelDeclaration) -> Bool {
        ObjectIdentifier(type) == ObjectIdentifier(declaration.type)
    }

    private static func relationships(of declaration: ModelDeclaration) -> [ModelDeclaration.Property] {
        declaration.allProperties.filter { destination(of: $0) != nil }
    }

    private static func canBeInferred(_ property: ModelDeclaration.Property) -> Bool {
        if case .toOne(_, isOptional: false) = property.form { return false }
        return true
    }

    static func destination(of property: ModelDeclaration.Property) -> (any PersistentModel.Type)? {
        switch property.form {
        case .attribute: nil
        case .toOne(let type, _), .toMany(let type, _): type
        }
    }

    /// Whether a key path is that of a property; rooted in a subclass it is another one.
    private static func matches(
        _ keyPath: AnyKeyPath, _ property: ModelDeclaration.Property, of declaration: ModelDeclaration
    ) -> Bool {
        if keyPath == property.keyPath { return true }
        guard let root = type(of: keyPath).rootType as? any PersistentModel.Type,
            type(of: keyPath).valueType == property.valueType, isKind(declaration.type, of: root)
        else { return false }
        return name(of: keyPath, in: ModelDeclaration.of(root)) == property.name
    }

    private static func isKind(_ type: any PersistentModel.Type, of other: any PersistentModel.Type) -> Bool {
        sequence(first: type as AnyClass, next: { _getSuperclass($0) }).contains {
            ObjectIdentifier($0) == ObjectIdentifier(other)
        }
    }

    private static func name(of keyPath: AnyKeyPath, in declaration: ModelDeclaration) -> String? {
        if let property = declaration.allProperties.first(where: { $0.keyPath == keyPath }) { return property.name }
        // An inherited property is found by its type, if that is unique.
        let type = type(of: keyPath).valueType
        let fitting = declaration.allProperties.filter { $0.valueType == type }
        return fitting.count == 1 ? fitting[0].name : KeyPathSearch.name(of: keyPath, in: declaration)
    }
}
