import Foundation
import PackagePlugin

/// Compiles the models of a target and generates their classes, as Xcode does while it builds an application.
///
/// For each `Shop.xcdatamodeld` (or lone `Shop.xcdatamodel`) anywhere in the target's folder it makes
/// `Shop.momd`, a resource of the target, and `Shop+CoreDataClasses.swift`, one of its sources. A file named
/// `CoreDataModelPlugin.json` in the target has options, see docs/generated-classes.md. Each `Shop1to2.xcmappingmodel` becomes
/// `Shop1to2.cdm`, a resource too.
@main struct CoreDataModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target as? SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "coredata-modelc").url
        let output = context.pluginWorkDirectoryURL
        let files = module.sourceFiles.map(\.url)
        let options = files.first { $0.lastPathComponent == "CoreDataModelPlugin.json" }
        var names: Set<String> = []
        let models = files.filter(isModel)
        let mappings = files.filter { $0.pathExtension == "xcmappingmodel" }.map { mapping in
            let compiled = output.appendingPathComponent(
                mapping.deletingPathExtension().lastPathComponent + ".cdm")
            // What the source has no copy of is read from the models.
            let inputs = [mapping] + self.files(in: mapping) + models.flatMap { self.files(in: $0) }
            return Command.buildCommand(
                displayName: "Compiling mapping model \(mapping.lastPathComponent)", executable: tool,
                arguments: [mapping.path, "--compiled", compiled.path], inputFiles: inputs, outputFiles: [compiled])
        }
        return try mappings
            + models.map { model in
                let name = model.deletingPathExtension().lastPathComponent
                guard names.insert(name).inserted else { throw ModelPluginError.sameName(name, target: target.name) }
                let isVersioned = model.pathExtension == "xcdatamodeld"
                let compiled = output.appendingPathComponent(name + (isVersioned ? ".momd" : ".mom"))
                let classes = output.appendingPathComponent("\(name)+CoreDataClasses.swift")
                var arguments = [
                    model.path, "--module", module.moduleName, "--compiled", compiled.path, "--classes", classes.path,
                ]
                // The model itself is an input beside its files, or it would pass for a file that nobody handles.
                var inputs = [model] + self.files(in: model)
                if let options {
                    arguments += ["--options", options.path]
                    inputs.append(options)
                }
                return .buildCommand(
                    displayName: "Compiling model \(model.lastPathComponent)", executable: tool, arguments: arguments,
                    inputFiles: inputs, outputFiles: [compiled, classes])
            }
    }

    private func isModel(_ url: URL) -> Bool { ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) }

    /// Every file that a model is made of, `.xccurrentversion` included.
    private func files(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0) }.flatMap { url in
            isFolder(url) ? files(in: url) : [url]
        }
    }

    private func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

enum ModelPluginError: Error, CustomStringConvertible {
    case sameName(String, target: String)

    var description: String {
        switch self {
        case .sameName(let name, let target):
            "target '\(target)' has two models named '\(name)'; their compiled forms would be the same file"
        }
    }
}
