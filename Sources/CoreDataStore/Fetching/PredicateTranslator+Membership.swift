import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// Translates IN, and CONTAINS with swapped operands: an element of a collection, or a part of a text.
    ///
    ///     name IN {"a", "b"}     // t0.ZNAME IN (?, ?)
    ///     %@ IN items            // EXISTS (SELECT 1 FROM ZITEM t1 WHERE t1.ZUNIT = t0.Z_PK AND t1.Z_PK = ?)
    func membership(
        of element: QueryTerm, in whole: QueryTerm, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        switch whole {
        case .collection(let collection):
            guard !isNull(element) else { return .boolean(negated) }
            collection.scope.require(try identity(collection.element, leaf, element))
            return collection.scope.exists(negated: negated)
        case .list(let members):
            return try membership(of: element, among: members, leaf, negated: negated)
        case .constant(.null), .key(nil):
            return .boolean(negated)
        case .entity(let row):
            return try entityMatch(row, leaf, element, negated: negated)
        case .scalar, .constant:
            if case .entity(let row) = element { return try entityMatch(row, leaf, whole, negated: negated) }
            guard let text = try scalar(whole, nil), let part = try scalar(element, nil) else {
                return .boolean(negated)
            }
            return try contains(text, part, leaf, negated: negated)
        case .row, .key:
            throw failure(
                "unimplemented SQL generation for predicate", leaf.predicate,
                hint: "an object has no members; did you mean ==?")
        }
    }

    /// Returns equality of two values that are not nil.
    private func identity(_ a: QueryTerm, _ leaf: Leaf, _ b: QueryTerm) throws -> SQLExpression {
        let equal = try equality(a, leaf, b, negated: false)
        // IS is true for two NULLs, = is not.
        if case .comparison(.identical, let left, let right) = equal { return .comparison(.equal, left, right) }
        if absence(a) != nil, let value = absence(b) { return .all([equal, .isNotNull(value)]) }
        return equal
    }

    /// Returns the exact negation of ``identity(_:_:_:)``.
    private func difference(_ a: QueryTerm, _ leaf: Leaf, _ b: QueryTerm) throws -> SQLExpression {
        let differs = try equality(a, leaf, b, negated: true)
        if case .comparison(.notIdentical, let left, let right) = differs {
            return .any([.comparison(.notEqual, left, right), .isNull(left), .isNull(right)])
        }
        guard absence(a) != nil, let value = absence(b) else { return differs }
        return .any([differs, .isNull(value)])
    }

    private func isNull(_ term: QueryTerm) -> Bool {
        if case .constant(.null) = term { return true }
        return false
    }

    private func absence(_ term: QueryTerm) -> SQLExpression? {
        switch term {
        case .scalar(let scalar): return scalar.isOptional ? scalar.sql : nil
        case .row(let row): return row.isOptional ? row.key : nil
        case .constant, .key, .entity, .collection, .list: return nil
        }
    }

    private func contains(
        _ text: QueryScalar, _ part: QueryScalar, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        var leaf = leaf
        leaf.comparator = .contains
        return try textMatch(text, leaf, part, negated: negated)
    }

    // MARK: Lists

    /// Translates membership in a list; nil is in no list.
    private func membership(
        of element: QueryTerm, among members: [QueryTerm], _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        switch element {
        case .constant(.null), .key(nil):
            return .boolean(negated)
        case .collection:
            throw failure(
                "to-many key not allowed here", leaf.predicate, hint: "put ANY before it, or use SUBQUERY")
        case .entity(let row):
            let names = members.compactMap { member -> String? in
                if case .constant(.string(let name)) = member { return name }
                return nil
            }
            return try entities(of: row, negated: negated) { name in
                names.contains { TextComparison.equal(name, $0, options: leaf.folding) }
            }
        case .row, .key:
            guard let (scalar, root) = rowScalar(element) else { return .boolean(negated) }
            return try membership(of: scalar, root: root, among: members, leaf, element, negated: negated)
        case .constant, .scalar, .list:
            guard let scalar = try scalar(element, leaf.left) else { return .boolean(negated) }
            return try membership(of: scalar, root: nil, among: members, leaf, element, negated: negated)
        }
    }

    /// Constants that the element can equal are collected into one list; other members are compared one by one.
    private func membership(
        of scalar: QueryScalar, root: Int?, among members: [QueryTerm], _ leaf: Leaf, _ element: QueryTerm,
        negated: Bool
    ) throws -> SQLExpression {
        var listed: [SQLValue] = []
        var type: SQLType?
        var others: [QueryTerm] = []
        for member in members {
            switch member {
            case .constant(.null), .key(nil):
                break
            case .key(let key?) where root != nil:
                if context.model.entities[key.entity].root == root { listed.append(.integer(key.primaryKey)) }
            case .constant(let value) where root == nil && !(scalar.kind.isText && leaf.folding != 0):
                guard let constant = QueryScalar(value, context.dialect), scalar.kind != .opaque,
                    let bound = constant.bound
                else {
                    others.append(member)
                    continue
                }
                if !context.dialect.mixesNumbers, constant.isMixed(with: scalar) {
                    guard let place = constant.place(among: scalar.kind) else {
                        others.append(member)
                        continue
                    }
                    // A constant between two numbers of the other kind equals neither.
                    guard place.side == .at else { continue }
                    guard let number = place.number.bound else {
                        others.append(member)
                        continue
                    }
                    listed.append(number.value)
                    continue
                }
                if constant.kind.isComparable(to: scalar.kind), !constant.isNaN {
                    listed.append(bound.value)
                    type = bound.type
                }
            default:
                others.append(member)
            }
        }
        var terms: [SQLExpression] = []
        if !listed.isEmpty { terms.append(list(scalar, listed, type)) }
        guard negated else { return .any(try terms + others.map { try identity($0, leaf, element) }) }
        terms = terms.map { .any([opposite($0)] + nulls(scalar)) }
        return .all(try terms + others.map { try difference($0, leaf, element) })
    }

    /// Returns `x IN (?, …)` for values that are not NULL. A long list is bound as one text, so that its length neither
    /// changes the statement nor exceeds the limit of placeholders.
    ///
    /// - Parameter type: the SQL type of the values, if they are neither numbers, text nor bytes.
    private func list(_ scalar: QueryScalar, _ values: [SQLValue], _ type: SQLType?) -> SQLExpression {
        if values.count > Self.longestList, let long = longList(scalar, values, type) { return long }
        let constants = values.map { value in type.map { SQLExpression.cast(.bind(value), to: $0) } ?? .bind(value) }
        return values.count == 1 ? .comparison(.equal, scalar.sql, constants[0]) : .inList(scalar.sql, constants)
    }

    private func opposite(_ expression: SQLExpression) -> SQLExpression {
        if case .comparison(let comparison, let left, let right) = expression {
            return .comparison(comparison.opposite, left, right)
        }
        return .not(expression)
    }

    /// The length from which a list is bound as one JSON array.
    static let longestList = 500

    private func longList(_ scalar: QueryScalar, _ values: [SQLValue], _ type: SQLType?) -> SQLExpression? {
        guard context.dialect.jsonArrays != nil, let json = JSONList(values) else { return nil }
        let scope = QueryScope(valuesOf: .bind(.text(json.text)), type: type ?? json.type, context: context)
        let values = scope.select([.column(scope.alias, "value")])
        // The digits of a UUID are a text already.
        let sql = json.isHexadecimal && type == nil ? SQLExpression.function(.hexadecimal, [scalar.sql]) : scalar.sql
        return .inSelect(sql, values)
    }
}

