import SwiftParser
import SwiftSyntax

/// The public types of the standard library and of Foundation, by the modules in their symbols.
///
/// On Linux, much of Foundation is declared in FoundationEssentials: `Data` is `20FoundationEssentials4DataV`.
/// `Scripts/known-types.sh` generates the table from the compiler's output.
enum KnownTypes {
    /// The modules visible to every file that imports Foundation, or CoreData, which re-exports it; the first module
    /// wins.
    static func modules() -> [Module] { table.map { read($0.declarations, into: Module($0.module)) } }

    private static func read(_ declarations: String, into module: Module) -> Module {
        let file = SourceFile(path: module.name, module: module, text: "", converter: nil)
        var byPath: [Substring: TypeNode] = [:]
        for line in declarations.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count >= 2 else { continue }
            let path = words[1]
            let dot = path.lastIndex(of: ".")
            let parent = dot.flatMap { byPath[path[..<$0]] }
            let name = dot.map { path[path.index(after: $0)...] } ?? path
            let kind: TypeNode.Kind
            if let nominal = nominalKinds[words[0]] {
                kind = .nominal(nominal)
            } else {
                guard words.count == 4 else { continue }
                var parser = Parser(String(words[3]))
                kind = .alias(TypeSyntax.parse(from: &parser))
            }
            let parameters = words.count == 3 ? (0..<(Int(words[2]) ?? 0)).map { "T\($0)" } : []
            let node = TypeNode(
                kind, name: String(name), module: module, owner: parent.map { .type($0) } ?? .file(file),
                access: .public, genericParameters: parameters)
            byPath[path] = node
            if let parent {
                parent.members[node.name, default: []].append(node)
            } else {
                module.types[node.name, default: []].append(node)
            }
        }
        return module
    }

    private static let nominalKinds: [Substring: NominalDeclaration.Kind] = [
        "class": .class, "struct": .struct, "enum": .enum, "protocol": .protocol,
    ]
}
