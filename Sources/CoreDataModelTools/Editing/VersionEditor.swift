import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Applies edits to the text of a model version.
///
/// An edit that cannot be applied throws an error that names the element, and the version stays as it was.
struct VersionEditor {
    var markup: EditableMarkup

    init(_ markup: EditableMarkup) { self.markup = markup }

    /// The element names below `model` and below `entity`, in the order of Xcode's files.
    static let modelKinds = ["entity", "composite", "fetchRequest", "configuration", "elements"]
    static let entityKinds = [
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
        "userInfo",
    ]
    static let propertyNames: Set<String> = ["attribute", "relationship", "fetchedProperty"]

    mutating func apply(_ edit: ModelEdit) throws(ModelFailure) {
        switch edit {
        case .addEntity(let name, let parent): try addEntity(name, parent: parent)
        case .addProperty(let kind, let name, let entity): try addProperty(kind, name, to: entity)
        case .addFetchIndex(let name, let entity): try addFetchIndex(name, to: entity)
        case .addFetchRequest(let name, let entity):
            try checkEntity(entity)
            try addTop(EditableElement("fetchRequest", [("name", name), ("entity", entity)]))
        case .addConfiguration(let name): try addTop(EditableElement("configuration", [("name", name)]))
        case .addComposite(let name):
            try checkIdentifier(name, "composite")
            try addTop(EditableElement("composite", [("name", name)]))
        case .addCompositeElement(let name, let composite): try addCompositeElement(name, to: composite)
        case .rename(let path, let name, let keepsIdentity): try rename(path, to: name, keepsIdentity)
        case .delete(let path): try delete(path)
        case .move(let path, let entity): try move(path, toEntity: entity)
        case .reorder(let path, let index): try reorder(path, to: index)
        case .set(let path, let setting, let value): try set(path, setting, value)
        case .setUserInfo(let path, let key, let value): try setUserInfo(path, key, value)
        case .setInverse(let path, let name): try setInverse(path, name)
        case .setIndexElements(let path, let elements): try setIndexElements(path, elements)
        case .setConstraint(let entity, let index, let names): try setConstraint(entity, index, names)
        case .setCompoundIndexes(let entity, let lists): try setCompoundIndexes(entity, lists)
        case .setMembers(let configuration, let names): try setMembers(configuration, names)
        case .setPosition(let entity, let x, let y): try setPosition(entity, x, y)
        }
    }

    // MARK: Elements

    var style: MarkupStyle { markup.style }

    /// Changes the root element.
    mutating func changeRoot(_ change: (inout EditableElement) throws(ModelFailure) -> Void) throws(ModelFailure) {
        try change(&markup.root)
    }

    /// The places of the elements on the way from the root to an element.
    func places(_ path: ModelPath) throws(ModelFailure) -> [Int] {
        func top(_ element: String, _ name: String) -> Int? { markup.root.place(of: element, is: name) }
        func inside(_ place: Int?, _ elements: [String], _ name: String) -> [Int]? {
            guard let place, case .element(let owner) = markup.root.content[place] else { return nil }
            for element in elements {
                if let inner = owner.place(of: element, is: name) { return [place, inner] }
            }
            return nil
        }
        let found: [Int]? =
            switch path {
            case .model: []
            case .entity(let name): top("entity", name).map { [$0] }
            case .composite(let name): top("composite", name).map { [$0] }
            case .fetchRequest(let name): top("fetchRequest", name).map { [$0] }
            case .configuration(let name): top("configuration", name).map { [$0] }
            case .property(let entity, let name):
                inside(top("entity", entity), ["attribute", "relationship", "fetchedProperty"], name)
            case .fetchIndex(let entity, let name): inside(top("entity", entity), ["fetchIndex"], name)
            case .compositeElement(let composite, let name):
                inside(top("composite", composite), ["attribute"], name)
            }
        guard let found else { throw failure("\(path.text) does not exist", path, hint: "it was renamed or deleted") }
        return found
    }

    /// Returns the element at a path.
    func element(_ path: ModelPath) throws(ModelFailure) -> EditableElement {
        var element = markup.root
        for place in try places(path) {
            if case .element(let child) = element.content[place] { element = child }
        }
        return element
    }

    /// Changes the element at a path.
    mutating func change(
        _ path: ModelPath, _ change: (inout EditableElement) throws(ModelFailure) -> Void
    ) throws(ModelFailure) {
        try Self.change(&markup.root, try places(path)[...], change)
    }

    private static func change(
        _ element: inout EditableElement, _ places: ArraySlice<Int>,
        _ body: (inout EditableElement) throws(ModelFailure) -> Void
    ) throws(ModelFailure) {
        guard let place = places.first else { return try body(&element) }
        guard case .element(var child) = element.content[place] else { return }
        try change(&child, places.dropFirst(), body)
        element.content[place] = .element(child)
    }

    // MARK: Names

    var entities: [EditableElement] { markup.root.children(named: "entity") }

    func checkEntity(_ name: String) throws(ModelFailure) {
        if markup.root.place(of: "entity", is: name) == nil {
            throw failure("there is no entity '\(name)'", .entity(name), hint: "choose one of the model's entities")
        }
    }

    func checkIdentifier(_ name: String, _ kind: String) throws(ModelFailure) {
        if !Compilation.isIdentifier(name) {
            throw failure(
                "'\(name)' cannot be the name of \(kind == "attribute" || kind == "entity" ? "an" : "a") \(kind)", nil,
                hint: "use letters, digits and underscores, and start with a letter")
        }
    }

    /// The entity and the entities that inherit from it.
    func family(of entity: String) -> Set<String> {
        var family: Set<String> = [entity]
        var grows = true
        while grows {
            grows = false
            for other in entities {
                guard let name = other["name"], let parent = other["parentEntity"], family.contains(parent) else {
                    continue
                }
                if family.insert(name).inserted { grows = true }
            }
        }
        return family
    }

    /// The entity and the entities that it inherits from, nearest first.
    func ancestors(of entity: String) -> [String] {
        var result = [entity]
        while let parent = entities.first(where: { $0["name"] == result[result.count - 1] })?["parentEntity"],
            !result.contains(parent)
        {
            result.append(parent)
        }
        return result
    }

    func failure(_ message: String, _ path: ModelPath?, hint: String? = nil) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, message, hint: hint, subject: path?.subject)])
    }
}

extension ModelPath {
    /// The subject of diagnostics about the element: `Book.title`.
    package var subject: String {
        switch self {
        case .model: ""
        case .entity(let name), .composite(let name), .fetchRequest(let name), .configuration(let name): name
        case .property(let owner, let name), .fetchIndex(let owner, let name), .compositeElement(let owner, let name):
            "\(owner).\(name)"
        }
    }
}