/// Encodes values of one type as a JSON array.
struct JSONList {
    let text: String
    /// Whether bytes are encoded as hexadecimal, like the result of the database's `hex`.
    let isHexadecimal: Bool

    /// The type of the values.
    let type: SQLType

    /// Makes a list; `nil` if the values have different types, or a type that JSON cannot represent exactly.
    init?(_ values: [SQLValue]) {
        guard let first = values.first else { return nil }
        var text = "["
        var isHexadecimal = false
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            switch (value, first) {
            case (.integer(let value), .integer): text += String(value)
            case (.text(let value), .text):
                guard Self.append(value, to: &text) else { return nil }
            case (.blob(let bytes), .blob):
                isHexadecimal = true
                text += "\""
                for byte in bytes { text += Self.digits[Int(byte)] }
                text += "\""
            default: return nil
            }
        }
        self.text = text + "]"
        type = if case .integer = first { .integer } else { .text }
        self.isHexadecimal = isHexadecimal
    }

    private static let digits = (0..<256).map { value in
        let text = String(value, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }

    /// Appends a text; returns false if it contains NUL, which ends a JSON string in some databases.
    private static func append(_ value: String, to text: inout String) -> Bool {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\0":
                return false
            case "\"", "\\":
                text += "\\"
                text.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20:
                text += "\\u00" + digits[Int(scalar.value)]
            default:
                text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
        return true
    }
}
