import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// Converts the constants of a predicate to the types that they are compared with: a date, or an object ID for an
/// object.
package struct ConstantReader {
    package let opened: OpenStore
    /// The option that messages name, with a colon: `--where: `.
    private let option: String

    package init(opened: OpenStore, option: String = "") {
        self.opened = opened
        self.option = option
    }

    package func predicate(_ text: String, of entity: NSEntityDescription) throws -> NSPredicate {
        try PredicateTyping.read(NSPredicate(validating: text), of: entity) { constant, subject in
            switch subject {
            case .object(let entity): try object(constant, of: entity)
            case .attribute(let attribute): try value(constant, of: attribute)
            }
        }
    }

    private func object(_ constant: Any, of entity: NSEntityDescription) throws -> Any? {
        let name = entity.name ?? ""
        guard let text = constant as? String, let reference = ObjectReference(text) else {
            throw ToolkitError(
                "\(option)'\(constant)' is no \(name). Write the object's ID, as in '\(name)/p12', or a property of it."
            )
        }
        return try reference.objectID(in: opened)
    }

    private func value(_ constant: Any, of attribute: NSAttributeDescription) throws -> Any? {
        let reader = AttributeText(attribute: attribute)
        switch attribute.kind {
        case .date, .identifier:
            guard let text = constant as? String else { throw wrong(constant, attribute, reader) }
            return try read(text, attribute, reader)
        case .bytes:
            guard let text = constant as? String else { throw wrong(constant, attribute, reader) }
            if let bytes = Self.hexadecimal(text) { return bytes }
            return try read(text, attribute, reader)
        case .integer, .real, .single, .decimal, .boolean:
            // Numbers are compared directly; a number that is too large for the attribute is no error here.
            guard let text = constant as? String else { return nil }
            if attribute.kind == .boolean { return try read(text, attribute, reader) }
            guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
                text.wholeMatch(of: #/[+\-]?\d+(\.\d+)?([eE][+\-]?\d+)?/#) != nil
            else { throw wrong(constant, attribute, reader) }
            return NSDecimalNumber(decimal: number)
        case .text, .link, .object, .reference, .composite: return nil
        }
    }

    private func read(_ text: String, _ attribute: NSAttributeDescription, _ reader: AttributeText) throws -> Any? {
        do {
            return try reader.value(.text(text))
        } catch { throw wrong(text, attribute, reader) }
    }

    private func wrong(_ constant: Any, _ attribute: NSAttributeDescription, _ reader: AttributeText) -> ToolkitError {
        let what = "\(attribute.entity.name ?? "").\(attribute.name)"
        let text = constant is String ? "'\(constant)'" : "\(constant)"
        return ToolkitError("\(option)\(what) takes \(reader.typeName), in quotes; \(text) is none.")
    }

    /// Parses `0x01ff`.
    private static func hexadecimal(_ text: String) -> Data? {
        guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
        let digits = Array(text.utf8.dropFirst(2))
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data()
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
