import Foundation

/// What a form sent: fields by name, and the files of an upload.
package struct Form: Sendable {
    package struct File: Sendable {
        package let name: String
        package let bytes: Data
    }

    private var fields: [String: String] = [:]
    package private(set) var files: [String: File] = [:]

    package subscript(_ name: String) -> String? { fields[name] }

    /// All fields that are no files.
    var texts: [String: String] { fields }

    package init() {}

    /// Reads `name=value&…`, as in a query or a form without files.
    package init(query: some StringProtocol) {
        for pair in query.split(separator: "&").prefix(200) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decode(parts[0])
            // A button's value comes last and counts; of others the first does.
            if fields[name] == nil { fields[name] = parts.count == 2 ? Self.decode(parts[1]) : "" }
        }
    }

    private static func decode(_ text: some StringProtocol) -> String {
        plain(text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "")
    }

    /// Browsers send the ends of lines as two characters, whatever a page had.
    private static func plain(_ text: String) -> String {
        text.utf8.contains(0x0D) ? text.replacingOccurrences(of: "\r\n", with: "\n") : text
    }

    /// Reads `multipart/form-data`; `nil` where it is broken.
    package init?(multipart body: Data, boundary: String) {
        guard addParts(of: body, boundary) else { return nil }
    }

    /// Reads what is whole in the beginning of `multipart/form-data`.
    init(beginning body: Data, boundary: String) { _ = addParts(of: body, boundary) }

    /// Adds one part after the other; false where the end does not come.
    private mutating func addParts(of body: Data, _ boundary: String) -> Bool {
        guard !boundary.isEmpty, boundary.utf8.count <= 70 else { return false }
        let delimiter = Data("--\(boundary)".utf8)
        guard var start = body.range(of: delimiter)?.upperBound else { return false }
        for _ in 0..<50 {
            // Behind a delimiter stands a line end, or two hyphens at the very end.
            guard body.count - start >= 2 else { return false }
            if body[start..<start + 2] == Data("--".utf8) { return true }
            guard body[start..<start + 2] == Data("\r\n".utf8) else { return false }
            start += 2
            guard let end = body.range(of: Data("\r\n".utf8) + delimiter, in: start..<body.endIndex),
                let head = body.range(of: Data("\r\n\r\n".utf8), in: start..<end.lowerBound),
                head.lowerBound - start < 4096
            else { return false }
            let header = String(decoding: body[start..<head.lowerBound], as: UTF8.self)
            add(header, body[head.upperBound..<end.lowerBound])
            start = end.upperBound
        }
        return false
    }

    private mutating func add(_ header: String, _ content: Data) {
        guard
            let line = header.split(whereSeparator: \.isNewline).first(where: {
                $0.lowercased().hasPrefix("content-disposition:")
            }), let name = Self.parameter("name", of: line)
        else { return }
        if let file = Self.parameter("filename", of: line) {
            files[name] = File(name: file, bytes: Data(content))
        } else if fields[name] == nil {
            fields[name] = Self.plain(String(decoding: content, as: UTF8.self))
        }
    }

    private static func parameter(_ name: String, of line: Substring) -> String? {
        guard let start = line.range(of: "; \(name)=\"")?.upperBound,
            let end = line[start...].firstIndex(of: "\"")
        else { return nil }
        return String(line[start..<end])
    }
}
