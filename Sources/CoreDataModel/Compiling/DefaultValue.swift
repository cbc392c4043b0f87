import CoreDataPrimitives
import Foundation

/// Converts the text of a default in a model file to a value.
package enum DefaultValue {
    /// A problem with a default; the message continues a sentence that starts with the attribute's name.
    package struct Problem: EngineFailure {
        package var severity = Diagnostic.Severity.error
        package var message: String
        package var hint: String?
    }

    /// Returns the typed default of an attribute: its value if it has one, else the value of its text.
    package static func of(_ attribute: AttributeElement) -> Result<Value, Problem> {
        if attribute.defaultValue.isNull {
            guard let text = attribute.defaultValueText else { return .success(.null) }
            return parse(text, type: attribute.type)
        }
        if let converted = convert(attribute.defaultValue, to: attribute.type) {
            return check(converted, attribute.type)
        }
        return .failure(
            Problem(message: "has a default that is no value of type \(attribute.type.displayName)"))
    }

    /// Returns the value of a text for an attribute of the type; `nil` if it is not valid.
    package static func value(_ text: String, type: AttributeType) -> Value? {
        try? parse(text, type: type).get()
    }

    /// Returns the value in Xcode's spelling; `nil` for a type whose values have no text form.
    package static func text(of value: Value, type: AttributeType) -> String? {
        switch (type.kind, value) {
        case (.boolean, .integer(let integer)): integer == 0 ? "NO" : "YES"
        case (.integer, .integer(let integer)): String(integer)
        case (.real, .double(let double)), (.single, .double(let double)): "\(double)"
        case (.decimal, .decimal(let decimal)): decimal.description
        case (.text, .string(let text)), (.link, .uri(let text)): text
        case (.date, .date(let seconds)): PredicateText.number(seconds)
        case (.identifier, .uuid(let uuid)): uuid.uuidString
        default: nil
        }
    }

    /// Parses a default leniently. Xcode keeps a default as it was typed, even if the attribute's type changes: a
    /// number may be `NO`, `0.0` or have blanks around it, a boolean may be `1.0`.
    static func parse(_ spelling: String, type: AttributeType) -> Result<Value, Problem> {
        if type.kind == .text { return .success(.string(spelling)) }
        let text = spelling.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.isEmpty { return .success(.null) }
        switch type.kind {
        case .integer:
            if let integer = Int64(text) ?? truth(text) { return check(.integer(integer), type) }
            if let number = number(text), let integer = Int64(exactly: number.rounded(.towardZero)) {
                return check(.integer(integer), type)
            }
        case .boolean:
            if let truth = truth(text) { return .success(.integer(truth)) }
            if let number = number(text), !number.isNaN { return .success(.integer(number == 0 ? 0 : 1)) }
        case .real, .single:
            if let number = number(text) ?? truth(text).map(Double.init) { return check(.double(number), type) }
        case .decimal:
            if let truth = truth(text) { return .success(.decimal(Decimal(truth))) }
            if isNumber(text), let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) {
                return .success(.decimal(decimal))
            }
        case .date:
            if let seconds = number(text) ?? DefaultDate.seconds(text) { return check(.date(seconds), type) }
        case .text: break
        case .identifier:
            if let uuid = UUID(uuidString: text) { return .success(.uuid(uuid)) }
        case .link: return .success(.uri(text))
        case .bytes, .object, .reference, .composite:
            return .failure(
                Problem(
                    severity: .warning,
                    message: "has the default '\(text)', which is ignored: type \(type.displayName) has no text form"))
        }
        return .failure(
            Problem(message: "has the default '\(text)', which is not a value of type \(type.displayName)"))
    }

    /// Returns whether the text of an integer's default has a fraction, which is dropped: `0.5` becomes 0.
    static func isFraction(_ spelling: String, of type: AttributeType) -> Bool {
        guard type.kind == .integer,
            let number = number(spelling.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return false }
        return number.rounded(.towardZero) != number
    }

    /// Parses a decimal number; `Double` alone would also accept hexadecimal ones.
    private static func number(_ text: String) -> Double? { text.lowercased().contains("x") ? nil : Double(text) }

    private static func truth(_ text: String) -> Int64? {
        switch text.lowercased() {
        case "yes", "true", "y", "t": 1
        case "no", "false", "n", "f": 0
        default: nil
        }
    }

    /// Returns whether the whole text is a number; `Decimal` would accept a text that only starts with one.
    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) } && Double(text) != nil
    }

    /// Converts a value from code or an archive to the type; archives do not distinguish integers from doubles.
    static func convert(_ value: Value, to type: AttributeType) -> Value? {
        switch (type.kind, value) {
        case (.integer, .integer), (.boolean, .integer), (.real, .double), (.single, .double), (.decimal, .decimal),
            (.text, .string), (.date, .date), (.bytes, .data), (.identifier, .uuid(_)), (.link, .uri(_)):
            return value
        case (.object, _), (.composite, _), (.reference, _): return value
        case (.real, .integer(let integer)), (.single, .integer(let integer)): return .double(Double(integer))
        case (.decimal, .integer(let integer)): return .decimal(Decimal(integer))
        case (.decimal, .double(let double)): return double.isFinite ? .decimal(Decimal(double)) : nil
        case (.integer, .double(let double)): return Int64(exactly: double).map { .integer($0) }
        case (.date, .double(let seconds)): return .date(seconds)
        case (.date, .integer(let seconds)): return .date(Double(seconds))
        case (.link, .string(let text)): return .uri(text)
        default: return nil
        }
    }

    private static func check(_ value: Value, _ type: AttributeType) -> Result<Value, Problem> {
        switch value {
        case .integer(let integer) where type.traits.range?.contains(integer) == false:
            return .failure(Problem(message: "has the default \(integer), which does not fit \(type.displayName)"))
        case .integer(let integer) where type.kind == .boolean && integer != 0 && integer != 1:
            return .success(.integer(1))
        case .double(let number) where !number.isFinite && type.kind != .object,
            .date(let number) where !number.isFinite && type.kind != .object:
            return .failure(Problem(message: "has the default \(number), which is not a finite number"))
        default: return .success(value)
        }
    }
}
