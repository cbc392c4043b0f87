import CoreDataPrimitives
import Foundation

/// Evaluates a key path of an operand, like key-value coding.
///
/// If any value on the path is nil, the result is nil. A key of a collection gives the collection of its members'
/// values, flattened by one level. An `@operator` receives the rest of the path.
package enum KeyPathReader {
    package static func value(of keys: ArraySlice<String>, in operand: Operand) throws -> Operand {
        var keys = keys
        var current = operand
        while let key = keys.popFirst() {
            if key.hasPrefix("@") {
                return try CollectionOperator(key).apply(to: current, keys)
            }
            if case .collection(let members, let isOrdered) = current, !isOwnKey(key) {
                current = .collection(try values(of: key, in: members), isOrdered: isOrdered)
            } else {
                current = try value(of: key, in: current)
            }
            // Continue if an operator follows: `@count` of nil is 0.
            if current.isNull, !keys.contains(where: { $0.hasPrefix("@") }) { return .null }
        }
        return current
    }

    private static func values(of key: String, in members: [Operand]) throws -> [Operand] {
        var values: [Operand] = []
        values.reserveCapacity(members.count)
        for member in members {
            switch try value(of: key, in: member) {
            case .collection(let inner, _): values.append(contentsOf: inner)
            case let value: values.append(value)
            }
        }
        return values
    }

    private static func isOwnKey(_ key: String) -> Bool { key == "self" || key == "SELF" }

    static func value(of key: String, in operand: Operand) throws -> Operand {
        switch operand {
        case .object(let object):
            return isOwnKey(key) ? operand : try object.predicateOperand(forKey: key)
        case .dictionary(let entries):
            if isOwnKey(key) { return operand }
            for entry in entries {
                if case .value(.string(let name)) = entry.key, name == key { return entry.value }
            }
            return .null
        case .value(.null): return .null
        case .collection(let members, let isOrdered):
            if isOwnKey(key) { return operand }
            return .collection(try values(of: key, in: members), isOrdered: isOrdered)
        case .value(let value):
            if isOwnKey(key) { return operand }
            if let result = try property(key, of: value) { return .value(result) }
            throw PredicateFailure(.evaluation, Diagnostic(.error, "\(operand.kindName) has no key '\(key)'"))
        }
    }

    /// Returns a property that Foundation's value classes have under key-value coding.
    private static func property(_ key: String, of value: Value) throws -> Value? {
        switch key {
        case "description": return CastTarget.text(value).map { .string($0) }
        case "stringValue" where Numbers.isNumber(value): return CastTarget.text(value).map { .string($0) }
        case "intValue", "integerValue", "longLongValue", "boolValue", "doubleValue", "floatValue":
            return numericProperty(key, of: value)
        default: break
        }
        switch value {
        case .string(let text): return stringProperty(key, of: text)
        case .date(let seconds):
            switch key {
            case "timeIntervalSinceReferenceDate": return .double(seconds)
            case "timeIntervalSince1970": return .double(seconds + Date.timeIntervalBetween1970AndReferenceDate)
            default: return nil
            }
        case .uuid(let uuid): return key == "UUIDString" || key == "uuidString" ? .string(uuid.uuidString) : nil
        case .data(let data): return key == "length" || key == "count" ? .integer(Int64(data.count)) : nil
        case .uri(let text): return urlProperty(key, of: text)
        default: return nil
        }
    }

    private static func numericProperty(_ key: String, of value: Value) -> Value? {
        let number: Value
        switch value {
        case .integer, .double, .decimal: number = value
        case .string: number = (try? CastTarget.number.cast(value)) ?? .null
        default: return nil
        }
        switch key {
        case "boolValue": return .integer((Numbers.double(number) ?? 0) != 0 ? 1 : 0)
        case "doubleValue", "floatValue": return .double(Numbers.double(number) ?? 0)
        default: return (try? CastTarget.integer.cast(number)).map { $0.isNull ? .integer(0) : $0 }
        }
    }

    private static func stringProperty(_ key: String, of text: String) -> Value? {
        switch key {
        case "length": .integer(Int64(text.utf16.count))
        case "uppercaseString", "uppercased": .string(text.uppercased())
        case "lowercaseString", "lowercased": .string(text.lowercased())
        case "capitalizedString", "capitalized": .string(text.capitalized)
        default: nil
        }
    }

    private static func urlProperty(_ key: String, of text: String) -> Value? {
        let url = URL(string: text)
        switch key {
        case "absoluteString": return .string(text)
        case "path": return url.map { .string($0.path) } ?? .null
        case "host": return url?.host.map { .string($0) } ?? .null
        case "scheme": return url?.scheme.map { .string($0) } ?? .null
        case "lastPathComponent": return url.map { .string($0.lastPathComponent) } ?? .null
        case "pathExtension": return url.map { .string($0.pathExtension) } ?? .null
        default: return nil
        }
    }
}

/// A collection operator such as `@count` or `@sum`. All except `@count`, which ignores it, need a path after them.
///
///     people.@sum.age   // `self` if the members are plain values: ages.@max.self
private struct CollectionOperator {
    private let name: String

    init(_ name: String) { self.name = name }

    func apply(to operand: Operand, _ path: ArraySlice<String>) throws -> Operand {
        let members: [Operand]
        let isOrdered: Bool
        switch operand {
        case .collection(let list, let ordered): (members, isOrdered) = (list, ordered)
        case .value(.null): (members, isOrdered) = ([], true)
        case .dictionary(let entries): (members, isOrdered) = (entries.map(\.value), false)
        default: throw failure("'\(name)' needs a collection, not \(operand.kindName)")
        }
        switch name {
        case "@count": return .value(.integer(Int64(members.count)))
        case "@sum": return try Aggregates.sum(values(members, path))
        case "@avg": return try Aggregates.average(values(members, path))
        case "@min": return try Aggregates.minimum(values(members, path))
        case "@max": return try Aggregates.maximum(values(members, path))
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets":
            return try union(members, path, isOrdered: isOrdered, isDistinct: false)
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
            return try union(members, path, isOrdered: isOrdered, isDistinct: true)
        default: throw failure("there is no collection operator '\(name)'")
        }
    }

    /// Returns the path's value for each member, with collections flattened.
    private func values(_ members: [Operand], _ path: ArraySlice<String>) throws -> [Operand] {
        guard path.first.map({ !$0.hasPrefix("@") }) ?? false else {
            throw failure("'\(name)' needs a key path to its right, such as '\(name).self'")
        }
        var values: [Operand] = []
        values.reserveCapacity(members.count)
        for member in members {
            switch try KeyPathReader.value(of: path, in: member) {
            case .collection(let inner, _): values.append(contentsOf: inner)
            case let value: values.append(value)
            }
        }
        return values
    }

    private func union(
        _ members: [Operand], _ path: ArraySlice<String>, isOrdered: Bool, isDistinct: Bool
    ) throws -> Operand {
        let end = path.firstIndex { $0.hasPrefix("@") } ?? path.endIndex
        var result = try values(members, path[..<end]).filter { !$0.isNull }
        if isDistinct { result = Aggregates.distinct(result) }
        return try KeyPathReader.value(of: path[end...], in: .collection(result, isOrdered: isOrdered))
    }

    private func failure(_ message: String) -> PredicateFailure {
        PredicateFailure(.evaluation, Diagnostic(.error, message))
    }
}
