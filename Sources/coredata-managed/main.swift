import CoreDataManagedProperties
import CoreDataPrimitives
import Foundation

/// What NSManagedPlugin runs: `coredata-managed MANIFEST OUTPUT`.
///
/// The manifest lists the target first, then the modules it depends on: a line `module NAME`, then a line `file PATH`
/// for each of its Swift files. Errors go to standard error as a compiler prints them; then nothing is written.
let arguments = CommandLine.arguments
guard arguments.count == 3 else { fail("usage: coredata-managed MANIFEST OUTPUT") }

do {
    let modules = try readModules(arguments[1])
    guard let target = modules.first else { fail("error: the manifest \(arguments[1]) names no module") }
    let companion = Companion(target: target, dependencies: Array(modules.dropFirst()))
    if companion.diagnostics.hasErrors { fail(companion.diagnostics.rendered) }
    if !companion.diagnostics.isEmpty {
        FileHandle.standardError.write(Data((companion.diagnostics.rendered + "\n").utf8))
    }
    try Data(companion.text.utf8).write(to: URL(fileURLWithPath: arguments[2]), options: .atomic)
} catch {
    fail("error: \(error.localizedDescription)")
}

func readModules(_ path: String) throws -> [ModuleSources] {
    var modules: [ModuleSources] = []
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { continue }
        if words[0] == "module" {
            modules.append(ModuleSources(name: String(words[1]), files: []))
        } else if let last = modules.indices.last {
            let text = try String(contentsOfFile: String(words[1]), encoding: .utf8)
            modules[last].files.append(.init(path: String(words[1]), text: text))
        }
    }
    return modules
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(1)
}
