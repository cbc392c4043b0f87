import CoreDataPredicate
import Foundation

// The expressions of three methods of texts in `#Predicate`, which Foundation has on Apple's platforms only. The macro
// writes these names.
extension PredicateExpressions {
    /// `text.localizedStandardContains(part)` in a `#Predicate`.
    ///
    ///     #Predicate<Item> { ($0.name ?? "").localizedStandardContains("creme") }
    ///     // name CONTAINS[cd] "creme"
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The type of its value.
        public typealias Output = Bool

        /// The text that is looked into.
        public let root: Root
        /// The part that is looked for.
        public let other: Other

        /// Makes the expression of the text and the part.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Whether the text contains the part, case and diacritics aside.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
        }
    }

    /// `text.caseInsensitiveCompare(other)` in a `#Predicate`.
    ///
    ///     #Predicate<Item> { $0.name.caseInsensitiveCompare("salt") == .orderedSame }
    ///     // name ==[c] "salt"
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The type of its value.
        public typealias Output = ComparisonResult

        /// The first text.
        public let root: Root
        /// The second text.
        public let other: Other

        /// Makes the expression of both texts.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Which text comes first, case aside.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
        }
    }

    /// `text.localizedCompare(other)` in a `#Predicate`.
    ///
    ///     #Predicate<Item> { $0.name.localizedCompare("salt") == .orderedAscending }
    ///     // name <[l] "salt"
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The type of its value.
        public typealias Output = ComparisonResult

        /// The first text.
        public let root: Root
        /// The second text.
        public let other: Other

        /// Makes the expression of both texts.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Which text comes first in a list for people.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
        }
    }

    /// What `#Predicate` calls for `text.localizedStandardContains(part)`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }

    /// What `#Predicate` calls for `text.caseInsensitiveCompare(other)`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { StringCaseInsensitiveCompare(root: root, other: other) }

    /// What `#Predicate` calls for `text.localizedCompare(other)`.
    public static func build_localizedCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { StringLocalizedCompare(root: root, other: other) }
}

// MARK: Archives

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

// MARK: In the predicate language

extension PredicateExpressions.StringLocalizedStandardContains: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(
            conversion.comparison(
                try conversion.expression(root), .contains, try conversion.expression(other),
                [.caseInsensitive, .diacriticInsensitive]))
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .ordering(try conversion.expression(root), try conversion.expression(other), .caseInsensitive)
    }
}

extension PredicateExpressions.StringLocalizedCompare: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .ordering(try conversion.expression(root), try conversion.expression(other), .localeSensitive)
    }
}
