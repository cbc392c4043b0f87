import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A fetch index in a model declared in Swift.
///
///     ModelIndex("byYear", on: .descending("year"), "title")
///     // CREATE INDEX Z_Book_byYear ON ZBOOK (ZYEAR COLLATE BINARY DESC, ZTITLE COLLATE BINARY ASC)
public struct ModelIndex: Sendable {
    var element: FetchIndexElement

    /// An element of an index; a property's name alone means ascending order.
    public struct Element: ExpressibleByStringLiteral, Sendable {
        var element: FetchIndexElement.Element

        /// An element of the property with that name, ascending.
        public init(stringLiteral property: String) { element = .init(propertyName: property) }

        /// A property of the index, smallest first.
        public static func ascending(_ property: String) -> Element { Element(stringLiteral: property) }

        /// A property of the index, largest first.
        public static func descending(_ property: String) -> Element {
            var result = Element(stringLiteral: property)
            result.element.isAscending = false
            return result
        }

        /// A property of numbers in an R-tree, for finding ranges in several dimensions.
        public static func rTree(_ property: String, ascending: Bool = true) -> Element {
            var result = Element(stringLiteral: property)
            result.element.isRTree = true
            result.element.isAscending = ascending
            return result
        }

        /// An expression over the object: `length:(title)`; `type` is the name of its values' type in Xcode.
        public static func expression(_ text: String, type: String? = nil, ascending: Bool = true) -> Element {
            var result = Element(stringLiteral: "")
            result.element = .init(propertyName: nil, expression: text)
            result.element.expressionType = type
            result.element.isAscending = ascending
            return result
        }
    }

    /// Declares an index over properties or expressions.
    ///
    /// - Parameters:
    ///   - name: the index's name, unique in its entity.
    ///   - elements: the indexed elements, in order.
    ///   - predicate: the condition for objects in the index; all objects if there is none.
    ///   - fileID: the file of the declaration, for messages; omit it.
    ///   - line: the line of the declaration; omit it.
    public init(
        _ name: String, on elements: Element..., where predicate: String? = nil, fileID: String = #fileID,
        line: Int = #line
    ) {
        element = FetchIndexElement(name: name)
        element.elements = elements.map(\.element)
        element.predicate = predicate
        element.location = SourceLocation(file: fileID, line: line, column: 1)
    }
}

/// Properties that no two objects of an entity share, in a model declared in Swift.
///
///     ModelConstraint("isbn", "edition")
///     // CREATE UNIQUE INDEX Z_Book_UNIQUE_isbn_edition ON ZBOOK (ZISBN COLLATE BINARY ASC, ZEDITION COLLATE BINARY ASC)
public struct ModelConstraint: Sendable {
    let properties: [String]

    /// No two objects have the same values of these properties.
    public init(_ properties: String...) { self.properties = properties }
}

/// The elements of composite attributes, in a model declared in Swift.
///
///     ModelComposite("Place") {
///         ModelAttribute("latitude", .double)
///         ModelAttribute("longitude", .double)
///     }
///     // an attribute "home" of kind .composite("Place") is the columns of its elements
public struct ModelComposite: Sendable {
    var element: CompositeElement

    /// A composite of that name, which attributes refer to as `.composite(name)`.
    public init(
        _ name: String, fileID: String = #fileID, line: Int = #line,
        @CompositeBuilder _ attributes: () -> [ModelPropertyContent]
    ) {
        element = CompositeElement(name: name)
        element.properties = attributes().map(\.element)
        element.location = SourceLocation(file: fileID, line: line, column: 1)
    }
}

/// Builds the elements of a composite.
@resultBuilder
public enum CompositeBuilder {
    public static func buildExpression<Stored>(_ attribute: ModelAttribute<Stored>) -> [ModelPropertyContent] {
        [attribute.content]
    }

    public static func buildBlock(_ attributes: [ModelPropertyContent]...) -> [ModelPropertyContent] {
        attributes.flatMap { $0 }
    }
}

/// Some of a model's entities, for a store that holds only those.
///
///     ModelConfiguration("Catalogue", entities: "Book", "Author")
public struct ModelConfiguration: Sendable {
    let element: ConfigurationElement

    /// A configuration of that name with these entities.
    public init(_ name: String, entities: String..., fileID: String = #fileID, line: Int = #line) {
        var element = ConfigurationElement(name: name)
        element.entityNames = entities
        element.location = SourceLocation(file: fileID, line: line, column: 1)
        self.element = element
    }
}
