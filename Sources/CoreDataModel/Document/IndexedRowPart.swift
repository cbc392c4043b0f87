/// A part of every row that an index can contain besides properties: the row's key or entity.
///
///     kind, SELF, entity      // CREATE INDEX … (ZKIND COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC, Z_ENT COLLATE BINARY ASC)
package enum IndexedRowPart: String, Hashable, Sendable {
    /// The row itself.
    case key = "SELF"
    case entity = "entity"

    /// Returns the part that an index element's expression names; `nil` for any other expression.
    package init?(expression: String) {
        switch expression {
        case "SELF", "self": self = .key
        case "entity", "SELF.entity", "self.entity": self = .entity
        default: return nil
        }
    }

    /// The name in the compound index lists that the compiler writes for old frameworks.
    var listedName: String { self == .key ? "self" : "entity" }
}

extension FetchIndexElement.Element {
    /// The name in compound index lists; `nil` for an expression that they cannot contain.
    var listedName: String? { propertyName ?? expression.flatMap(IndexedRowPart.init(expression:))?.listedName }

    /// The type of the expression's value, given by its number or by its name in model files.
    package var resultType: AttributeType? {
        guard let text = expressionType else { return nil }
        return Int32(text).flatMap(AttributeType.init(rawValue:)) ?? AttributeType(fileName: text)
    }

    /// The type that archives use if none is given.
    var impliedType: AttributeType {
        expression.flatMap(IndexedRowPart.init(expression:)) == .key ? .objectID : .undefined
    }
}
