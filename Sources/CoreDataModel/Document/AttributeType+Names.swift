extension AttributeType {
    /// The type as model files spell it: `Integer 16`, `Binary`; `nil` for a type that no file can have.
    package var fileName: String? {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binaryData: "Binary"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .composite: "Composite"
        case .objectID: nil
        }
    }

    package init?(fileName: String) {
        guard let type = Self.allCases.first(where: { $0.fileName == fileName }) else { return nil }
        self = type
    }

    /// The type as a message names it.
    package var displayName: String { fileName ?? "ObjectID" }
}

extension DeleteRule {
    /// The rule as model files spell it.
    package var fileName: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }

    package init?(fileName: String) {
        let rules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
        guard let rule = rules.first(where: { $0.fileName == fileName }) else { return nil }
        self = rule
    }
}
