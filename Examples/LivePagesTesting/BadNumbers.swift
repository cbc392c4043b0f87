import LivePages

/// Numbers in addresses that are the numbers of no object, and the answers to requests for them.
package enum BadNumbers {
    /// Texts in the place of a number that are no number, or the number of no object.
    package static let texts = [
        "0", "-1", "99", "9223372036854775807", "9223372036854775808", "1e1", "1.0", "x", "p1", "%20", "1%00",
        "%EF%BC%91",
    ]

    /// The bad texts, and before them the numbers that are not `own`.
    package static func texts(and numbers: ClosedRange<Int>, without own: Set<Int> = []) -> [String] {
        numbers.filter { !own.contains($0) }.map(String.init) + texts
    }
}

extension TestBrowser {
    /// Reads a page of each number, and returns those that are answered though the number is not one of `own`, or not answered
    /// though it is.
    package func wrongPages(_ numbers: ClosedRange<Int>, below path: String, own: Set<Int>) async throws -> [String] {
        var wrong: [String] = []
        for number in numbers {
            let status = try await get("\(path)/\(number)").status
            if status != (own.contains(number) ? 200 : 404) { wrong.append("\(path)/\(number): \(status)") }
        }
        return wrong
    }

    /// Reads pages, and returns those that exist, or fail.
    package func pagesThatExist(_ paths: [String]) async throws -> [String] {
        var wrong: [String] = []
        for path in paths {
            let status = try await get(path).status
            if status != 404, status != 400 { wrong.append("\(path): \(status)") }
        }
        return wrong
    }

    /// Sends the fields to every path, and returns those that are answered with another status than the expected ones.
    package func wrongAnswers(
        to paths: [String], _ fields: [String: String], expecting statuses: Set<Int>
    ) async throws -> [String] {
        var wrong: [String] = []
        for path in paths {
            let status = try await post(path, fields).status
            if !statuses.contains(status) { wrong.append("\(path): \(status)") }
        }
        return wrong
    }
}
