import CoreDataModel
import CoreDataPrimitives
import Foundation

/// An entity in a model declared in Swift.
///
///     ModelEntity("Novel", class: Novel.self, parent: "Book") {
///         ModelAttribute("genre", .string)
///     }
///     .renamed(from: "Fiction")
///     // columns of Novel are in the table of its root: ALTER TABLE … is never needed, ZBOOK has ZGENRE
public struct ModelEntity: Sendable {
    var element: EntityElement

    /// - Parameters:
    ///   - name: the entity's name, unique in the model; its table is named after it.
    ///   - class: the class of its objects, by default `NSManagedObject`.
    ///   - parent: the name of the entity from which it inherits, and with which it shares a table.
    ///   - isAbstract: whether only its subentities have objects.
    ///   - fileID: the file of the declaration, for messages; omit it.
    ///   - line: the line of the declaration; omit it.
    ///   - parts: the entity's properties, indexes and constraints.
    public init(
        _ name: String, class: NSManagedObject.Type = NSManagedObject.self, parent: String? = nil,
        isAbstract: Bool = false, fileID: String = #fileID, line: Int = #line,
        @EntityBuilder _ parts: () -> [EntityPart] = { [] }
    ) {
        if `class` != NSManagedObject.self { ManagedObjectClasses.shared.learn(`class`) }
        self.init(
            name, className: String(reflecting: `class`), parent: parent, isAbstract: isAbstract, fileID: fileID,
            line: line, parts)
    }

    /// The same with a class that is known by name only: `Library.Book`.
    public init(
        _ name: String, className: String, parent: String? = nil, isAbstract: Bool = false,
        fileID: String = #fileID, line: Int = #line, @EntityBuilder _ parts: () -> [EntityPart] = { [] }
    ) {
        element = EntityElement(name: name)
        element.className = className == "NSManagedObject" || className == "CoreData.NSManagedObject" ? nil : className
        element.parentName = parent
        element.isAbstract = isAbstract
        element.location = SourceLocation(file: fileID, line: line, column: 1)
        for part in parts() { part.add(&element) }
    }

    /// The name that the entity had in the version before, so that a migration finds its rows.
    public func renamed(from name: String) -> Self { with { $0.renamingIdentifier = name } }

    /// Makes the entity another one than before although nothing else says so.
    public func versionHashModifier(_ modifier: String) -> Self { with { $0.versionHashModifier = modifier } }

    /// Texts of your own that the entity carries.
    public func userInfo(_ info: [String: String]) -> Self { with { $0.userInfo.merge(info) { $1 } } }

    /// The expression that gives an object's name in Spotlight: `title`.
    public func spotlightDisplayName(_ expression: String) -> Self {
        with { $0.coreSpotlightDisplayNameExpression = expression }
    }

    /// An index of several properties as models had them before fetch indexes.
    public func compoundIndex(_ properties: String...) -> Self { with { $0.compoundIndexes.append(properties) } }

    /// Sets the version hash, in base64, that Apple's tools computed for the entity. It is used if the entity has
    /// composite attributes for which Apple's rule is not known.
    public func versionHash(_ base64: String) -> Self { with { $0.knownVersionHash = Data(base64Encoded: base64) } }

    private func with(_ change: (inout EntityElement) -> Void) -> Self {
        var copy = self
        change(&copy.element)
        return copy
    }
}

/// Something that stands in the declaration of an entity: a property, an index, a constraint.
public struct EntityPart: Sendable {
    let add: @Sendable (inout EntityElement) -> Void
}

/// Builds the parts of an entity; `if`, `switch` and `for` may be among them.
@resultBuilder
public enum EntityBuilder {
    public static func buildExpression(_ property: some ModelProperty) -> [EntityPart] {
        let element = property.content.element
        return [EntityPart { $0.properties.append(element) }]
    }

    public static func buildExpression(_ index: ModelIndex) -> [EntityPart] {
        [EntityPart { $0.fetchIndexes.append(index.element) }]
    }

    public static func buildExpression(_ constraint: ModelConstraint) -> [EntityPart] {
        [EntityPart { $0.uniquenessConstraints.append(constraint.properties) }]
    }

    /// Parts that were declared elsewhere, such as properties that several entities have.
    public static func buildExpression(_ parts: [EntityPart]) -> [EntityPart] { parts }

    public static func buildBlock(_ parts: [EntityPart]...) -> [EntityPart] { parts.flatMap { $0 } }
    public static func buildOptional(_ parts: [EntityPart]?) -> [EntityPart] { parts ?? [] }
    public static func buildEither(first parts: [EntityPart]) -> [EntityPart] { parts }
    public static func buildEither(second parts: [EntityPart]) -> [EntityPart] { parts }
    public static func buildArray(_ parts: [[EntityPart]]) -> [EntityPart] { parts.flatMap { $0 } }
}
