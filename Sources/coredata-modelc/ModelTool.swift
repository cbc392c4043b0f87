import CoreDataCodeGeneration
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Why the tool cannot begin: it was called wrongly.
struct UsageFailure: Error {
    let message: String
}

/// Compiles one model and generates its classes, for a build.
struct ModelTool {
    static let usage = """
        coredata-modelc MODEL --module NAME [--compiled FILE] [--classes FILE] [--options FILE]
        coredata-modelc MAPPING --compiled FILE
        """

    private let model: URL
    private var module: String?
    private var compiled: URL?
    private var classes: URL?
    private var optionsFile: URL?

    init(arguments: [String]) throws(UsageFailure) {
        var rest = arguments[...]
        var model: String?
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                if model != nil { throw UsageFailure(message: "there are two models: '\(argument)' is the second") }
                model = argument
                continue
            }
            guard let value = rest.popFirst() else { throw UsageFailure(message: "\(argument) needs a value") }
            switch argument {
            case "--module": module = value
            case "--compiled": compiled = URL(fileURLWithPath: value)
            case "--classes": classes = URL(fileURLWithPath: value)
            case "--options": optionsFile = URL(fileURLWithPath: value)
            default: throw UsageFailure(message: "there is no option \(argument)")
            }
        }
        guard let model else { throw UsageFailure(message: "no model is given") }
        self.model = URL(fileURLWithPath: model)
    }

    /// Writes what was asked for, all or nothing where the model is wrong.
    func run() throws {
        if model.pathExtension == "xcmappingmodel" {
            let mapping = try MappingModelDocument.read(contentsOf: model)
            if let compiled { try mapping.write(to: compiled) }
            return
        }
        let options = try optionsFile.map { try GenerationOptions(contentsOf: $0) } ?? GenerationOptions()
        let compilation = try ModelCompilation(of: model, module: module)
        Self.report(compilation.warnings)
        // An application must be able to open the stores of every version.
        if !compilation.errors.isEmpty { throw ModelFailure(diagnostics: compilation.errors) }
        // The source again: the compiled document no longer says what belongs to the module.
        let source = try ModelReader.read(contentsOf: model)
        guard let current = source.current else { return }
        let generation = try ClassGeneration(current, modelName: model.lastPathComponent, options: options)
        if let compiled { try compilation.write(to: compiled) }
        if let classes {
            let file = generation.combinedFile(named: classes.lastPathComponent)
            if try file.write(into: classes.deletingLastPathComponent()) == .kept {
                throw UsageFailure(message: "'\(classes.path)' was not generated and is not overwritten")
            }
        }
    }

    static func report(_ diagnostics: [Diagnostic]) {
        guard !diagnostics.isEmpty else { return }
        FileHandle.standardError.write(Data((diagnostics.rendered + "\n").utf8))
    }
}
