/// Omits declarations that need a user interface framework from a source that otherwise does not.
extension PortVisitor {
    /// Wraps the declaration in `#if canImport`, so that only platforms with the framework compile it; the compiled
    /// copy omits it.
    func leaveOut(_ part: InterfaceParts.Part) {
        let original = text.text(part.range)
        let condition = part.frameworks.sorted().map { "canImport(\($0))" }.joined(separator: " && ")
        let (indent, startsLine) = text.indent(before: part.range.lowerBound)
        let margin = startsLine ? indent : ""
        // Only a comment may follow a directive on its line.
        let written =
            (startsLine ? "" : "\n") + "#if \(condition)\n\(margin)\(original)\n\(margin)#endif"
            + (text.endsLine(part.range.upperBound) ? "" : "\n")
        add(
            SourceEdit(range: part.range, written: written, compiled: text.blank(part.range)), as: .leftOut,
            before: String(original.prefix { !$0.isNewline }), after: "#if \(condition)")
        for use in part.uses {
            remark(
                "left out: '\(use.name)' needs \(use.framework), which does not exist here", use.severity,
                at: use.offset,
                hint: AbsentNames.substitute(for: use.name, in: use.framework))
        }
        guard part.uses.isEmpty, let dependency = part.dependency else { return }
        remark("left out: it uses '\(dependency)', which is left out", at: part.range.lowerBound)
    }
}

extension SourceText {
    /// Returns the white space before a position, and whether the line starts with it.
    fileprivate func indent(before offset: Int) -> (text: String, startsLine: Bool) {
        var start = offset
        while start > 0, bytes[start - 1] == UInt8(ascii: " ") || bytes[start - 1] == UInt8(ascii: "\t") { start -= 1 }
        let startsLine = start == 0 || bytes[start - 1] == UInt8(ascii: "\n")
        return (text(start..<offset), startsLine)
    }

    /// Returns whether only white space or a comment follows on the line.
    fileprivate func endsLine(_ offset: Int) -> Bool {
        let rest = bytes[offset...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let end = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return end.isEmpty || end.starts(with: "//".utf8)
    }
}
