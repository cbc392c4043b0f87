import CoreData
import Foundation

/// Compiles the predicate of a client: parses it, refuses everything that ``WhereRules`` does not list, and converts
/// texts to the types with which they are compared.
///
///     try WhereClause.compile("day > '2024-05-01' AND unit == $unit", arguments: ["unit": [id]], of: item, in: model)
///
/// Texts stand for dates, UUIDs, URIs and decimals. A relationship is compared with the ID of an object.
package struct WhereClause {
    private let text: String
    private let arguments: [String: [String]]
    private let model: ServedModel
    private var nodes = 0
    private var collections = 0

    package static func compile(
        _ text: String, arguments: [String: [String]] = [:], of entity: ServedEntity, in model: ServedModel
    ) throws(Problem) -> NSPredicate {
        guard text.utf8.count <= WhereRules.maximumLength else {
            throw .query("where may have at most \(WhereRules.maximumLength) bytes")
        }
        guard !text.utf8.contains(0) else { throw .query("where contains the character U+0000") }
        let parsed: NSPredicate
        do { parsed = try NSPredicate(validating: text) } catch { throw Self.syntax(error) }
        var clause = WhereClause(text: text, arguments: arguments, model: model)
        return try clause.predicate(parsed, Scope(entity: entity), depth: 0)
    }

    private init(text: String, arguments: [String: [String]], model: ServedModel) {
        self.text = text
        self.arguments = arguments
        self.model = model
    }

    private static func syntax(_ error: any Error) -> Problem {
        let words =
            (error as? CocoaError)?.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
        // `1:6: error: expected …`, then the line with a caret.
        let match = words.firstMatch(of: /(?m)^(?:\w+:)?(\d+):(\d+): error: (.*)$/)
        guard let match else { return .query("where: \(words.prefix(500))") }
        return .query("where: \(match.output.3)", position: Int(match.output.1) == 1 ? Int(match.output.2) : nil)
    }

    private struct Scope {
        var entity: ServedEntity
        var variables: [String: ServedEntity] = [:]
        var subqueries = 0
    }

    /// An expression, and what it is.
    private struct Typed {
        var expression: NSExpression
        var end: KeyPathEnd?
        /// A constant or argument, which takes the type of the other side.
        var isConstant = false
        /// A key path that passes several objects.
        var isMany = false
        /// The key path of the identity of the object, where ``end`` is an object.
        var identity: NSExpression?
        var name = ""
    }

    // MARK: Mistakes

    private func mistake(_ words: String, at part: String? = nil) -> Problem {
        .query("where: \(words)", position: part.flatMap(position))
    }

    /// Returns the place of a word in the text, from 1.
    private func position(of part: String) -> Int? {
        guard !part.isEmpty, let range = text.range(of: part, options: .caseInsensitive) else { return nil }
        return text.distance(from: text.startIndex, to: range.lowerBound) + 1
    }

    private mutating func enter(_ depth: Int) throws(Problem) {
        nodes += 1
        guard nodes <= WhereRules.maximumNodes else {
            throw mistake("more than \(WhereRules.maximumNodes) comparisons, operators and values")
        }
        guard depth <= WhereRules.maximumDepth else { throw mistake("more than \(WhereRules.maximumDepth) levels") }
    }

    // MARK: Predicates

    private mutating func predicate(_ predicate: NSPredicate, _ scope: Scope, depth: Int) throws(Problem) -> NSPredicate
    {
        try enter(depth)
        if let compound = predicate as? NSCompoundPredicate {
            var parts: [NSPredicate] = []
            for part in compound.subpredicates {
                parts.append(try self.predicate(part, scope, depth: depth + 1))
            }
            switch compound.compoundPredicateType {
            case .and: return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
            case .or: return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
            case .not: return NSCompoundPredicate(notPredicateWithSubpredicate: parts.first ?? NSPredicate(value: true))
            @unknown default: throw mistake("an operator that is not allowed")
            }
        }
        if let comparison = predicate as? NSComparisonPredicate { return try compare(comparison, scope, depth) }
        switch predicate.description {
        case "TRUEPREDICATE": return NSPredicate(value: true)
        case "FALSEPREDICATE": return NSPredicate(value: false)
        default: throw mistake("'\(predicate.description.prefix(80))' is not allowed")
        }
    }

    private mutating func compare(
        _ comparison: NSComparisonPredicate, _ scope: Scope, _ depth: Int
    ) throws(Problem) -> NSPredicate {
        let operation = comparison.predicateOperatorType
        guard let symbol = WhereRules.operators[operation] else {
            let allowed = WhereRules.operators.values.sorted().joined(separator: " ")
            let word = operation == .matches ? "MATCHES" : "this operator"
            throw mistake("\(word) is not allowed here; allowed: \(allowed)", at: word)
        }
        // A client chooses no collation.
        if comparison.options.rawValue & 8 != 0 { throw mistake("the option [l] is not allowed", at: "[") }
        var left = try expression(comparison.leftExpression, scope, depth + 1)
        var right = try expression(comparison.rightExpression, scope, depth + 1)
        guard !(left.isConstant && right.isConstant) else {
            throw mistake("a comparison needs a property on one side", at: symbol)
        }
        var type = operation
        var modifier = comparison.comparisonPredicateModifier
        // `tags CONTAINS id`: one of its objects is that one.
        if operation == .contains, case .objects? = left.end, right.isConstant, modifier == .direct {
            (type, modifier) = (.equalTo, .any)
        }
        // `unit == id`: the object has that ID.
        if let identity = left.identity, right.isConstant, !Self.isNull(right.expression) {
            left = try identified(left, identity, type, symbol)
        }
        if let identity = right.identity, left.isConstant, !Self.isNull(left.expression) {
            right = try identified(right, identity, type, symbol)
        }
        try convert(&right, as: left, type, symbol)
        try convert(&left, as: right, type, symbol)
        if left.isMany || right.isMany, modifier == .direct, type != .contains, type != .in {
            throw mistake(
                "'\(left.isMany ? left.name : right.name)' has several values: write ANY or ALL before it",
                at: left.isMany ? left.name : right.name)
        }
        return NSComparisonPredicate(
            leftExpression: left.expression, rightExpression: right.expression, modifier: modifier, type: type,
            options: comparison.options)
    }

    private static func isNull(_ expression: NSExpression) -> Bool {
        guard expression.expressionType == .constantValue else { return false }
        return expression.constantValue == nil || expression.constantValue is NSNull
    }

    private func identified(
        _ object: Typed, _ identity: NSExpression, _ type: ComparisonNaming.Operator, _ symbol: String
    ) throws(Problem) -> Typed {
        switch type {
        case .equalTo, .notEqualTo, .in: break
        default: throw mistake("\(symbol) does not compare objects; use ==, != or IN with IDs", at: symbol)
        }
        var typed = object
        typed.expression = identity
        typed.end = .attribute(ServedAttribute(name: "_id", form: .uuid))
        return typed
    }

    /// Converts a constant to the type of the other side.
    private func convert(
        _ constant: inout Typed, as other: Typed, _ type: ComparisonNaming.Operator, _ symbol: String
    ) throws(Problem) {
        guard constant.isConstant else { return }
        let form: AttributeForm
        switch other.end {
        case .attribute(let attribute): form = attribute.form
        case .number: form = .double
        case .object, .objects:
            guard Self.isNull(constant.expression) else {
                throw mistake("'\(other.name)' is compared with nil, or with the ID of an object", at: other.name)
            }
            return
        case nil: return
        }
        switch type {
        case .beginsWith, .endsWith, .like, .contains:
            guard case .string = form else {
                throw mistake("\(symbol) compares texts, and '\(other.name)' has none", at: symbol)
            }
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            guard form.isComparable else { throw mistake("'\(other.name)' has no order", at: other.name) }
        default: break
        }
        if case .composite = form, !Self.isNull(constant.expression) {
            throw mistake("'\(other.name)' has elements: compare one of them", at: other.name)
        }
        if case .largeBytes = form, !Self.isNull(constant.expression) {
            throw mistake("'\(other.name)' can be compared with nil only", at: other.name)
        }
        constant.expression = try value(constant.expression, form, other.name)
        if type == .like, let pattern = constant.expression.constantValue as? String,
            pattern.count(where: { $0 == "*" || $0 == "?" }) > WhereRules.maximumWildcards
        {
            throw mistake("a pattern may have at most \(WhereRules.maximumWildcards) wildcards", at: symbol)
        }
    }

    private func value(
        _ expression: NSExpression, _ form: AttributeForm, _ name: String
    ) throws(Problem) -> NSExpression {
        if expression.expressionType == .aggregate {
            var parts: [NSExpression] = []
            for case let part as NSExpression in expression.collection as? [Any] ?? [] {
                parts.append(try value(part, form, name))
            }
            return NSExpression(forAggregate: parts)
        }
        let constant = expression.constantValue
        if let list = constant as? [Any] {
            var values: [Any] = []
            for element in list { values.append(try converted(element, form, name) ?? NSNull()) }
            return NSExpression(forConstantValue: values)
        }
        return NSExpression(forConstantValue: try converted(constant, form, name))
    }

    private func converted(_ constant: Any?, _ form: AttributeForm, _ name: String) throws(Problem) -> Any? {
        switch constant {
        case nil, is NSNull: return nil
        case let text as String:
            do throws(ValueMistake) { return try form.value(text: text) } catch {
                throw mistake("'\(name)' is \(form.words), and \(error.words)", at: text)
            }
        case let number as NSNumber:
            guard number.doubleValue.isFinite else { throw mistake("a number is too large") }
            switch form {
            case .integer, .decimal, .double, .float, .boolean: return number
            default: throw mistake("'\(name)' is \(form.words), not a number", at: name)
            }
        default: throw mistake("'\(name)' cannot be compared with that value", at: name)
        }
    }

    // MARK: Expressions

    private mutating func expression(_ expression: NSExpression, _ scope: Scope, _ depth: Int) throws(Problem) -> Typed
    {
        try enter(depth)
        switch expression.expressionType {
        case .constantValue: return try constant(expression)
        case .evaluatedObject:
            let path = try keyPath(["_id"], scope.entity)
            return Typed(
                expression: expression, end: .object(scope.entity), identity: NSExpression(forKeyPath: path.text),
                name: "SELF")
        case .variable: return try variable(expression, scope)
        case .keyPath: return try path(expression.keyPath, of: scope.entity) { NSExpression(forKeyPath: $0) }
        case .aggregate:
            var parts: [NSExpression] = []
            for case let part as NSExpression in expression.collection as? [Any] ?? [] {
                let typed = try self.expression(part, scope, depth + 1)
                guard typed.isConstant else { throw mistake("a list contains constants only", at: "{") }
                parts.append(typed.expression)
            }
            return Typed(expression: NSExpression(forAggregate: parts), isConstant: true)
        case .function: return try function(expression, scope, depth)
        case .subquery: return try subquery(expression, scope, depth)
        default: throw mistake("'\(expression.description.prefix(80))' is not allowed here")
        }
    }

    private func constant(_ expression: NSExpression) throws(Problem) -> Typed {
        switch expression.constantValue {
        case nil, is NSNull, is String, is NSNumber: return Typed(expression: expression, isConstant: true)
        case let list as [Any] where list.allSatisfy({ $0 is String || $0 is NSNumber || $0 is NSNull }):
            guard list.count <= WhereRules.maximumNodes else { throw mistake("a list is too long") }
            return Typed(expression: expression, isConstant: true)
        default: throw mistake("'\(expression.description.prefix(80))' is not allowed here")
        }
    }

    private func variable(_ expression: NSExpression, _ scope: Scope) throws(Problem) -> Typed {
        let name = expression.variable
        if let entity = scope.variables[name] {
            let path = try keyPath(["_id"], entity)
            return Typed(
                expression: expression, end: .object(entity), identity: Self.path(path.text, on: expression),
                name: "$" + name)
        }
        guard let values = arguments[name], let first = values.first else {
            throw mistake("there is no value for $\(name): send it as arg.\(name)", at: "$" + name)
        }
        guard values.count <= 500 else { throw mistake("$\(name) has more than 500 values", at: "$" + name) }
        return Typed(
            expression: NSExpression(forConstantValue: values.count == 1 ? first : values), isConstant: true,
            name: "$" + name)
    }

    private func keyPath(_ keys: [String], _ entity: ServedEntity) throws(Problem) -> ServedKeyPath {
        do throws(ServedModel.KeyPathMistake) { return try model.keyPath(keys, of: entity) } catch {
            throw mistake(error.words, at: error.key)
        }
    }

    private static func path(_ keyPath: String, on operand: NSExpression) -> NSExpression {
        NSExpression(
            forFunction: operand, selectorName: "valueForKeyPath:", arguments: [NSExpression(forKeyPath: keyPath)])
    }

    private mutating func path(
        _ text: String, of entity: ServedEntity, _ make: (String) -> NSExpression
    ) throws(Problem) -> Typed {
        let path = try keyPath(text.split(separator: ".", omittingEmptySubsequences: false).map(String.init), entity)
        collections += path.collections
        guard collections <= WhereRules.maximumCollections else {
            throw mistake("more than \(WhereRules.maximumCollections) relationships to many objects", at: text)
        }
        var typed = Typed(expression: make(path.text), end: path.end, name: text)
        switch path.end {
        case .object(let entity): typed.identity = make((path.keys + [entity.identity]).joined(separator: "."))
        case .objects(let entity):
            typed.identity = make((path.keys + [entity.identity]).joined(separator: "."))
            typed.isMany = true
        case .attribute: typed.isMany = path.collections > 0
        case .number: break
        }
        return typed
    }

    private mutating func function(_ expression: NSExpression, _ scope: Scope, _ depth: Int) throws(Problem) -> Typed {
        let name = expression.function
        if name == "valueForKeyPath:" {
            let operand = expression.operand
            guard operand.expressionType == .variable || operand.expressionType == .subquery,
                let path = expression.arguments?.first, path.expressionType == .keyPath
            else { throw mistake("'\(expression.description.prefix(80))' is not allowed here") }
            let typed = try self.expression(operand, scope, depth + 1)
            switch typed.end {
            case .object(let entity):
                return try self.path(path.keyPath, of: entity) { Self.path($0, on: typed.expression) }
            case .objects where path.keyPath == "@count":
                return Typed(expression: Self.path("@count", on: typed.expression), end: .number, name: "SUBQUERY")
            default: throw mistake("only @count may follow a SUBQUERY", at: "SUBQUERY")
            }
        }
        guard WhereRules.functions.contains(name) else {
            let word = name.split(separator: ":").first.map(String.init) ?? name
            throw mistake("the function \(word) is not allowed; allowed: \(WhereRules.functionWords)", at: word)
        }
        var parts: [NSExpression] = []
        for argument in expression.arguments ?? [] {
            let typed = try self.expression(argument, scope, depth + 1)
            if typed.isMany { throw mistake("'\(typed.name)' has several values", at: typed.name) }
            if case .object? = typed.end { throw mistake("a function takes no object", at: typed.name) }
            parts.append(typed.expression)
        }
        let end: KeyPathEnd =
            switch name {
            case "uppercase:", "lowercase:", "canonical:": .attribute(ServedAttribute(name: name, form: .string))
            case "now": .attribute(ServedAttribute(name: name, form: .date))
            default: .number
            }
        return Typed(expression: NSExpression(forFunction: name, arguments: parts), end: end, name: name)
    }

    private mutating func subquery(_ expression: NSExpression, _ scope: Scope, _ depth: Int) throws(Problem) -> Typed {
        guard scope.subqueries < WhereRules.maximumSubqueries else {
            throw mistake("more than \(WhereRules.maximumSubqueries) SUBQUERYs within each other", at: "SUBQUERY")
        }
        guard let collection = expression.collection as? NSExpression else {
            throw mistake("a SUBQUERY searches a relationship", at: "SUBQUERY")
        }
        let members = try self.expression(collection, scope, depth + 1)
        guard case .objects(let entity)? = members.end else {
            throw mistake("a SUBQUERY searches a relationship to many objects", at: "SUBQUERY")
        }
        var inner = scope
        inner.subqueries += 1
        inner.variables[expression.variable] = entity
        let predicate = try self.predicate(expression.predicate, inner, depth: depth + 1)
        return Typed(
            expression: NSExpression(
                forSubquery: members.expression, usingIteratorVariable: expression.variable, predicate: predicate),
            end: .objects(entity), name: "SUBQUERY")
    }
}
