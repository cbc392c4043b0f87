import Foundation
import Testing

/// Comments say in words what they mean: a reader of the project cannot look up the numbers of a document that is not
/// in it.
@Suite struct CommentTests {
    /// Codes such as `(A5)` or `(D7, M12–M14)`, sections such as `§4.1`, and documents by the names of their files.
    static func codes(in line: some StringProtocol) -> [String] {
        guard let start = line.range(of: "//") else { return [] }
        let comment = line[start.upperBound...]
        // Most lines have nothing that could be one, and expressions are slow.
        guard
            comment.utf8.contains(where: { $0 == UInt8(ascii: "(") || $0 > 127 }) || comment.contains("-format")
                || comment.contains(".md")
        else { return [] }
        let patterns = [
            #"\([A-Z]{1,2}[0-9]{1,3}([,;]? ?(and |[–-] ?)?[A-Z]{1,2}[0-9]{1,3})*\)"#, #"§ ?[0-9A-Z][0-9.]*"#,
            #"\b(store-format|semantics\.md|linux-swift\.md|pain\.md)\b"#,
        ]
        return patterns.flatMap { pattern -> [String] in
            var found: [String] = []
            var rest = comment[...]
            while let range = rest.range(of: pattern, options: .regularExpression) {
                found.append(String(rest[range]))
                rest = rest[range.upperBound...]
            }
            return found
        }
    }

    @Test(arguments: [
        ("/// The highest key in use (store-format §2).", ["§2", "store-format"]),
        ("    // Nil first (M15, M16).", ["(M15, M16)"]),
        ("/// Faults fire (D7) once (A5)", ["(D7)", "(A5)"]),
        ("/// A row (and its key), `x.map(T)`, a date (UTC), `UUID(A)`", []),
        ("let a = f(A5)", []),
        ("/// SHA-256 of 32 bytes; see docs/architecture.md.", []),
    ])
    func codesAreFoundInComments(line: String, codes: [String]) {
        #expect(Self.codes(in: line) == codes)
    }

    @Test func commentsOfSourcesHaveNoCodes() throws {
        var lines = 0
        for path in try Repository.files() where path.hasPrefix("Sources/") {
            guard [".swift", ".c", ".h"].contains(where: path.hasSuffix) else { continue }
            let text = try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.contains("//") {
                lines += 1
                for code in Self.codes(in: line) {
                    Issue.record(
                        "\(path):\(index + 1): '\(code)' can be looked up nowhere in the project: say what is meant")
                }
            }
        }
        #expect(lines > 1000, "there are comments to look at")
    }

    // MARK: Plain English

    /// The words of a comment that docs/style.md replaces, because they hide who does what.
    static func replacedWords(in line: some StringProtocol) -> [String] {
        guard let start = line.range(of: "//") else { return [] }
        let comment = line[start.upperBound...].lowercased()
        let words = Set(comment.split { !$0.isLetter }.map(String.init))
        let phrases = ["way there and back", "has in hand", "looks whether", "lets go of", "is in the way", "led over"]
        return ["whoever", "whomever", "nobody", "somebody", "anybody"].filter(words.contains)
            + phrases.filter(comment.contains)
    }

    /// The width of a comment's prose, 0 for code, tables and drawings.
    static func proseWidth(of line: some StringProtocol, isInDrawing: Bool) -> Int {
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("//"), !isInDrawing else { return 0 }
        let comment = text.drop { $0 == "/" }
        return comment.hasPrefix("     ") || comment.hasPrefix(" |") ? 0 : line.count
    }

    @Test(arguments: [
        ("/// Whoever reads it, nobody else, lets go of it.", ["whoever", "nobody", "lets go of"]),
        ("// The somebodyElse that is told", []), ("let nobody = 1", []), ("x()  // Nobody reads it.", ["nobody"]),
    ])
    func replacedWordsAreFound(line: String, words: [String]) {
        #expect(Self.replacedWords(in: line) == words)
    }

    @Test func proseIsMeasured() {
        #expect(Self.proseWidth(of: "    /// Four words of prose.", isInDrawing: false) == 28)
        #expect(Self.proseWidth(of: "///     let code = 1", isInDrawing: false) == 0)
        #expect(Self.proseWidth(of: "/// | a | table |", isInDrawing: false) == 0)
        #expect(Self.proseWidth(of: "/// a ──▶ b", isInDrawing: true) == 0)
        #expect(Self.proseWidth(of: "let code = 1", isInDrawing: false) == 0)
    }

    @Test func commentsOfSourcesAreInPlainEnglish() throws {
        var lines = 0
        for path in try Repository.files() where path.hasPrefix("Sources/") && path.hasSuffix(".swift") {
            let text = try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            var isInDrawing = false
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.contains("//") {
                lines += 1
                if line.contains("```") { isInDrawing.toggle() }
                for word in Self.replacedWords(in: line) {
                    Issue.record("\(path):\(index + 1): '\(word)': name who or what it is, see docs/style.md")
                }
                let width = Self.proseWidth(of: line, isInDrawing: isInDrawing)
                #expect(width <= 120, "\(path):\(index + 1): a comment of \(width) characters")
            }
        }
        #expect(lines > 1000, "there are comments to check")
    }

    /// What says all by its name, wherever it stands: requirements of Foundation's and Swift's protocols, and what
    /// starts with an underscore, which is no user's.
    private static let speakForThemselves = [
        "supportsSecureCoding", "init?(coder", "func encode(with", "func copy(with", " override ", "func build", " _",
        "func example", "static func ==", "func hash(into", "init(from decoder", "func encode(to",
        "var description: String",
        "UnownedSerialExecutor", "func isIsolatingCurrentContext",
    ]

    /// Whoever reads a symbol in an editor sees nothing else.
    @Test func whatIsPublicHasAComment() throws {
        var declarations = 0
        let targets = [
            "CoreData", "CoreDataToolkit", "CoreDataRemote", "CoreDataRemoteBackup", "CoreDataSync",
            "CoreDataRemoteSync", "CoreDataStudio",
        ]
        let sources = try targets.flatMap(Repository.sources)
        for (path, code) in sources {
            let text = try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.drop { $0 == " " } }
            for line in code.publicDeclarations {
                let declaration = lines[line - 1]
                guard !declaration.contains("extension "), !declaration.contains("import "),
                    !Self.speakForThemselves.contains(where: declaration.contains)
                else { continue }
                declarations += 1
                let before = lines[..<(line - 1)].last { !$0.hasPrefix("@") }
                #expect(before?.hasPrefix("///") ?? false, "\(path):\(line): \(declaration) has no comment")
            }
        }
        #expect(declarations > 500)
    }
}
