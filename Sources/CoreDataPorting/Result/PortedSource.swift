import CoreDataPrimitives

/// A ported source: the changes, the problems that remain, and the resulting texts.
package struct PortedSource: Sendable {
    /// The source's path as the user gave it.
    package var path: String { source.path }
    /// The changes, in the order of the source.
    package private(set) var changes: [PortChange]
    /// Places that do not compile here and could not be rewritten.
    package private(set) var remarks: [Diagnostic]
    /// The user interface frameworks that the source needs: the whole source is omitted.
    package private(set) var neededFrameworks: [String]
    /// Modules that neither the system nor the toolchain has: packages or targets that the sources need here too.
    package private(set) var otherModules: [OtherModule]

    /// A module that a source imports from another package or target.
    package struct OtherModule: Hashable, Sendable {
        package var name: String
        /// The location of the import.
        package var location: SourceLocation
    }

    private let source: SourceText
    private let edits: [SourceEdit]
    private let moves: [SourceMove]
    /// Additional declarations in the compiled copy.
    private let generated: [String]

    init(
        source: SourceText, edits: [SourceEdit], moves: [SourceMove], changes: [PortChange], remarks: [Diagnostic],
        neededFrameworks: [String], otherModules: [OtherModule], generated: [String]
    ) {
        self.source = source
        // At the same position, insertions precede replacements.
        self.edits = edits.sorted { ($0.range.lowerBound, $0.range.count) < ($1.range.lowerBound, $1.range.count) }
        self.moves = moves.sorted { $0.range.lowerBound < $1.range.lowerBound }
        self.changes = changes.sorted {
            ($0.location.line, $0.location.column) < ($1.location.line, $1.location.column)
        }
        self.remarks = remarks.sorted {
            ($0.location?.line ?? 0, $0.location?.column ?? 0) < ($1.location?.line ?? 0, $1.location?.column ?? 0)
        }
        self.neededFrameworks = neededFrameworks
        self.otherModules = otherModules
        self.generated = generated
    }

    package var isLeftOut: Bool { !neededFrameworks.isEmpty }

    /// Whether no manual work remains: every problem could be rewritten.
    package var isSettled: Bool { !isLeftOut && placesToSeeTo == 0 }

    /// The number of remarks that need an action: all except notes.
    package var placesToSeeTo: Int { remarks.count { $0.severity != .note } }

    package var isChanged: Bool { !changes.isEmpty }

    /// The rewritten source for people: identical to the original outside the changes.
    package var written: String { render(0..<source.bytes.count, for: .people) }

    /// The source that the plug-in compiles. Each line keeps its position, so that compiler messages refer to the
    /// original, and `@NSManaged` properties have accessors.
    package var compiled: String {
        let header = Self.sourceLocation(path, line: 1)
        guard !isLeftOut else {
            return "// Left out: needs \(neededFrameworks.joined(separator: ", ")).\n"
        }
        let body = header + "\n" + render(0..<source.bytes.count, for: .compiler)
        return generated.isEmpty ? body : body + "\n#sourceLocation()\n" + generated.joined(separator: "\n") + "\n"
    }

    private enum Reader {
        case people
        case compiler
    }

    private static func sourceLocation(_ path: String, line: Int) -> String {
        let escaped = path.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
        return "#sourceLocation(file: \"\(escaped)\", line: \(line))"
    }

    /// Returns a range of the source with its edits and moves applied.
    private func render(_ range: Range<Int>, for reader: Reader, isMoved: Bool = false) -> String {
        var result: [UInt8] = []
        var position = range.lowerBound
        func copy(to end: Int) {
            guard end > position else { return }
            result += source.bytes[position..<end]
            position = end
        }
        for piece in pieces(in: range, isMoved: isMoved) {
            copy(to: piece.range.lowerBound)
            switch piece {
            case .edit(let edit):
                let text = reader == .people ? edit.written : edit.compiled
                guard let text else { continue }
                result += text.utf8
            case .removed(let move):
                if reader == .compiler { result += source.blank(move.range).utf8 }
            case .arrived(let move):
                result += arrival(of: move, for: reader).utf8
            }
            position = max(position, piece.range.upperBound)
        }
        copy(to: range.upperBound)
        return String(decoding: result, as: UTF8.self)
    }

    /// A modification at a position of the source.
    private enum Piece {
        case edit(SourceEdit)
        case removed(SourceMove)
        case arrived(SourceMove)

        var range: Range<Int> {
            switch self {
            case .edit(let edit): edit.range
            case .removed(let move): move.range
            case .arrived(let move): move.target..<move.target
            }
        }
    }

    /// Returns the edits and moves in a range, in order; edits inside a moved range only when that range is rendered.
    private func pieces(in range: Range<Int>, isMoved: Bool) -> [Piece] {
        // An insertion at the start of a range belongs to the text before it.
        func isInside(_ edit: SourceEdit, _ piece: Range<Int>) -> Bool {
            let isAfterStart =
                edit.range.isEmpty
                ? edit.range.lowerBound > piece.lowerBound : edit.range.lowerBound >= piece.lowerBound
            return isAfterStart && edit.range.upperBound <= piece.upperBound
        }
        if isMoved { return edits.filter { isInside($0, range) }.map(Piece.edit) }
        let still = edits.filter { edit in !moves.contains { isInside(edit, $0.range) } }
        let pieces = still.map(Piece.edit) + moves.map(Piece.arrived) + moves.map(Piece.removed)
        return pieces.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }.map(\.element)
    }

    private func arrival(of move: SourceMove, for reader: Reader) -> String {
        var text: String
        if let prefix = move.prefix {
            text =
                render(move.range.lowerBound..<prefix.at, for: reader, isMoved: true) + prefix.text
                + render(prefix.at..<move.range.upperBound, for: reader, isMoved: true)
        } else {
            text = render(move.range, for: reader, isMoved: true)
        }
        let startsLine = text.first?.isNewline == true
        let rest = source.bytes[move.target...].first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        let endsLine = rest == UInt8(ascii: "\n") || rest == UInt8(ascii: "\r")
        guard reader == .compiler else { return (startsLine ? "" : "\n") + text + (endsLine ? "" : "\n") }
        if startsLine { text.removeFirst() }
        let from = source.line(at: move.range.lowerBound) + (startsLine ? 1 : 0)
        let to = source.line(at: move.target) + (endsLine ? 1 : 0)
        return "\n\(Self.sourceLocation(path, line: from))\n\(text)\n\(Self.sourceLocation(path, line: to))"
            + (endsLine ? "" : "\n")
    }
}
