import CoreDataPrimitives

/// An expression in a model declaration: a literal, or a call whose arguments are such expressions.
package struct SwiftExpression: Codable, Equatable, Sendable {
    package enum Content: Codable, Equatable, Sendable {
        case text(String)
        case number(String)
        /// `0...5`
        case range(lower: String, upper: String)
        case boolean(Bool)
        case list([SwiftExpression])
        case dictionary([Entry])
        /// `ModelAttribute("a", .string)`, or with a leading dot `.toMany(ordered: true)`.
        case call(SwiftCallExpression)
    }

    package struct Entry: Codable, Equatable, Sendable {
        package var key: SwiftExpression
        package var value: SwiftExpression

        package init(key: SwiftExpression, value: SwiftExpression) {
            self.key = key
            self.value = value
        }
    }

    package var content: Content
    package var place: SourceLocation

    package init(content: Content, place: SourceLocation) {
        self.content = content
        self.place = place
    }
}

package struct SwiftCallExpression: Codable, Equatable, Sendable {
    package struct Argument: Codable, Equatable, Sendable {
        package var label: String?
        package var value: SwiftExpression

        package init(label: String?, value: SwiftExpression) {
            self.label = label
            self.value = value
        }
    }

    package var name: String
    package var hasLeadingPoint: Bool
    package var arguments: [Argument] = []
    /// The expressions of the trailing closure.
    package var body: [SwiftExpression] = []
    /// The method calls that follow the expression.
    package var modifiers: [SwiftExpression] = []

    package init(name: String, hasLeadingPoint: Bool) {
        self.name = name
        self.hasLeadingPoint = hasLeadingPoint
    }
}
