import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import Foundation

/// The command `coredata model fmt`.
struct ModelFmtCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmt",
        abstract: "Puts a model's source in a stable order, so that merges are readable.",
        discussion: """
            Entities, properties, user info, fetch requests and configurations are sorted by name and spelled as Xcode \
            spells them. Version hashes stay what they are. Files that need no change are not touched.

            EXAMPLES
              coredata model fmt Library.xcdatamodeld
              coredata model fmt --check Library.xcdatamodeld || echo 'not in order'

            EXIT CODES
              0  all is in order
              1  with --check: the files printed are not
              2  not done: see the message
            """)

    @Argument(help: "The model: an .xcdatamodeld or .xcdatamodel.", completion: .file())
    var model: String

    @Flag(help: "Change nothing; print which files would change.")
    var check = false

    @Flag(help: "Print the list of files as JSON.")
    var json = false

    func run() throws {
        var pending: [(path: String, text: String)] = []
        for version in try ModelFile.versions(at: model).versions {
            let path = try contentsPath(of: version)
            let text = try Self.formatted(version)
            let present = try String(contentsOfFile: path, encoding: .utf8)
            if present != text { pending.append((path, text)) }
        }
        for (path, text) in pending {
            if !json { print(path) }
            if check { continue }
            try ModelOutput.writing(path) {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
        }
        if json { print(try JSONOutput.text(pending.map(\.path))) }
        if check, !pending.isEmpty { throw ExitCode(1) }
    }

    private func contentsPath(of version: ModelVersions.Version) throws -> String {
        let url = URL(fileURLWithPath: model)
        let path: String
        switch url.pathExtension {
        case "xcdatamodeld":
            path = ModelOutput.path("contents", in: ModelOutput.path("\(version.name).xcdatamodel", in: model))
        case "xcdatamodel": path = ModelOutput.path("contents", in: model)
        default: throw ToolFailure("\(model) is no source of a model: fmt takes an .xcdatamodeld or .xcdatamodel.")
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure(
                """
                Version '\(version.name)' is in the form that Xcode wrote before Xcode 4. Convert the model first: \
                coredata model convert '\(model)' --to xcdatamodeld --output …
                """)
        }
        return path
    }

    /// Returns the version's text in sorted order.
    ///
    /// - Throws: an error if reading the text would give another model, which would be a bug.
    static func formatted(_ version: ModelVersions.Version) throws -> String {
        let text = try ContentsWriter.text(of: version.document.ordered())
        let again = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        guard hashes(of: again) == hashes(of: version.document), again.diagnostics.allSatisfy({ $0.severity != .error })
        else {
            throw ToolFailure(
                "Version '\(version.name)' would not be the same model after formatting; it is left alone.")
        }
        return text
    }

    /// Returns the version hashes; `nil` for a model that does not compile.
    private static func hashes(of document: ModelDocument) -> [String: Data]? {
        guard let compiled = try? ModelCompiler.compile(document) else { return nil }
        return Dictionary(
            compiled.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}
