/// Fields that most code reads without switching on the kind.
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
