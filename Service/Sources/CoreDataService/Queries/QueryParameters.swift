import Foundation

/// The parameters of an address: `where=…&sort=name&limit=20`.
package struct QueryParameters: Sendable {
    private let values: [String: [String]]
    package static let maximumCount = 200
    package static let maximumLength = 16 * 1024

    /// - Throws: a problem for too many or too long parameters, and for text that is not UTF-8.
    package init(_ query: String?) throws(Problem) {
        var values: [String: [String]] = [:]
        let query = query ?? ""
        guard query.utf8.count <= Self.maximumLength else {
            throw .query("the query may have at most \(Self.maximumLength) bytes")
        }
        let parts = query.split(separator: "&")
        guard parts.count <= Self.maximumCount else { throw .query("more than \(Self.maximumCount) parameters") }
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count > 1 ? pair[1] : "") else {
                throw .query("a parameter is not percent-encoded UTF-8")
            }
            values[name, default: []].append(value)
        }
        self.values = values
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    package subscript(name: String) -> String? { values[name]?.last }

    /// The values of `arg.name`, by name.
    package var arguments: [String: [String]] {
        var arguments: [String: [String]] = [:]
        for (name, values) in values where name.hasPrefix("arg.") { arguments[String(name.dropFirst(4))] = values }
        return arguments
    }

    /// Refuses a parameter that does nothing, since it is most probably misspelled.
    package func check(_ known: Set<String>) throws(Problem) {
        for name in values.keys.sorted() where !known.contains(name) && !name.hasPrefix("arg.") {
            throw .query(
                "there is no parameter '\(name.prefix(80))'; there are: \(known.sorted().joined(separator: ", "))")
        }
        for (name, values) in values where values.count > 1 && !name.hasPrefix("arg.") {
            throw .query("the parameter '\(name)' appears \(values.count) times")
        }
    }

    package func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) throws(Problem) -> Int {
        guard let text = self[name] else { return value }
        guard let number = Int(text), range.contains(number) else {
            throw .query("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    package func flag(_ name: String) throws(Problem) -> Bool {
        switch self[name] {
        case nil, "false"?, "0"?: return false
        case "true"?, "1"?: return true
        default: throw .query("\(name) is true or false")
        }
    }
}
