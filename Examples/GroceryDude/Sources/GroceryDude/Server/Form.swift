import Foundation

/// What a form sent: fields by name, and the files of an upload.
struct Form: Sendable {
    struct File: Sendable {
        let name: String
        let bytes: Data
    }

    private var fields: [String: String] = [:]
    private(set) var files: [String: File] = [:]

    subscript(_ name: String) -> String? { fields[name] }

    init() {}

    /// Reads `name=value&…`, as in a query or a form without files.
    init(query: some StringProtocol) {
        for pair in query.split(separator: "&").prefix(200) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decode(parts[0])
            // A button's value comes last and counts; of others the first does.
            if fields[name] == nil { fields[name] = parts.count == 2 ? Self.decode(parts[1]) : "" }
        }
    }

    private static func decode(_ text: some StringProtocol) -> String {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
    }

    /// Reads `multipart/form-data`; `nil` where it is broken.
    init?(multipart body: Data, boundary: String) {
        guard !boundary.isEmpty, boundary.utf8.count <= 70 else { return nil }
        let delimiter = Data("--\(boundary)".utf8)
        guard var start = body.range(of: delimiter)?.upperBound else { return nil }
        for _ in 0..<50 {
            // Behind a delimiter stands a line end, or two hyphens at the very end.
            guard body.count - start >= 2 else { return nil }
            if body[start..<start + 2] == Data("--".utf8) { return }
            guard body[start..<start + 2] == Data("\r\n".utf8) else { return nil }
            start += 2
            guard let end = body.range(of: Data("\r\n".utf8) + delimiter, in: start..<body.endIndex),
                let head = body.range(of: Data("\r\n\r\n".utf8), in: start..<end.lowerBound),
                head.lowerBound - start < 4096
            else { return nil }
            let header = String(decoding: body[start..<head.lowerBound], as: UTF8.self)
            add(header, body[head.upperBound..<end.lowerBound])
            start = end.upperBound
        }
        return nil
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
            fields[name] = String(decoding: content, as: UTF8.self)
        }
    }

    private static func parameter(_ name: String, of line: Substring) -> String? {
        guard let start = line.range(of: "; \(name)=\"")?.upperBound,
            let end = line[start...].firstIndex(of: "\"")
        else { return nil }
        return String(line[start..<end])
    }
}
