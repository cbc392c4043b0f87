import CoreDataPrimitives
import Foundation

/// Makes an ``AttributeElement`` from the XML attributes of an `attribute` element.
enum AttributeReader {
    static func attribute(_ taker: inout AttributeTaker) -> AttributeElement {
        let types = AttributeType.allCases.compactMap { type in type.fileName.map { ($0, type) } }
        let hasKnownType = taker.element.attributes["attributeType"].map { AttributeType(fileName: $0) != nil } ?? true
        let type = taker.choice("attributeType", types) ?? (hasKnownType ? .undefined : .string)
        var attribute = AttributeElement(type: type)
        attribute.defaultValueText = taker.text(type == .date ? "defaultDateTimeInterval" : "defaultValueString")
        // Without a known type, the default cannot be checked.
        if !hasKnownType { attribute.defaultValueText = nil }
        if let text = attribute.defaultValueText {
            attribute.defaultValue = DefaultValue.value(text, type: type) ?? .null
            if DefaultValue.isFraction(text, of: type), !attribute.defaultValue.isNull {
                taker.report(
                    "the default '\(text)' loses its fraction: the type is \(type.displayName)",
                    at: "defaultValueString",
                    hint: "write the whole number", severity: .warning, rule: .badDefault)
            }
        } else if type == .date, let text = taker.rest["defaultValueString"] {
            // Keep the text in the attribute that the writer writes it to.
            attribute.defaultValue = DefaultValue.value(text, type: type) ?? .null
        }
        attribute.usesScalarValueType = taker.optionalFlag("usesScalarValueType")
        attribute.valueTransformerName = taker.text("valueTransformerName")
        attribute.customClassName = taker.text("customClassName")
        attribute.allowsExternalBinaryDataStorage = taker.flag("allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = taker.flag("preserveAfterDeletion")
        attribute.allowsCloudEncryption = taker.flag("allowsCloudEncryption")
        attribute.compositeName = taker.text("composite")
        if taker.flag("derived") { attribute.derivationExpression = taker.text("derivationExpression") ?? "" }
        attribute.validations = validations(&taker, type: type)
        return attribute
    }

    private static func validations(_ taker: inout AttributeTaker, type: AttributeType) -> [ValidationElement] {
        let names =
            type == .date ? ("minDateTimeInterval", "maxDateTimeInterval") : ("minValueString", "maxValueString")
        let hasBounds = type.kind == .text || type.kind == .date || type.kind.isQuantity
        // The text forms of dates, besides the intervals, stay in the file's other attributes.
        let minimum = hasBounds ? taker.text(names.0) : nil
        let maximum = hasBounds ? taker.text(names.1) : nil
        let pattern = type == .string ? taker.text("regularExpressionString") : nil
        for (name, text) in [(names.0, minimum), (names.1, maximum)] {
            if let text, number(text) != text { taker.keep(name, text) }
        }
        if let pattern, pattern.isEmpty { taker.keep("regularExpressionString", pattern) }
        return validations(type: type, minimum: minimum, maximum: maximum, pattern: pattern) { text in
            let name = text == minimum ? names.0 : names.1
            taker.report("\(name) is '\(text)', which is not a number", at: name)
        }
    }

    /// Returns minimum, maximum and pattern as predicates with Apple's error codes.
    ///
    /// - Parameter reject: called with a bound that is not a number; the bound is ignored.
    static func validations(
        type: AttributeType, minimum: String?, maximum: String?, pattern: String?, reject: (String) -> Void
    ) -> [ValidationElement] {
        let subject: String
        let codes: (ValidationCode, ValidationCode)
        switch type.kind {
        case .text: (subject, codes) = ("length", (.stringTooShort, .stringTooLong))
        case .date: (subject, codes) = ("timeIntervalSinceReferenceDate", (.dateTooSoon, .dateTooLate))
        case let kind where kind.isQuantity: (subject, codes) = ("SELF", (.numberTooSmall, .numberTooLarge))
        default: return []
        }
        var result: [ValidationElement] = []
        for (text, sign, code) in [(minimum, ">=", codes.0), (maximum, "<=", codes.1)] {
            guard let text, !text.isEmpty else { continue }
            guard let number = number(text) else {
                reject(text)
                continue
            }
            result.append(.init("\(subject) \(sign) \(number)", code))
        }
        if type == .string, let pattern, !pattern.isEmpty {
            result.append(.init("SELF MATCHES \(PredicateText.quoted(pattern))", .stringPattern))
        }
        return result
    }

    /// Returns a number in the predicate language.
    private static func number(_ text: String) -> String? {
        if let integer = Int64(text) { return String(integer) }
        if let number = Double(text), number.isFinite { return PredicateText.number(number) }
        return nil
    }
}

/// Apple's validation codes, which validation predicates store as warnings.
package enum ValidationCode: String, Sendable {
    case numberTooLarge = "1610"
    case numberTooSmall = "1620"
    case dateTooLate = "1630"
    case dateTooSoon = "1640"
    case stringTooLong = "1660"
    case stringTooShort = "1670"
    case stringPattern = "1680"
    case predicate = "1550"
}

extension ValidationElement {
    init(_ predicate: String, _ code: ValidationCode) {
        self.init(predicate: predicate, warning: code.rawValue)
    }
}

/// Writes values in the predicate language.
package enum PredicateText {
    /// Returns a string literal.
    package static func quoted(_ text: String) -> String { TextEscapes.quoted(text) }

    /// Returns a number without a zero fraction: `1`, `0.5`.
    package static func number(_ number: Double) -> String {
        if let integer = Int64(exactly: number) { return String(integer) }
        return "\(number)"
    }
}
