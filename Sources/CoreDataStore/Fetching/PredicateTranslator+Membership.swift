import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension PredicateTranslator {
    /// IN, and CONTAINS the other way round: an element of a collection, a part of a text.
    ///
    ///     name IN {"a", "b"}     // t0.ZNAME IN (?, ?)
    ///     %@ IN items            // EXISTS (SELECT 1 FROM ZITEM t1 WHERE t1.ZUNIT = t0.Z_PK AND t1.Z_PK = ?)
    func membership(
        of element: QueryTerm, in whole: QueryTerm, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        switch whole {
        case .collection(let collection):
            let equal = try equality(collection.element, leaf, element, negated: false)
            collection.scope.require(equal)
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

    private func contains(
        _ text: QueryScalar, _ part: QueryScalar, _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        var leaf = leaf
        leaf.comparator = .contains
        return try textMatch(text, leaf, part, negated: negated)
    }

    // MARK: Lists

    private func membership(
        of element: QueryTerm, among members: [QueryTerm], _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        switch element {
        case .collection:
            throw failure(
                "to-many key not allowed here", leaf.predicate,
                hint: "put ANY before it, or use SUBQUERY")
        case .entity(let row):
            let names = members.compactMap { member -> String? in
                if case .constant(.string(let name)) = member { return name }
                return nil
            }
            return try entities(of: row, negated: negated) { name in
                names.contains { TextComparison.equal(name, $0, options: leaf.folding) }
            }
        case .row, .key:
            if let (scalar, root) = rowScalar(element) {
                return try membership(of: scalar, root: root, among: members, leaf, element, negated: negated)
            }
            return .boolean(negated)
        case .constant, .scalar, .list:
            guard let scalar = try scalar(element, leaf.left) else {
                return try membership(ofAny: element, among: members, leaf, negated: negated)
            }
            return try membership(of: scalar, root: nil, among: members, leaf, element, negated: negated)
        }
    }

    /// Constants that the element can equal go into one list, the rest is compared one by one.
    private func membership(
        of scalar: QueryScalar, root: Int?, among members: [QueryTerm], _ leaf: Leaf, _ element: QueryTerm,
        negated: Bool
    ) throws -> SQLExpression {
        var listed: [SQLValue] = []
        var others: [QueryTerm] = []
        for member in members {
            switch member {
            case .key(let key?) where root != nil:
                if context.model.entities[key.entity].root == root { listed.append(.integer(key.primaryKey)) }
            case .key(nil): break
            case .constant(let value) where root == nil && !(scalar.kind.isText && leaf.folding != 0):
                guard let constant = QueryScalar(value), case .bind(let bound) = constant.sql
                else {
                    others.append(member)
                    continue
                }
                if constant.kind.isComparable(to: scalar.kind), scalar.kind != .opaque { listed.append(bound) }
            default: others.append(member)
            }
        }
        var terms: [SQLExpression] = []
        if !listed.isEmpty { terms.append(list(scalar, listed, negated: negated)) }
        terms += try others.map { try equality(element, leaf, $0, negated: negated) }
        return negated ? .all(terms) : .any(terms)
    }

    private func membership(
        ofAny element: QueryTerm, among members: [QueryTerm], _ leaf: Leaf, negated: Bool
    ) throws -> SQLExpression {
        let terms = try members.map { try equality(element, leaf, $0, negated: negated) }
        return negated ? .all(terms) : .any(terms)
    }

    /// `x IN (?, …)` over values that are not NULL; a long list becomes one bound text, so that its length does
    /// neither change the statement nor meet the limit on placeholders.
    private func list(_ scalar: QueryScalar, _ values: [SQLValue], negated: Bool) -> SQLExpression {
        let contained: SQLExpression
        if values.count > Self.longestList, let long = longList(scalar, values) {
            contained = long
        } else if values.count == 1 {
            contained = .comparison(negated ? .notEqual : .equal, scalar.sql, .bind(values[0]))
            return negated ? .any([contained] + nulls(scalar)) : contained
        } else {
            contained = .inList(scalar.sql, values.map { .bind($0) })
        }
        return negated ? .any([.not(contained)] + nulls(scalar)) : contained
    }

    /// Beyond it a list is bound as one JSON array.
    static let longestList = 500

    private func longList(_ scalar: QueryScalar, _ values: [SQLValue]) -> SQLExpression? {
        guard let json = JSONList(values) else { return nil }
        let scope = QueryScope(valuesOf: .bind(.text(json.text)), context: context)
        let values = scope.select([.column(scope.alias, "value")])
        let sql = json.isHexadecimal ? SQLExpression.function("hex", [scalar.sql]) : scalar.sql
        return .inSelect(sql, values)
    }
}

/// Values of one type as a JSON array.
struct JSONList {
    let text: String
    /// Bytes are in hexadecimal, as the database's `hex` writes them.
    let isHexadecimal: Bool

    /// `nil` where the values are not of one type, or of one that JSON cannot hold exactly.
    init?(_ values: [SQLValue]) {
        var text = "["
        var isHexadecimal = false
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            switch (value, values[0]) {
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
        self.isHexadecimal = isHexadecimal
    }

    private static let digits = (0..<256).map { value in
        let text = String(value, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }

    /// False for a text with a NUL, at which some databases end a JSON string.
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
