import Foundation
import PackagePlugin

/// Supplies the accessors of `@NSManaged` declarations: runs `coredata-managed` over a target's sources.
///
/// The tool reads the sources of the modules that the target depends on too, because symbols name the modules of
/// types. It needs nothing built before.
@main struct NSManagedPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        // What plugins before this one generate is there when the command runs.
        let own = swiftFiles(of: module) + module.pluginGeneratedSources.filter { $0.pathExtension == "swift" }
        var inputs = own
        var manifest = lines(name: module.moduleName, files: own)
        for dependency in target.recursiveTargetDependencies {
            guard let module = dependency.sourceModule else { continue }
            let files = swiftFiles(of: module)
            if files.isEmpty { continue }
            inputs += files
            manifest += lines(name: module.moduleName, files: files)
        }

        let folder = context.pluginWorkDirectoryURL
        let manifestFile = folder.appending(path: "\(module.moduleName).sources")
        let output = folder.appending(path: "\(module.moduleName)+ManagedProperties.swift")
        // Written only when it says something new, so that the command does not run at each build.
        if (try? String(contentsOf: manifestFile, encoding: .utf8)) != manifest {
            try manifest.write(to: manifestFile, atomically: true, encoding: .utf8)
        }
        return [
            .buildCommand(
                displayName: "Supplying @NSManaged properties of \(module.moduleName)",
                executable: try context.tool(named: "coredata-managed").url,
                arguments: [manifestFile.path, output.path], inputFiles: inputs + [manifestFile],
                outputFiles: [output])
        ]
    }

    private func swiftFiles(of module: any SourceModuleTarget) -> [URL] {
        module.sourceFiles(withSuffix: ".swift").map(\.url)
    }

    private func lines(name: String, files: [URL]) -> String {
        "module \(name)\n" + files.map { "file \($0.path)\n" }.joined()
    }
}
