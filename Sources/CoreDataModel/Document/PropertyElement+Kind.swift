/// What most code asks of a property without looking at its kind.
extension PropertyElement {
    package var isFetched: Bool {
        if case .fetched = kind { return true }
        return false
    }

    package var isRelationship: Bool {
        if case .relationship = kind { return true }
        return false
    }

    /// The validation predicates of an attribute or relationship.
    package var validations: [ValidationElement] {
        switch kind {
        case .attribute(let attribute): attribute.validations
        case .relationship(let relationship): relationship.validations
        case .fetched: []
        }
    }
}

extension AttributeType {
    /// The Foundation class of an attribute's values; `nil` where the type leaves it open.
    package var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }
}
