import Foundation

/// The mistakes in the rules of a model.
///
///     do { rules = try AccessRules(model) } catch let error as AccessRuleError {
///         for problem in error.problems { print(problem) }
///     }
///     // Item: allow.read: "groop": unknown word 'groop'. Write one of …, anyone, signedIn, …
public struct AccessRuleError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// One mistake.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The name of the entity.
        public var entity: String
        /// The name of the property, for a rule of a property.
        public var property: String?
        /// The key in `userInfo`.
        public var key: String
        /// The text of the rule or path.
        public var text: String
        /// What is wrong.
        public var reason: String
        /// What to write.
        public var advice: String

        /// One line with all parts.
        public var description: String {
            "\(property.map { "\(entity).\($0)" } ?? entity): \(key): \"\(text)\": \(reason). \(advice)."
        }
    }

    /// All mistakes, in the order of entities and keys.
    public var problems: [Problem]

    /// One line for each mistake.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
    /// The mistakes, for people.
    public var errorDescription: String? { "The permissions of the model have mistakes:\n\(description)" }
}
