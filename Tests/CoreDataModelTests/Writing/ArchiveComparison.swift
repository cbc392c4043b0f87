import Foundation

@testable import CoreDataModel

/// Compares two archives object by object from their roots: classes, keys and values, whatever the order.
struct ArchiveComparison {
    private var visited: Set<Pair> = []
    private(set) var differences: [String] = []
    let ignoredKeys: Set<String>

    private struct Pair: Hashable {
        var a: ArchivedObject
        var b: ArchivedObject
    }

    static func differences(_ a: Data, _ b: Data, ignoring keys: Set<String> = []) throws -> [String] {
        var comparison = ArchiveComparison(ignoredKeys: keys)
        comparison.compare(try KeyedArchiveReader(a).root, try KeyedArchiveReader(b).root, at: "root")
        return comparison.differences
    }

    private mutating func compare(_ a: ArchivedValue, _ b: ArchivedValue, at path: String) {
        switch (a, b) {
        case (.none, .none): break
        case (.object(let a), .object(let b)): compare(a, b, at: path)
        default:
            if "\(a)" != "\(b)" { differences.append("\(path): \(a) ≠ \(b)") }
        }
    }

    private mutating func compare(_ a: ArchivedObject, _ b: ArchivedObject, at path: String) {
        guard visited.insert(Pair(a: a, b: b)).inserted else { return }
        if a.className != b.className { differences.append("\(path): class \(a.className) ≠ \(b.className)") }
        if let first = a.entries, let second = b.entries {
            let firstByKey = Dictionary(first.map { ($0.key.text ?? "", $0.value) }, uniquingKeysWith: { $1 })
            let secondByKey = Dictionary(second.map { ($0.key.text ?? "", $0.value) }, uniquingKeysWith: { $1 })
            for key in Set(firstByKey.keys).union(secondByKey.keys).sorted() {
                compare(firstByKey[key] ?? .none, secondByKey[key] ?? .none, at: "\(path)[\(key)]")
            }
            return
        }
        if let first = a.elements, let second = b.elements {
            if first.count != second.count { differences.append("\(path): \(first.count) ≠ \(second.count) elements") }
            for (index, pair) in zip(first, second).enumerated() { compare(pair.0, pair.1, at: "\(path)[\(index)]") }
            return
        }
        for key in Set(a.keys).union(b.keys).subtracting(ignoredKeys).subtracting(["$class"]).sorted() {
            compare(a[key], b[key], at: "\(path).\(key)")
        }
    }
}
