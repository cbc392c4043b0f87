import CoreDataDeclarations
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// Makes models from the declarations in a Swift file, which ``PortTool`` parses; ``ModelSwiftWriter`` writes such
/// files.
struct ModelSwiftReader {
    private let declarations: ModelDeclarations
    private let problems: ReadingProblems

    /// - Parameter path: the path of the file, also used in messages.
    static func read(path: String) throws -> ModelVersions {
        let bytes = try FileBytes(path: path, name: path)
        guard let text = bytes.text(0..<bytes.count) else { throw ToolFailure("\(path) is not UTF-8.") }
        let output = try PortTool(for: "a model in Swift").output(of: ["declarations", path])
        guard let declarations = try? JSONDecoder().decode(ModelDeclarations.self, from: output) else {
            throw ToolFailure("\(PortTool.name) says what this coredata does not understand; build both anew.")
        }
        return try read(declarations, text: text, path: path)
    }

    /// - Parameter text: the file's text, whose lines are quoted in messages.
    static func read(_ declarations: ModelDeclarations, text: String, path: String) throws -> ModelVersions {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let problems = ReadingProblems(sourceLines: lines)
        for problem in declarations.problems { problems.report(problem.message, at: problem.place) }
        let reader = ModelSwiftReader(declarations: declarations, problems: problems)
        // If a declaration could not be read, missing parts are consequential errors.
        guard problems.diagnostics.isEmpty else { throw ModelFailure(diagnostics: problems.diagnostics) }
        var versions = reader.versions(path: path)
        guard problems.diagnostics.isEmpty else { throw ModelFailure(diagnostics: problems.diagnostics) }
        for index in versions.versions.indices { versions.versions[index].document.sources[path] = text }
        return versions
    }

    private func versions(path: String) -> ModelVersions {
        var documents: [String: ModelDocument] = [:]
        for model in declarations.models {
            guard case .call(let call) = model.call.content else { continue }
            documents[model.name] = DeclarationReader(problems: problems).document(call, at: model.call.place)
        }
        let stem = declarations.typeName ?? URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        let names =
            declarations.versions.isEmpty
            ? declarations.models.map { .init(name: $0.name, function: $0.name, place: $0.call.place) }
            : declarations.versions
        var versions: [ModelVersions.Version] = []
        for name in names {
            guard var document = documents[name.function] else {
                problems.report("there is no function '\(name.function)'", at: name.place)
                continue
            }
            document.name = name.name
            versions.append(.init(name: name.name, document: document))
        }
        if versions.isEmpty { problems.report("the file declares no model", at: declarations.end) }
        // The common name of the versions is the model's: `Library` for `Library` and `Library 2`.
        let name = versions.map(\.name).min { $0.count < $1.count } ?? stem
        var result = ModelVersions(name: name, versions: versions, currentName: declarations.currentVersion ?? name)
        result.namesCurrentVersion = versions.count > 1
        if !versions.isEmpty, result.current == nil {
            problems.report("there is no version '\(result.currentName)'", at: declarations.end)
        }
        return result
    }
}
