import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A property in a model declared in Swift: ``ModelAttribute``, ``ModelRelationship`` or ``ModelFetchedProperty``.
///
/// A property is optional until you say ``required()``.
public protocol ModelProperty: Sendable {
    /// The content declared so far.
    var content: ModelPropertyContent { get set }
}

/// The declared content of a property.
public struct ModelPropertyContent: Sendable {
    var element: PropertyElement

    init(_ name: String, _ kind: PropertyElement.Kind, fileID: String, line: Int) {
        element = PropertyElement(name: name, kind: kind)
        element.isOptional = true
        element.location = SourceLocation(file: fileID, line: line, column: 1)
    }
}

extension ModelProperty {
    /// Every object has to have a value when it is saved.
    public func required() -> Self { with { $0.isOptional = false } }

    /// The value lives in memory only.
    public func transient() -> Self { with { $0.isTransient = true } }

    /// The name that the property had in the version before, so that a migration finds its values.
    public func renamed(from name: String) -> Self { with { $0.renamingIdentifier = name } }

    /// Makes the property another one than before although nothing else says so: its values mean something else.
    public func versionHashModifier(_ modifier: String) -> Self { with { $0.versionHashModifier = modifier } }

    /// Texts of your own that the property carries.
    public func userInfo(_ info: [String: String]) -> Self { with { $0.userInfo.merge(info) { $1 } } }

    /// Marks the property for Spotlight.
    public func indexedBySpotlight() -> Self { with { $0.isIndexedBySpotlight = true } }

    /// Marks the property as indexed, as models did before fetch indexes; ``ModelIndex`` is the way now.
    public func indexed() -> Self { with { $0.isIndexed = true } }

    /// Marks the property for the external records of old versions of macOS.
    public func storedInExternalRecord() -> Self { with { $0.isStoredInTruthFile = true } }

    /// Checks each value before it is saved.
    ///
    ///     ModelAttribute("pages", .integer16).validated(by: "SELF != 13", warning: "no book has 13 pages")
    ///
    /// - Parameters:
    ///   - predicate: a predicate over the value, `SELF`.
    ///   - warning: the error's message, or its code; by default 1550.
    public func validated(by predicate: String, warning: String = "1550") -> Self {
        validated([ValidationElement(predicate: predicate, warning: warning)])
    }

    func validated(_ validations: [ValidationElement]) -> Self {
        with { property in
            switch property.kind {
            case .attribute(var attribute):
                attribute.validations += validations
                property.kind = .attribute(attribute)
            case .relationship(var relationship):
                relationship.validations += validations
                property.kind = .relationship(relationship)
            case .fetched: break
            }
        }
    }

    func with(_ change: (inout PropertyElement) -> Void) -> Self {
        var copy = self
        change(&copy.content.element)
        return copy
    }
}
