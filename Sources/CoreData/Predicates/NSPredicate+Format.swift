import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension PredicateMaking where Self: NSPredicate {
    /// Creates a placeholder: a predicate that is true for every object.
    public init() { self.init(predicateNode: .constant(true)) }

    /// Makes a predicate from the predicate language.
    ///
    ///     NSPredicate(format: "name BEGINSWITH[c] %@ AND %K > %d", "a", "author.age", 30)
    ///     NSPredicate(format: "id IN %@", [1, 2, 3])
    ///
    /// `%@` takes a value (strings, numbers, dates, collections, objects, expressions), `%K` a key path, `%d` and
    /// `%f` numbers. A format that cannot be parsed is a programmer's error and stops the program with its place;
    /// for text that comes from outside use ``init(validating:arguments:)``.
    public init(format predicateFormat: String, _ args: CVarArg...) {
        self.init(predicateNode: PredicateFormat.parse(predicateFormat, args.map(OperandBridging.formatArgument)))
    }

    /// Makes a predicate from the predicate language, with the arguments in an array.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(
            predicateNode: PredicateFormat.parse(
                predicateFormat, (arguments ?? []).map(OperandBridging.formatArgument)))
    }

    /// Makes a predicate from arguments in a C list: objects for `%@` and `%K`, C numbers for the others.
    public init(format predicateFormat: String, arguments argList: CVaListPointer) {
        self.init(
            predicateNode: PredicateFormat.parse(
                predicateFormat, VariableArguments.formatArguments(argList, for: predicateFormat)))
    }

    /// Makes a predicate from text that may be wrong.
    ///
    ///     try NSPredicate(validating: "age >> 3")
    ///     // CocoaError.formatting: 1:6: error: expected a comparison operator …, with a caret under the place
    ///
    /// Not in Apple's API.
    public init(validating predicateFormat: String, arguments: [Any]? = nil) throws {
        self.init(
            predicateNode: try PredicateFormat.validated(
                predicateFormat, (arguments ?? []).map(OperandBridging.formatArgument)))
    }

    /// Returns the predicate with values for its variables; a variable without a value stays and must get one later.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        let values = variables.mapValues(OperandBridging.expression)
        let node = predicateNode
        if case .block = node { return self }
        return Self(predicateNode: node.substitutingVariables(values))
    }

    /// Does nothing: a predicate from an archive can be evaluated at once.
    public func allowEvaluation() {}
}

/// Reads formats of predicates.
private enum PredicateFormat {
    static func validated(_ format: String, _ arguments: [FormatArgument]) throws -> PredicateNode {
        do {
            return try PredicateParser.parse(format: format, arguments: arguments)
        } catch {
            throw CocoaError(predicateFailure: error)
        }
    }

    static func parse(_ format: String, _ arguments: [FormatArgument]) -> PredicateNode {
        do {
            return try PredicateParser.parse(format: format, arguments: arguments)
        } catch {
            preconditionFailure("Unable to parse the format string \"\(format)\"\n\(error.diagnostic.rendered)")
        }
    }
}
