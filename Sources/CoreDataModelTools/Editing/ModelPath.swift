import CoreDataModel

/// The address of an element of a model version, by names.
///
///     ModelPath.property(entity: "Book", name: "title")     // Book.title
package enum ModelPath: Hashable, Sendable {
    case model
    case entity(String)
    case property(entity: String, name: String)
    case fetchIndex(entity: String, name: String)
    case composite(String)
    case compositeElement(composite: String, name: String)
    case fetchRequest(String)
    case configuration(String)

    /// The name of the element; empty for the model.
    package var name: String {
        switch self {
        case .model: ""
        case .entity(let name), .composite(let name), .fetchRequest(let name), .configuration(let name): name
        case .property(_, let name), .fetchIndex(_, let name), .compositeElement(_, let name): name
        }
    }

    /// The element in messages: `attribute 'Book.title'` without its kind.
    package var text: String {
        switch self {
        case .model: "the model"
        case .entity(let name), .composite(let name), .fetchRequest(let name), .configuration(let name): "'\(name)'"
        case .property(let owner, let name), .fetchIndex(let owner, let name), .compositeElement(let owner, let name):
            "'\(owner).\(name)'"
        }
    }

    /// The same element with another name.
    package func renamed(_ name: String) -> ModelPath {
        switch self {
        case .model: .model
        case .entity: .entity(name)
        case .composite: .composite(name)
        case .fetchRequest: .fetchRequest(name)
        case .configuration: .configuration(name)
        case .property(let owner, _): .property(entity: owner, name: name)
        case .fetchIndex(let owner, _): .fetchIndex(entity: owner, name: name)
        case .compositeElement(let owner, _): .compositeElement(composite: owner, name: name)
        }
    }
}

/// The kinds of properties that an entity can have.
package enum PropertyKind: String, CaseIterable, Sendable {
    case attribute
    case relationship
    case fetched = "fetchedProperty"

    package init(_ kind: PropertyElement.Kind) {
        switch kind {
        case .attribute: self = .attribute
        case .relationship: self = .relationship
        case .fetched: self = .fetched
        }
    }

    /// The kind in messages.
    package var title: String { self == .fetched ? "fetched property" : rawValue }
}
