import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Reads models from Swift as ``ModelSwiftWriter`` writes them: declarations in literals, in functions of a type.
///
/// It runs nothing, so whatever has to be run to be known (a variable, `if`, an expression) is an error at its line.
struct ModelSwiftReader {
    let problems: ReadingProblems
    private var parser: SwiftParser
    private var typeName: String?
    private var currentVersion: String?
    /// The function of each version in the order of the file, by the names that the file gives the versions.
    private var functionOfVersion: [(version: String, function: String)] = []
    private var documents: [(function: String, document: ModelDocument)] = []

    static func read(_ bytes: FileBytes) throws -> ModelVersions {
        guard let text = bytes.text(0..<bytes.count) else { throw ToolFailure("\(bytes.name) is not UTF-8.") }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let problems = ReadingProblems(sourceLines: lines)
        do {
            var reader = ModelSwiftReader(
                problems: problems, parser: SwiftParser(try SwiftScanner.tokens(of: text, file: bytes.name)))
            try reader.readDeclarations(until: .end)
            var versions = reader.versions(fileName: bytes.name)
            if !problems.diagnostics.isEmpty { throw ModelFailure(diagnostics: problems.diagnostics) }
            for index in versions.versions.indices { versions.versions[index].document.sources[bytes.name] = text }
            return versions
        } catch let failure as ModelFailure {
            throw ModelFailure(
                diagnostics: failure.diagnostics.map { diagnostic in
                    var diagnostic = diagnostic
                    if diagnostic.sourceLine == nil, let line = diagnostic.location?.line {
                        diagnostic.sourceLine = lines.indices.contains(line - 1) ? String(lines[line - 1]) : nil
                    }
                    return diagnostic
                })
        }
    }

    private init(problems: ReadingProblems, parser: SwiftParser) {
        self.problems = problems
        self.parser = parser
    }

    private func versions(fileName: String) -> ModelVersions {
        let stem = typeName ?? URL(fileURLWithPath: fileName).deletingPathExtension().lastPathComponent
        let names = functionOfVersion.isEmpty ? documents.map { ($0.function, $0.function) } : functionOfVersion
        var versions: [ModelVersions.Version] = []
        for (version, function) in names {
            guard var document = documents.first(where: { $0.function == function })?.document else {
                problems.report("there is no function '\(function)'", at: parser.token.place)
                continue
            }
            document.name = version
            versions.append(.init(name: version, document: document))
        }
        if versions.isEmpty { problems.report("the file declares no model", at: parser.token.place) }
        // The versions' common name is the model's: `Library` of `Library` and `Library 2`.
        let name = versions.map(\.name).min { $0.count < $1.count } ?? stem
        var result = ModelVersions(name: name, versions: versions, currentName: currentVersion ?? name)
        result.namesCurrentVersion = versions.count > 1
        if !versions.isEmpty, result.current == nil {
            problems.report("there is no version '\(result.currentName)'", at: parser.token.place)
        }
        return result
    }

    // MARK: Declarations

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "private", "fileprivate", "static", "nonisolated", "final",
    ]

    private mutating func readDeclarations(until end: SwiftToken.Kind) throws(ModelFailure) {
        while parser.token.kind != end {
            if parser.skip("@") {
                _ = try parser.identifier()
                continue
            }
            guard case .identifier(let word) = parser.token.kind else {
                throw parser.failure("a declaration should be here")
            }
            parser.advance()
            switch word {
            case _ where Self.modifiers.contains(word): continue
            case "import": _ = try parser.identifier()
            case "enum", "struct":
                typeName = try parser.identifier()
                try parser.expect("{")
                try readDeclarations(until: .sign("}"))
                parser.advance()
            case "let", "var": try readConstant()
            case "func": try readFunction()
            default:
                throw parser.failure(
                    "after '\(word)': only what 'coredata model convert --to swift' writes is read, not any Swift")
            }
        }
    }

    /// `let currentVersion = "…"`, `let versions: … = ["…": f]` or `let model = try NSManagedObjectModel …`.
    private mutating func readConstant() throws(ModelFailure) {
        let name = try parser.identifier()
        // A type says nothing that the value does not.
        while parser.token.kind != .sign("="), parser.token.kind != .end { parser.advance() }
        try parser.expect("=")
        switch name {
        case "currentVersion":
            guard case .text(let text) = parser.token.kind else {
                throw parser.failure("a text in quotes should be here")
            }
            currentVersion = text
            parser.advance()
        case "versions":
            try parser.expect("[")
            while !parser.skip("]") {
                guard case .text(let version) = parser.token.kind else {
                    throw parser.failure("a text in quotes should be here")
                }
                parser.advance()
                try parser.expect(":")
                functionOfVersion.append((version, try parser.identifier()))
                if !parser.skip(",") {
                    try parser.expect("]")
                    break
                }
            }
        default: documents.append((name, try readModel()))
        }
    }

    private mutating func readFunction() throws(ModelFailure) {
        let name = try parser.identifier()
        while parser.token.kind != .sign("{"), parser.token.kind != .end { parser.advance() }
        try parser.expect("{")
        _ = parser.skip(word: "return")
        documents.append((name, try readModel()))
        try parser.expect("}")
    }

    private mutating func readModel() throws(ModelFailure) -> ModelDocument {
        guard parser.skip(word: "try") else { throw parser.failure("'try NSManagedObjectModel' should be here") }
        if parser.skip("!") || parser.skip("?") {}
        let place = parser.token.place
        guard case .call(let call) = try parser.expression().content, call.name == "NSManagedObjectModel" else {
            throw ModelFailure(
                diagnostics: [Diagnostic(.error, "'NSManagedObjectModel { … }' should be here", at: place)])
        }
        return DeclarationReader(problems: problems).document(call, at: place)
    }
}
