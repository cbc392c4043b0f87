import CoreDataPrimitives
import Foundation

/// A property list as a value, including the references (`UID`) of keyed archives, which Foundation's reader hides.
package enum PropertyListValue: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data(Data)
    case string(String)
    /// A reference to another object of the archive, by its index.
    case uid(Int)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    package subscript(key: String) -> PropertyListValue? {
        if case .dictionary(let entries) = self { return entries[key] }
        return nil
    }

    package var array: [PropertyListValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    package var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var data: Data? {
        if case .data(let data) = self { return data }
        return nil
    }

    /// Reads a binary or XML property list.
    package init(propertyList data: Data) throws(ModelFailure) {
        if data.starts(with: Array("bplist".utf8)) {
            self = try BinaryPropertyListReader.read(data)
        } else if data.isEmpty || Self.mayBeXML(data) {
            self = try XMLPropertyListReader.read(data)
        } else {
            throw ModelFailure(diagnostics: [
                Diagnostic(
                    .error,
                    "the file is no property list, or it is damaged: it begins neither as a binary one nor as XML")
            ])
        }
    }

    /// Returns whether the bytes start with `<` in any encoding, possibly after white space and a byte order mark.
    private static func mayBeXML(_ data: Data) -> Bool {
        let blank: [UInt8] = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0, 0x20, 0x09, 0x0A, 0x0D]
        return data.first { !blank.contains($0) } == UInt8(ascii: "<")
    }
}
