import CoreDataModel
import CoreDataToolkit
import Foundation

/// Reads keyed archives of arrays, dictionaries and plain values, without instantiating any class.
package struct PlainArchive {
    /// The maximum number of values: a small archive can contain one value many times.
    private var rest = 100_000

    /// Returns the archive's value; `nil` for invalid archives, and for objects of another class.
    package static func value(in data: Data) -> FieldValue? {
        guard data.starts(with: "bplist".utf8), let archive = try? KeyedArchiveReader(data), archive.isSound else {
            return nil
        }
        var reader = PlainArchive()
        return reader.value(archive.root, depth: 0)
    }

    private mutating func value(_ archived: ArchivedValue, depth: Int) -> FieldValue? {
        rest -= 1
        guard rest >= 0 else { return nil }
        if let text = archived.text { return .text(text) }
        if let data = archived.data { return .text(data.base64EncodedString()) }
        switch archived {
        case .bool(let value): return .boolean(value)
        case .integer(let value): return .number(String(value))
        case .real(let value): return value.isFinite ? .number(String(value)) : nil
        case .date(let seconds): return Self.date(seconds)
        case .object(let object): return depth < 8 ? value(object, depth: depth + 1) : nil
        case .none, .data, .text: return nil
        }
    }

    private mutating func value(_ object: ArchivedObject, depth: Int) -> FieldValue? {
        if object.isKind(of: "NSDictionary") {
            guard let entries = object.entries else { return nil }
            var fields: [FieldValue.Field] = []
            for (key, archived) in entries {
                guard let name = key.text, let value = value(archived, depth: depth) else { return nil }
                fields.append(.init(name: name, value: value))
            }
            return .object(fields.sorted { $0.name < $1.name })
        }
        if object.isKind(of: "NSArray") || object.isKind(of: "NSSet") || object.isKind(of: "NSOrderedSet") {
            guard let elements = object.elements else { return nil }
            var values: [FieldValue] = []
            for element in elements {
                guard let value = value(element, depth: depth) else { return nil }
                values.append(value)
            }
            return .list(values)
        }
        if object.isKind(of: "NSDate") { return object["NS.time"].real.flatMap(Self.date) }
        if object.isKind(of: "NSNull") { return .null }
        if object.isKind(of: "NSURL") { return object["NS.relative"].text.map { .text($0) } }
        if object.isKind(of: "NSUUID"), let bytes = object["NS.uuidbytes"].data, bytes.count == 16 {
            let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
            let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map {
                hexadecimal.dropFirst($0.lowerBound).prefix($0.count)
            }
            return .text(groups.joined(separator: "-"))
        }
        return nil
    }

    /// Returns whether two archives hold equal objects of the same classes. The order of dictionary entries, which
    /// differs from one process to the next, does not count.
    package static func areEqual(_ first: Data, _ second: Data) -> Bool {
        first == second || content(of: first).map { $0 == content(of: second) } ?? false
    }

    /// Returns a text that lists an archive's objects with their classes; `nil` for invalid archives.
    package static func content(of data: Data) -> String? {
        guard let archive = try? KeyedArchiveReader(data), archive.isSound else { return nil }
        var reader = PlainArchive()
        return reader.content(archive.root, depth: 0)
    }

    private mutating func content(_ archived: ArchivedValue, depth: Int) -> String? {
        rest -= 1
        guard rest >= 0, depth < 9 else { return nil }
        if let text = archived.text { return JSONText.quoted(text) }
        if let data = archived.data { return "data(\(data.base64EncodedString()))" }
        guard case .object(let object) = archived else { return "\(archived)" }
        var parts: [String] = []
        if object.isKind(of: "NSDictionary") {
            for (key, value) in object.entries ?? [] {
                guard let name = content(key, depth: depth + 1), let text = content(value, depth: depth + 1) else {
                    return nil
                }
                parts.append("\(name):\(text)")
            }
            parts.sort()
        } else {
            guard let elements = object.elements else { return nil }
            for element in elements {
                guard let text = content(element, depth: depth + 1) else { return nil }
                parts.append(text)
            }
        }
        return "\(object.className)(\(parts.joined(separator: ",")))"
    }

    private static func date(_ seconds: Double) -> FieldValue? {
        seconds.isFinite ? .text(DateText.text(Date(timeIntervalSinceReferenceDate: seconds))) : nil
    }
}
