import Foundation

/// The kind of a relationship, read from a property's type: `Part`, `Part?`, `[Part]`, `[Part]?`.
struct RelationshipType {
    let destination: any PersistentModel.Type
    let isToMany: Bool
    let isOptional: Bool

    /// `nil` for a type that is no model class and no array of one.
    init?(_ type: Any.Type) {
        var bare = type
        if let optional = type as? any OptionalType.Type { bare = optional.wrappedType }
        isOptional = bare != type
        if let model = bare as? any PersistentModel.Type {
            destination = model
            isToMany = false
        } else if let models = bare as? any ModelArray.Type {
            destination = models.elementType
            isToMany = true
        } else {
            return nil
        }
    }
}

/// What arrays of models are, so that their element is found at run time.
private protocol ModelArray {
    static var elementType: any PersistentModel.Type { get }
}

extension Array: ModelArray where Element: PersistentModel {
    fileprivate static var elementType: any PersistentModel.Type { Element.self }
}
