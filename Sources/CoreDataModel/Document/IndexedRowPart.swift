/// A part of every row that an index can have beside properties: its key or its entity.
///
///     kind, SELF, entity      // CREATE INDEX … (ZKIND COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC, Z_ENT COLLATE BINARY ASC)
package enum IndexedRowPart: String, Hashable, Sendable {
    /// The row itself.
    case key = "SELF"
    case entity = "entity"

    /// The part that an index element's expression names; `nil` for any other expression.
    package init?(expression: String) {
        switch expression {
        case "SELF", "self": self = .key
        case "entity", "SELF.entity", "self.entity": self = .entity
        default: return nil
        }
    }

    /// The name in the lists of compound indexes that the compiler writes for old frameworks.
    var listedName: String { self == .key ? "self" : "entity" }
}

extension FetchIndexElement.Element {
    /// The name in lists of compound indexes; `nil` for an expression that these lists cannot have.
    var listedName: String? { propertyName ?? expression.flatMap(IndexedRowPart.init(expression:))?.listedName }

    /// The type of the expression's value: as given, by its number or as model files spell it.
    package var resultType: AttributeType? {
        guard let text = expressionType else { return nil }
        return Int32(text).flatMap(AttributeType.init(rawValue:)) ?? AttributeType(fileName: text)
    }

    /// The type that an archive has where none is given.
    var impliedType: AttributeType {
        expression.flatMap(IndexedRowPart.init(expression:)) == .key ? .objectID : .undefined
    }
}
